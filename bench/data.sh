#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Make the traces for the benches, unless they exist already.
#
#   bench/data.sh [DIR]     DIR: $OPSCOPE_BENCH_DATA, or build-bench/data
#
#   10m.json      a real trace, 10 MB
#   1g.json       the same events, repeated with later times and other ids
#   1g.json.gz    compressed by gzip -6
#   names.json    100 MB, nearly every operator has its own name, because repeated events add no
#                 strings, which is too easy for any loader
#   r50.json      another real trace, 35 MB, with shapes of inputs
#   plugin.json   r50.json enlarged 20 times, as TensorBoard's plugin was measured
#   memory.json   230 MB, a real trace with 250,000 memory records
#   modules.json  a trace of Python frames, modules and memory, enlarged to 100 MB
#   rank.json     60 MB: one rank of many; rank-modules.json has modules and memory
#   diff-base.json, diff-new.json   100 MB each: two versions of one program
#   4g.json       only with OPSCOPE_BENCH_LARGE=1
#
# With OPSCOPE_BENCH_SMOKE=1 all have some MB: they only show that the benches run.
#
# The real traces come from shared/ beside the checkout. If it is missing, made-up traces
# replace them, and those after names.json are left out, except rank.json and 4g.json.

set -eu
cd "$(dirname "$0")/.."

dir=${1:-${OPSCOPE_BENCH_DATA:-build-bench/data}}
shared=../shared
nccl=$shared/data/hta/nccl_parser_config/nccl_data.json.gz
loader=$shared/data/torch213/steps_loader/trace.json.gz
r50=$shared/data/tb_samples/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz
control=$shared/data/hta/trace_diff/control/control.json.gz
transformer=$shared/data/torch213/transformer/trace.json.gz
size=1000000 copies=1
[ "${OPSCOPE_BENCH_SMOKE:-0}" = 1 ] && size=4000 copies=0
mkdir -p "$dir"

# make NAME COMMAND...: make NAME unless it exists. The last operand of the command is the file
# to write, which is renamed to NAME when it is complete.
make()
{
    local name=$1
    shift
    [ -s "$dir/$name" ] && return
    echo "making $dir/$name" >&2
    "$@" "$dir/$name.part"
    mv "$dir/$name.part" "$dir/$name"
}

unpack() { gzip -dc "$1" >"$2"; }
pack() { gzip -6 -c "$1" >"$2"; }
enlarge() { enlarge_from "$nccl" "$1" "$2"; }
enlarge_from() { python3 $shared/tools/enlarge.py "$1" "$3" --bytes "$2" >/dev/null; }
repeat() { python3 $shared/tools/enlarge.py "$2" "$3" --copies "$1" >/dev/null; }
# Append a random number to operators' names: about one event in four has a new name.
number_names()
{
    python3 -c 'import random, re, sys
r = random.Random(1)
sys.stdout.buffer.write(re.sub(
    rb"(\"cat\": \"cpu_op\", \"name\": \"[^\"\\\\]*)\"",
    lambda m: b"%s#%d\"" % (m[1], r.randrange(10000)), sys.stdin.buffer.read()))' <"$1" >"$2"
}
pretend() { python3 tests/instructions/make_trace.py "$2" "$1"; }

if [ -e "$nccl" ] && [ -e $shared/tools/enlarge.py ]; then
    big=enlarge
    make 10m.json unpack "$nccl"
else
    echo "there is no $shared: made traces take the place of real ones" >&2
    big=pretend
    make 10m.json $big 10000000
fi
make 1g.json $big $((1000 * size))
make rank.json $big $((60 * size))
make 1g.json.gz pack "$dir/1g.json"
if [ ! -s "$dir/names.json" ]; then
    make 100m.json $big $((104 * size))
    make names.json number_names "$dir/100m.json"
    rm "$dir/100m.json"
fi
if [ -e "$r50" ]; then
    make r50.json unpack "$r50"
    make plugin.json repeat $((1 + 19 * copies)) "$r50"
fi
if [ -e "$loader" ] && [ -e $shared/tools/enlarge.py ]; then
    make memory.json repeat $((1 + 35 * copies)) "$loader"
fi
if [ -e "$transformer" ] && [ -e $shared/tools/enlarge.py ]; then
    make modules.json enlarge_from "$transformer" $((100 * size))
    make rank-modules.json enlarge_from "$transformer" $((60 * size))
fi
if [ -e "$control" ] && [ -e $shared/tools/enlarge.py ]; then
    make diff-base.json enlarge_from "$control" $((100 * size))
    make diff-new.json enlarge_from "${control//control/test}" $((100 * size))
fi
if [ "${OPSCOPE_BENCH_LARGE:-0}" = 1 ]; then
    make 4g.json $big $((4000 * size))
fi
