# SPDX-License-Identifier: Apache-2.0
# Comparing runs: sentences, tables, gates, reports.
# trace FILE SLOW STEPS [RANK [EXTRA]]: steps with a convolution, by one way or another.
trace() {
    python3 - "$@" <<'PY' >"$1"
import json, sys
slow, n = int(sys.argv[2]), int(sys.argv[3])
rank = int(sys.argv[4]) if len(sys.argv) > 4 else 0
name = sys.argv[5] if len(sys.argv) > 5 else "aten::relu"
events = []
def op(name, at, dur, cat="cpu_op"):
    events.append({"ph": "X", "cat": cat, "name": name, "pid": 7 + rank, "tid": 1, "ts": at, "dur": dur})
at = 1000
for step in range(n):
    noise = (step * 7 % 5) * 3
    conv = (900 if slow else 100) + noise
    if step == 0:
        conv += 5000
    op(f"ProfilerStep#{step}", at, conv + 120, "user_annotation")
    op("aten::conv2d", at + 5, conv + 20)
    op("aten::convolution", at + 8, conv + 12)
    if slow:
        op("aten::thnn_conv2d", at + 10, conv + 8)
        op("aten::_slow_conv2d_forward", at + 12, conv + 4)
    else:
        op("aten::mkldnn_convolution", at + 10, conv + 8)
    op(name, at + conv + 40, 50 + noise % 4)
    at += conv + 130
print(json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": events}))
PY
}
to=report.
mkdir fast slow
trace fast.json 0 8
trace slow.json 1 6
trace few.json 1 2
trace again.json 0 7
trace fast/0.json 0 8 0
trace fast/1.json 0 8 1
trace slow/0.json 1 8 0
trace slow/1.json 1 8 1
trace hostile.json 0 8 0 $'<b>&"\'|`\x01[x](y)'
echo '{"traceEvents": []}' >empty.json
d() { "$OPSCOPE" diff "$@" 2>&1; echo "exit $?"; echo; }
d fast.json slow.json
d fast.json again.json
d fast slow | head -4
d fast.json few.json | head -4
d fast.json empty.json
d empty.json empty.json
d fast.json slow.json --table diff_steps --format csv
d fast.json slow.json --table diff_operators --format csv --where 'significant' --columns name,base_calls,new_calls,mean_delta_host_self_ns,delta_ratio
"$OPSCOPE" table diff_operators fast.json slow.json --columns name,delta_calls --sort name:asc --format csv
d fast.json slow.json --table diff_operators --group-by shape --columns name,input_shape --limit 2
d fast.json slow.json --format md | head -12
"$OPSCOPE" diff fast.json slow.json --format json | python3 -c '
import json, sys
for t in json.load(sys.stdin):
    print(t["table"], t["sources"], t["notes"], len(t["rows"]))'
# Names of kernels in sentences are folded, but for what tells them apart.
kernels() { # FILE US KERNEL
    python3 - "$@" <<'PY' >"$1"
import json, sys
events = []
for step in range(6):
    def add(cat, name, at, dur, pid, tid, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
                       "ts": 1000 * step + at, "dur": dur, "args": args})
    add("user_annotation", f"ProfilerStep#{step}", 0, 990, 7, 1)
    add("cpu_op", "aten::mul", 10, 50, 7, 1)
    add("cuda_runtime", "cudaLaunchKernel", 20, 10, 7, 1, correlation=step + 1)
    add("kernel", sys.argv[3], 40, int(sys.argv[2]) + step % 3, 0, 7, device=0, stream=7,
        correlation=step + 1)
print(json.dumps({"traceEvents": events}))
PY
}
long="void at::native::vectorized_elementwise_kernel<4, at::native::Functor_"
kernels fill.json 100 "${long}fill<float>, std::array<char*, 1ul> >(int, at::native::Functor_fill<float>)"
kernels mul.json 300 "${long}mul<float>, std::array<char*, 1ul> >(int, at::native::Functor_mul<float>)"
kernels mangled.json 600 _ZN2at6native4fillIfEEvi
d fill.json mul.json | head -1
d mul.json mangled.json | head -1
# Gates.
g() { echo "--fail-on $*"; "$OPSCOPE" diff fast.json slow.json --fail-on "$@" 2>&1 | sed -n '/^the gate/,$p;/^opscope/p'; echo "exit ${PIPESTATUS[0]}"; }
g 'step.total > 5% and significant'
g 'step.total > 1s'
g "operator('aten::conv2d').self > 500us"
g "operator('aten::_slow_conv2d_forward').self > 500us and not (step.dataloader > 1us)"
g 'significant'
g 'not significant'
g 'not step.total > 5% or (significant and (step.cpu_exec > 99999% or step.total > 0.5 ms))'
g "operator('aten::mkldnn_convolutio').self > 1%"
g "kernel('sgemm') > 1%"
g 'step.totl > 1%'
g 'step.total < 1%'
g 'step.total > 1'
g 'step.total > 1% and'
g '(step.total > 1%'
g 'step.total > 1%)'
g ''
g "operator('aten::conv2d).self > 1%"
g 'step.total > 5% and significant' --report r.txt
g 'step.total > 5% and significant' --report ${to}xml
cat ${to}xml
g 'significant' --table diff_steps
"$OPSCOPE" diff again.json slow.json --fail-on significant --report ${to}md >/dev/null
echo "exit $?"
cat ${to}md
# Names in reports are no markup.
"$OPSCOPE" diff fast.json hostile.json --fail-on significant --report ${to}xml >/dev/null
python3 -c '
import xml.etree.ElementTree as E
print(repr(E.parse("report.xml").find(".//failure").text))'
"$OPSCOPE" diff fast.json hostile.json --fail-on significant --report ${to}md >/dev/null
grep -m1 'operator ' ${to}md
"$OPSCOPE" diff fast.json few.json --fail-on 'step.total > 5% and significant' 2>&1 | tail -2
# Other devices, or steps on one side only.
cp "$DATA/small.json" .
d fast.json small.json --fail-on significant
d fast.json small.json --fail-on 'step.total > 5%' --allow-different
d fast.json empty.json --fail-on significant
# What changes on the host of a program with a device is told, too; what merely waits is not.
hosted() { # FILE HOST_US
    python3 - "$@" <<'PY' >"$1"
import json, sys
events = []
for step in range(8):
    def add(cat, name, at, dur, pid, tid, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
                       "ts": 10000 * step + at, "dur": dur, "args": args})
    host = int(sys.argv[2]) + step % 3
    add("user_annotation", f"ProfilerStep#{step}", 0, host + 700, 7, 1)
    add("cpu_op", "aten::embedding", 10, host, 7, 1)
    add("cpu_op", "aten::mul", host + 20, 50, 7, 1)
    add("cuda_runtime", "cudaLaunchKernel", host + 30, 10, 7, 1, correlation=step + 1)
    add("kernel", "mul", host + 60, 500, 0, 7, device=0, stream=7, correlation=step + 1)
