# SPDX-License-Identifier: Apache-2.0
# Recordings: files, live directories, both together, runs of several processes.
cat >make.py <<'EOF'
import os
import sys

sys.path.insert(0, os.environ["DATA"] + "/../format")
from writer import *


def small(pid=4242, **facts):
    r = Recording(pid)
    r.facts.update(facts)
    r.anchor(0, 5_000_000_000)
    r.anchor(9_000_000, 5_003_000_000)
    t = r.thread(71)
    t.add(THREAD_NAME, 10, t.name("main"))
    t.add(STEP_BEGIN, 900, words=(7, 0))
    t.begin(OPERATOR, "aten::conv2d", 1000)
    t.json("Input Dims", "[[8,3,32,32],[]]")
    t.begin(RUNTIME, "launch", 1200)
    t.add(LAUNCH, 1210, words=(99, 0))
    t.end(1300)
    t.arg("after", "children")
    t.add(ALLOC, 1400, 0, words=(4096, 100))
    t.end(2000)
    t.flush()
    t.add(DEVICE, 2000, t.name("npu"), words=(1, 0, 1 << 30, 0))
    t.add(QUEUE, 2000, t.name("queue 0"), words=(2, 1))
    t.add(ALLOC, 2050, 1, words=(1 << 40, 4096))
    t.add(WORK, 5000, t.name("conv kernel"), words=(2, 99, 2100, 2200, 2500, 2800, 0, 0))
    t.complete(PLAIN, "whole", 2100, 2500)
    t.instant("now", 2600)
    t.add(COUNTER_I64, 2700, t.name("queue length"), words=(-5, 0))
    t.add(STEP_END, 3000)
    t.begin(PLAIN, "left open", 3100)
    return r


os.makedirs("run")
small(1, RANK="1").write("run/b.osc")
small(2, RANK="0").write("run/a.osc")
r = small()
r.write("small.osc")
data = r.content()
with open("flipped.osc", "wb") as f:  # in the first record chunk
    at = data.index(b"OSCk\6") + 80
    f.write(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])
with open("cut.osc", "wb") as f:
    f.write(data[:data.rindex(b"OSCk\6") + 90])

# Killed: one block in the file, one partly written, one still open.
r = Recording(pid=1 << 30)
r.anchor(0, 5_000_000_000)
r.anchor(9_000_000, 5_009_000_000)
t = r.thread(71)
t.begin(PLAIN, "outer", 1000)
first = t.flush()
t.begin(OPERATOR, "inner", 2000)
t.end(3000)
second = t.flush(chunk=False)
t.instant("torn", 4000)
t.end(5000)
third = t.flush(chunk=False)
r.write("killed.osc", index=False, end=0)
r.write_live("killed.osc", [(first, True), (second, True), (third, False)], torn=[(2, 0)])
EOF
python3 make.py || exit 1
export COLUMNS=100
"$OPSCOPE" table events small.osc --format csv
"$OPSCOPE" info small.osc | grep -v '_version '
for table in kernels operators memory_curve tracks overview devices; do
    "$OPSCOPE" table $table small.osc --format csv 2>/dev/null
done
gzip -k small.osc
for form in small.osc.gz -; do
    "$OPSCOPE" table events $form --format csv <small.osc | cksum
done
"$OPSCOPE" table events run --format csv --columns rank,process,name --where "kind = 'operator'"
"$OPSCOPE" table events small.osc --steps 7 --format csv --columns name,step
for damaged in flipped cut; do
    "$OPSCOPE" table events $damaged.osc --format csv --columns name,start_ns,dur_ns
    "$OPSCOPE" table quality $damaged.osc --format csv --columns code,count,first_offset,first_ns,last_ns
done
"$OPSCOPE" table events killed.osc --format csv --columns name,thread,start_ns,dur_ns
"$OPSCOPE" table quality killed.osc --format csv --columns code,count
mkdir numbered
cp killed.osc numbered/host.71.0.osc
cp -r killed.osc.live numbered/host.71.0.osc.live
"$OPSCOPE" info numbered | grep -c events
# Damaged live directories: the magic, the id, the tag of a block; and a truncated one.
for byte in 3 40 $((1024 * 1024 + 16384 * 2 + 12)) cut; do
    cp killed.osc hurt.osc
    rm -rf hurt.osc.live
    cp -r killed.osc.live hurt.osc.live
    if [ $byte = cut ]; then
        truncate -s $((1024 * 1024 + 16384 * 2 + 100)) hurt.osc.live/blocks
    else
        printf '\377' | dd of=hurt.osc.live/blocks bs=1 seek=$byte conv=notrunc 2>/dev/null
    fi
    "$OPSCOPE" table quality hurt.osc --format csv --columns code,count
    "$OPSCOPE" info --verify hurt.osc
    echo "exit $?"
done
mv killed.osc.live alone.osc.live
"$OPSCOPE" table events killed.osc --format csv --columns name,start_ns,dur_ns
"$OPSCOPE" table events alone.osc.live --format csv --columns name,process,start_ns,dur_ns
head -c 64 small.osc >header.osc
"$OPSCOPE" info header.osc
# Check every hash of every file; status 1 if one is wrong.
"$OPSCOPE" info --verify small.osc run flipped.osc cut.osc small.osc.gz
echo "$?"
cp "$DATA/small.json" .
"$OPSCOPE" info --verify small.json
