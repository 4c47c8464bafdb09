# SPDX-License-Identifier: Apache-2.0
# Ranges of every kind by name: scopes, asynchronous ones, groupings, and files added up.
python3 - <<'END'
import json
def x(name, start, dur, tid=1, cat="mine", **more):
    return dict(ph="X", cat=cat, name=name, pid=5, tid=tid, ts=start, dur=dur, **more)
def both(name, number, start, end, cat="mine"):
    return [dict(ph=p, cat=cat, name=name, id=number, pid=5, tid=t, ts=ts)
            for p, t, ts in (("b", 1, start), ("e", 2, end))]
def trace(rank, events):
    meta = [dict(ph="M", name="process_name", pid=5, tid=0, args={"name": "server"}),
            dict(ph="M", name="thread_name", pid=5, tid=2, args={"name": "worker 2 "})]
    text = json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": meta + events})
    open(f"rank{rank}.json", "w").write(text)
trace(0, [x("ProfilerStep#3", 0, 500, cat="user_annotation")] +
      [x("parse", 10 * i, 4 + i % 5) for i in range(100)] + [x("load", 2, 0.25), x("serve", 1000, 90)] +
      both("rpc", 1, 0, 700) + both("rpc", 2, 100, 160) + both("aten::all", 3, 0, 9, "cpu_op") +
      [x("aten::mm", 600, 3, 2, "cpu_op"), x("gemm", 601, 9, 7, "kernel", args={"device": 0})])
trace(1, [x("parse", 10 * i, 8, 2) for i in range(50)] + [x("serve", 1000, 70)])
END
t() { echo "--- $*"; "$OPSCOPE" table ranges "$@" 2>/dev/null; }
t rank0.json
t rank0.json --format csv
t rank0.json --group-by thread,step --format csv
t rank0.json --group-by track --columns name,process_name,thread_name,device,track,calls
t rank0.json --group-by category --columns name,category,calls --limit 2
t rank0.json --steps 3 --columns name,calls --sort name
t rank0.json --where "kind = 'kernel'" --columns name,total_ns,self_ns
t rank0.json rank1.json --columns rank,name,calls,median_ns,p99_ns,std_ns -f csv
t rank0.json rank1.json --merge --columns name,calls,total_ns,self_ns,mean_ns,median_ns,p99_ns,max_ns,std_ns -f csv
"$OPSCOPE" table ranges rank1.json rank0.json --merge -f csv 2>/dev/null | cksum
"$OPSCOPE" table ranges rank0.json rank1.json --merge -f csv 2>/dev/null | cksum
"$OPSCOPE" export rank0.json -o rank0.osc 2>/dev/null
"$OPSCOPE" table ranges rank0.json --group-by track,category,step -f csv 2>/dev/null | cksum
"$OPSCOPE" table ranges rank0.osc --group-by track,category,step -f csv 2>/dev/null | cksum
echo "--- an asynchronous operator in the other table"
"$OPSCOPE" table operators rank0.json -f csv 2>/dev/null | cut -d, -f 1,2,5-6,11-15
"$OPSCOPE" table ranges rank0.json --group-by step,line 2>&1
echo "--- a recording of plain and asynchronous scopes"
cat >make.py <<'END'
import os
import sys

sys.path.insert(0, os.environ["DATA"] + "/../format")
from writer import *

r = Recording(pid=1 << 30)
r.anchor(0, 5_000_000_000)
r.anchor(90_000_000, 5_090_000_000)
t = r.thread(71)
for i in range(40):
    t.begin(PLAIN, "parse", 100 * i)
    t.begin(ANNOTATION, "parse", 100 * i + 10)
    t.end(100 * i + 30)
    t.instant("parse", 100 * i + 40)
    t.end(100 * i + 50)
    for kind, name in ((PLAIN, "rpc"), (OPERATOR, "my::rpc")):
        t.add(ASYNC_BEGIN, 100 * i + 60, r.name(name), words=(i, kind))
        t.add(ASYNC_END, 100 * i + 70 + i, r.name(name), words=(i, kind))
t.flush()
r.write("plain.osc")
END
python3 make.py || exit 1
t plain.osc -f csv
"$OPSCOPE" plain.osc
echo "--- names with characters that cannot be seen"
python3 - <<'END'
import json
names = ("sum", "s\u200bum", "\u202emus\u202c", "sum\ufeff", "s\u009bum", "s\u00e9um \U0001f389")
json.dump([dict(ph="X", name=n, pid=1, tid=1, ts=i, dur=1) for i, n in enumerate(names)], open("seen.json", "w"))
END
t seen.json --columns name,calls
t seen.json --columns name,calls --format csv | python3 -c 'import sys; print(ascii(sys.stdin.read()))'
echo "--- a range and its copy on a device"
python3 - <<'END'
import json
def x(cat, name, tid, ts, dur, **args):
    return dict(ph="X", cat=cat, name=name, pid=1 if tid < 5 else 0, tid=tid, ts=ts, dur=dur, args=args)
json.dump({"schemaVersion": 1, "traceEvents": [
    x("user_annotation", "forward", 1, 0, 100), x("cpu_op", "aten::mm", 1, 10, 20),
    x("cuda_runtime", "cudaLaunchKernel", 1, 12, 5, correlation=1),
    x("gpu_user_annotation", "forward", 7, 30, 90, device=0, stream=7),
    x("kernel", "gemm", 7, 30, 80, device=0, stream=7, correlation=1)]}, open("copy.json", "w"))
END
t copy.json
t copy.json -f csv --columns name,kind,place,calls,total_ns
t copy.json --where "place = 'host'" --columns name,calls
"$OPSCOPE" table durations copy.json --name forward 2>/dev/null