print(json.dumps({"traceEvents": events}))
PY
}
hosted quick.json 200
hosted late.json 3200
d quick.json late.json
d late.json quick.json | head -2
# A rank that cannot be read is no other machine: the gate judges the rest, and the status says so.
mkdir nodes parts
for run in nodes parts; do
    for rank in 0 1; do
        trace $run/$rank.json 0 6 $rank
        sed -i "s/^{/{\"host_name\": \"node$rank\", /" $run/$rank.json
    done
done
echo garbage >parts/1.json
d nodes parts --fail-on 'step.total > 5%' --report ${to}xml | grep -E '^(the gate|opscope|exit)'
grep -c '<testcase' ${to}xml
# Threads are in order of their first events, whichever the file names first.
threads() {
    echo "{\"traceEvents\": [$1"
    for i in 1 2 3 4; do
        echo "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op$i\", \"pid\": 1, \"tid\": $(((i + 1) / 2)), \"ts\": $((100 * i)), \"dur\": 90}$([ $i = 4 ] || echo ,)"
    done
    echo ']}'
}
threads '' >one.json
threads '{"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "second"}},' >two.json
d one.json two.json --table diff_tree --columns path,base_calls,new_calls --format csv
# Misuse.
d fast.json
d fast.json slow.json few.json
d - -
d fast.json slow.json --report ${to}xml
d fast.json slow.json --sort name
d fast.json slow.json --format csv
d fast.json slow.json --table operators
d fast.json slow.json --table diff_stepz
d fast.json missing.json
"$OPSCOPE" table diff_steps fast.json 2>&1
"$OPSCOPE" export fast.json --table diff_steps -o x.csv 2>&1
