# SPDX-License-Identifier: Apache-2.0
# Arrows from launches to their work, of a recording and of its exports: two launches in one call
# and in calls that begin at one time, one launch of two pieces of work, a launch in an operator,
# and launches and work without each other.
cat >make.py <<'END'
import os
import sys

sys.path.insert(0, os.environ["DATA"] + "/../format")
from writer import *

r = Recording(pid=1 << 30)
r.anchor(0, 5_000_000_000)
r.anchor(90_000_000, 5_090_000_000)
t = r.thread(71)
t.add(DEVICE, 100, t.name("npu"), words=(1, 0, 1 << 30, 0))
t.add(QUEUE, 100, t.name("queue 0"), words=(2, 1))
t.add(QUEUE, 100, t.name("queue 1"), words=(3, 1))

def call(kind, name, start, end, *launches):
    t.begin(kind, name, start)
    for at, number in launches:
        t.add(LAUNCH, at, words=(number, 0))
    t.end(end)

t.begin(OPERATOR, "my::op", 1000)
call(RUNTIME, "launchTwo", 1000, 1300, (1100, 11), (1200, 12))
t.begin(RUNTIME, "launchOuter", 1400)
call(DRIVER, "launchInner", 1400, 1500, (1450, 13))
t.add(LAUNCH, 1600, words=(14, 0))
t.end(1700)
t.add(LAUNCH, 1800, words=(15, 0))
t.add(LAUNCH, 1800, words=(16, 0))
t.end(2000)
call(RUNTIME, "launchNothing", 2100, 2200, (2150, 17))
for n, queue, number in ((0, 2, 11), (1, 2, 12), (2, 3, 12), (3, 2, 13), (4, 2, 14), (5, 2, 15), (6, 2, 16),
                         (7, 2, 99)):
    start = 3000 + 100 * n
    t.add(WORK, start, t.name(f"kernel {n} of {number}"),
          words=(queue, number, start - 20, start - 10, start, start + 50, 0, 0))
t.flush()
r.write("a.osc")
END
python3 make.py || exit 1
arrows()
{
    "$OPSCOPE" table events "$1" -f csv --columns id,name >events.csv 2>/dev/null
    "$OPSCOPE" table flows "$1" -f csv 2>/dev/null | python3 -c '
import csv, sys
events = {e["id"]: e for e in csv.DictReader(open("events.csv"))}
for arrow in csv.DictReader(sys.stdin):
    of, to = events.get(arrow["from_id"]), events.get(arrow["to_id"])
    print(arrow["kind"], of and of["name"], to and to["name"])
'
}
arrows a.osc
"$OPSCOPE" table quality a.osc -f csv --columns code,count
"$OPSCOPE" export a.osc -o a.json 2>/dev/null
"$OPSCOPE" export a.osc -o b.osc 2>/dev/null
arrows a.osc >a
arrows b.osc | cmp - a && echo "the same as columns"
arrows a.json | sort >b
sort a | cmp - b && echo "the same as JSON"
"$OPSCOPE" table flows a.osc --device npu:0 -f csv 2>/dev/null | wc -l
"$OPSCOPE" table flows a.osc --from 2us -f csv 2>/dev/null | wc -l
