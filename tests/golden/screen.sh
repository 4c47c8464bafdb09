# SPDX-License-Identifier: Apache-2.0
# The one screen: of a CPU, of a GPU, of two ranks with a slow step; of what is broken, tiny
# or empty. All of them in 40 lines of 80 columns.
cp "$DATA/small.json" "$DATA/demo.pt.trace.json.gz" "$DATA/alexnet_a100.json.gz" .
mkdir run
python3 - <<'END'
import json
for rank in 0, 1:
    events, at = [], 0
    for step in range(7):
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
    with open(f"run/{rank}.json", "w") as file:
        json.dump({"distributedInfo": {"rank": rank}, "traceEvents": events}, file)
events = [{"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "args": {},
           "ts": 500 * step, "dur": 100 if step < 5 else 300}
          for step in range(6)
          for cat, name in (("user_annotation", "ProfilerStep#1"), ("cpu_op", "aten::mm"))]
with open("same.json", "w") as file:
    json.dump({"traceEvents": events}, file)
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
show run
show --rank 1 run --steps 3-6
show same.json
show "a b'c.json" --full-names
show cut.json
show none.json
show empty.json
show no-such.json
show - <none.json
"$OPSCOPE" help TRACE | head -n 3
"$OPSCOPE" small.json --sort name
"$OPSCOPE" --sort name small.json
"$OPSCOPE" --rnk 0 small.json
"$OPSCOPE" kernels
"$OPSCOPE" infoo
true
