# SPDX-License-Identifier: Apache-2.0
# The one screen: for a CPU, a GPU, two ranks with a slow step; for broken, tiny and empty traces.
# All of them in 40 lines of 80 columns.
cp "$DATA/small.json" "$DATA/demo.pt.trace.json.gz" "$DATA/alexnet_a100.json.gz" .
mkdir ranks
python3 - <<'END'
import json
for rank in 0, 1:
    events, at = [], 0
    for step in range(8):
        slow = 60 if step == 4 and rank == 1 else 0
        length = 100 + 2 * step + 10 * rank + slow
        def add(cat, name, start, dur):
            events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1,
                           "ts": at + start, "dur": dur, "args": {}})
        add("user_annotation", f"ProfilerStep#{step + 3}", 0, length)
        add("cpu_op", "aten::mm", 5, 50 + step)
        add("cpu_op", "aten::cat", 60, 20 + slow)
        add("cpu_op", "gloo:all_reduce", 82 + slow, 10)
        at += length + 1
    with open(f"ranks/{rank}.json", "w") as file:
        json.dump({"distributedInfo": {"rank": rank}, "traceEvents": events}, file)
events = [{"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "args": {},
           "ts": 500 * step, "dur": 100 if step != 5 else 300}
          for step in range(8)
          for cat, name in (("user_annotation", "ProfilerStep#1"), ("cpu_op", "aten::mm"))]
with open("same.json", "w") as file:
    json.dump({"traceEvents": events}, file)
# In the slow step nothing ran for longer.
events = [{"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "args": {}, "ts": 500 * step,
           "dur": 90 if cat == "cpu_op" else 100 if step != 5 else 300}
          for step in range(8)
          for cat, name in (("user_annotation", f"ProfilerStep#{step}"), ("cpu_op", "aten::mm"))]
with open("gap.json", "w") as file:
    json.dump({"traceEvents": events}, file)
END
mkdir mixed
python3 - <<'END'
import json
def x(cat, name, ts, dur, tid=1, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}
# The slow step waits for data, and a kernel is named by its operator().
long_name = "void a::very_long_name_space::and_another::Functor<int, 4>::operator()(float const*, int) const"
events = []
for step in range(8):
    at, wait = 1000 * step, 500 if step == 5 else 10 + step
    events += [x("user_annotation", f"ProfilerStep#{step}", at, 400 + wait),
               x("user_annotation", "enumerate(DataLoader)#_X.__next__", at, wait),
               x("cpu_op", "aten::mm", at + wait + 1, 50),
               x("cuda_runtime", "cudaLaunchKernel", at + wait + 5, 5, correlation=step + 1),
               x("kernel", long_name, at + wait + 30, 5, 7, correlation=step + 1, device=0, stream=7)]
json.dump({"traceEvents": events}, open("data.json", "w"))
# One file has steps, memory and stacks, the other none.
both = {"distributedInfo": {"rank": 0}, "with_stack": 1, "traceEvents": events[:3] + [
    {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5,
     "args": {"Total Allocated": 5, "Total Reserved": 5, "Bytes": 5, "Addr": 9, "Device Type": 0, "Device Id": -1}}]}
json.dump(both, open("mixed/0.json", "w"))
json.dump({"distributedInfo": {"rank": 1}, "traceEvents": events[1:3]}, open("mixed/1.json", "w"))
END
printf '[]' >none.json
: >empty.json
head -c 700 small.json >cut.json
cp small.json "a b'c.json"
show()
{
    echo "\$ opscope $*"
    "$OPSCOPE" "$@" || echo "exit $?"
    "$OPSCOPE" "$@" 2>/dev/null | python3 -c '
import sys
lines = sys.stdin.read().splitlines()
assert len(lines) <= 40 and all(len(line) <= 80 for line in lines), lines'
}
show demo.pt.trace.json.gz
show alexnet_a100.json.gz
show ranks
show --rank 1 ranks --steps 3-6
show same.json
"$OPSCOPE" gap.json | grep -A 1 "STAND OUT"
show "a b'c.json" --full-names
show cut.json
show none.json
show empty.json
show no-such.json
show - <none.json
show - <data.json
show mixed
echo "--- commands for many ranks print one table of them together"
mkdir many
for rank in 0 1 2 3 4; do
    echo "{\"distributedInfo\": {\"rank\": $rank}, \"traceEvents\": [
    {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, \"tid\": 1, \"ts\": 0, \"dur\": 9}]}" \
        >many/$rank.json
done
"$OPSCOPE" many | grep -A 4 "^NEXT"
echo "--- numbers of processes below zero"
echo '[{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": -1, "tid": 0, "ts": 0, "dur": 9},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 1, "ts": 0, "dur": 5}]' >below.json
"$OPSCOPE" below.json | grep "busy:"
echo "--- what was on and has no records"
echo '{"schemaVersion": 1, "profile_memory": 1, "record_shapes": 0, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 9}]}' >on.json
"$OPSCOPE" on.json | grep -A 3 "NOT RECORDED"
echo "--- what may lie in the part of a file that is missing"
gzip -dc "$DATA/demo.pt.trace.json.gz" | head -c 198533 >cut.json
"$OPSCOPE" cut.json | grep -A 1 "NOT RECORDED\|MISSING"
"$OPSCOPE" table quality cut.json --format csv --columns code,message,remedy 2>/dev/null
"$OPSCOPE" table memory cut.json 2>/dev/null | grep note
"$OPSCOPE" export cut.json --stack module -o cut.folded 2>&1
sed 's/"with_modules": 1/"with_modules": 0/' cut.json >off.json
"$OPSCOPE" off.json | grep "NOT RECORDED\|MISSING"
"$OPSCOPE" help TRACE | head -n 3
"$OPSCOPE" small.json --sort name
"$OPSCOPE" --sort name small.json
"$OPSCOPE" --rnk 0 small.json
"$OPSCOPE" kernels
"$OPSCOPE" infoo
true
