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
# Nobody reads a report who cannot read the runs.
(umask 022 && chmod 600 fast.json && rm ${to}md &&
    "$OPSCOPE" diff again.json fast.json --fail-on significant --report ${to}md >/dev/null)
stat -c %a ${to}md
"$OPSCOPE" diff fast.json few.json --fail-on 'step.total > 5% and significant' 2>&1 | tail -2
# Other devices, or steps on one side only.
cp "$DATA/small.json" .
d fast.json small.json --fail-on significant
d fast.json small.json --fail-on 'step.total > 5%' --allow-different
d fast.json empty.json --fail-on significant
# A device without a name is no other device.
device() { # FILE N [MODEL]: work on N devices, of which the first is described, "" without a name
    python3 - "$@" <<'PY' >"$1"
import json, sys
events = []
for step in range(3):
    def add(cat, name, at, dur, pid, tid, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
                       "ts": 1000 * step + at, "dur": dur, "args": args})
    add("user_annotation", f"ProfilerStep#{step}", 0, 900, 7, 1)
    add("cuda_runtime", "hipLaunchKernel", 10, 5, 7, 1, correlation=step + 1)
    for k in range(int(sys.argv[2])):
        add("kernel", "k", 40, 300, k, 3, device=k, stream=3, correlation=step + 1)
properties = [{"id": 0, **({"name": m} if m else {})} for m in sys.argv[3:]]
print(json.dumps({"deviceProperties": properties, "traceEvents": events}))
PY
}
device unnamed.json 1
device mi300.json 1 "AMD Instinct MI300X"
device mi250.json 1 "AMD Instinct MI250X"
device family.json 1 ""
device family_of_two.json 2 ""
d unnamed.json mi300.json --fail-on significant | grep -E '^(the gate|opscope|exit)'
d mi300.json unnamed.json --fail-on significant | grep -E '^(the gate|opscope|exit)'
d mi300.json mi250.json --fail-on significant | grep -E '^(the gate|opscope|exit)'
d family.json family_of_two.json --fail-on significant | grep -E '^(the gate|opscope|exit)'
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
# Three noisy steps: the calls say what became slower, and where no operator alone is beyond noise,
# those that explain the change of the whole are named. Kernels of no operator are, too.
PYTHONPATH="$DATA/../oracle" python3 - <<'PY'
from pathlib import Path
import diffs
for name, *of in (("healthy", 1, 0, "cpu_op"), ("healthy2", 1, 1, "cpu_op"), ("slower", 3, 1, "cpu_op"),
                  ("healthy_device", 1, 0, "kernel"), ("slower_device", 3, 1, "kernel")):
    Path(f"{name}.json").write_bytes(diffs.noisy(*of))
PY
d healthy.json slower.json --limit 2
d healthy.json healthy2.json --table diff_operators --where significant --columns name
d healthy_device.json slower_device.json | head -2
spread() { # FILE US: three operators, each too noisy to be significant, that take US in all
    python3 - "$@" <<'PY' >"$1"
import json, sys
events, at = [], 1000.0
for step in range(6):
    begin = at
    for k in range(3):
        dur = int(sys.argv[2]) / 3 * (0.5 + (step + k * 2) % 6 / 5)
        events.append({"ph": "X", "cat": "cpu_op", "name": f"aten::op{k}", "pid": 7, "tid": 1,
                       "ts": round(at, 3), "dur": round(dur, 3)})
        at += dur + 1
    events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 7, "tid": 1,
                   "ts": round(begin, 3), "dur": round(at - begin, 3)})
    at += 5
print(json.dumps({"traceEvents": events}))
PY
}
spread little.json 1000
spread more.json 1500
d little.json more.json
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
