# SPDX-License-Identifier: Apache-2.0
# opscope run folds the live directories of ended processes into their files. A crash in the middle
# of that loses nothing, and a recording still in progress is not touched.
cat >make.py <<'END'
import os
import sys

sys.path.insert(0, os.environ["DATA"] + "/../format")
from writer import *

r = Recording(pid=1 << 30)
r.anchor(0, 5_000_000_000)
r.anchor(9_000_000, 5_009_000_000)
t = r.thread(71)
t.begin(PLAIN, "outer", 1000)
first = t.flush()
t.begin(OPERATOR, "inner", 2000)
t.json("Input Dims", "[[8,3]]")
t.end(3000)
second = t.flush(chunk=False)
t.instant("torn", 4000)
t.instant("behind", 4500)
third = t.flush(chunk=False)
os.makedirs("left")
r.write("left/a.osc", index=False, end=0)
r.write_live("left/a.osc", [(first, True), (second, True), (third, False)], torn=[(2, 0)])
END
python3 make.py || exit 1
look()
{
    "$OPSCOPE" table events "$1" --format csv
    "$OPSCOPE" table quality "$1" --format csv --columns code,count
}
cp -r left alone
rm alone/a.osc
cp -r left held
look left >before
"$OPSCOPE" run --sources api -o left -- true
ls left
look left | diff before - && echo "nothing is lost"
look left
"$OPSCOPE" info --verify left

# The same with a copy that is truncated wherever a crash may have happened.
size=$(stat -c %s left/a.osc)
whole=$(stat -c %s held/a.osc)
for ((at = whole; at <= size; at += at + 97 < size ? 97 : at < size ? size - at : 1)); do
    rm -rf cut
    cp -r held cut
    head -c "$at" left/a.osc >cut/a.osc
    look cut | diff before - >/dev/null || echo "lost at $at"
    "$OPSCOPE" run --sources api -o cut -- true
    ls cut | tr '\n' ' ' | grep -qx 'a.osc ' || echo "left over at $at"
    look cut | diff before - >/dev/null || echo "folded from $at it differs"
done

# Losses are reported once, whatever earlier parts say about them, and even if those are deleted.
cat >rotation.py <<'END'
import os
import sys

sys.path.insert(0, os.environ["DATA"] + "/../format")
from writer import *

os.makedirs("rotation")
for part, end in ((1, 2), (2, 2), (3, 0)):
    r = Recording(pid=1 << 30, part=part)
    r.lost = [3, 1, 0, 0]
    r.anchor(0, 5_000_000_000)
    r.anchor(9_000_000, 5_009_000_000)
    threads = [r.thread(71), r.thread(72)]
    r.n_blocks = part * 2
    for i, t in enumerate(threads):
        t.lost = [10 * part, 0, i, 0]
        t.instant("here", 1000 * part + i)
        t.flush()
    r.write(f"rotation/r.{part}.osc".replace(".1.", "."), index=bool(end), end=end)
r.lost = [14, 3, 0, 1]
for i, t in enumerate(threads):
    t.lost = [75, 2, 3 * i, 1]
    t.instant("behind", 5000)
left = [(t.flush(chunk=False), False) for t in threads]
r.write_live("rotation/r.osc", left)
END
python3 rotation.py || exit 1
for gone in none r.osc; do
    rm -rf turned
    cp -r rotation turned
    rm -f "turned/$gone"
    look turned >before
    "$OPSCOPE" run --sources api -o turned -- true
    ls turned | tr '\n' ' '
    look turned | diff before - && echo "nothing is lost, or told twice"
done
cat before

# If only the live directory exists.
look alone/a.osc.live >before
"$OPSCOPE" run --sources api -o alone -- true
ls alone
look alone | diff before - && echo "nothing is lost"

# The directory is locked by another process; damaged; of another recording.
flock held/a.osc.live/blocks "$OPSCOPE" run --sources api -o held -- true
ls held
for offset in 3 $((1024 * 1024 + 16384 * 2 + 12)); do
    cp -r held hurt
    printf '\377' | dd of=hurt/a.osc.live/blocks bs=1 seek=$offset conv=notrunc 2>/dev/null
    "$OPSCOPE" run --sources api -o hurt -- true
    ls hurt
    rm -r hurt
done
cp -r held hurt
truncate -s 70 hurt/a.osc.live/strings
"$OPSCOPE" run --sources api -o hurt -- true
ls hurt
printf '\377' | dd of=held/a.osc bs=1 seek=20 conv=notrunc 2>/dev/null
"$OPSCOPE" run --sources api -o held -- true
ls held

# Nothing stays of processes that ended before they had opened a recording; everything stays of one
# that is about to open it. A directory with names is not empty, whatever happened to its blocks.
mkdir -p new/{a,b,c,d,e}.osc.live
touch new/b.osc.live/blocks new/e.osc.live/strings
truncate -s 2000000 new/c.osc.live/blocks
for name in a b c e; do
    "$OPSCOPE" table quality new/$name.osc.live 2>&1
done
rm -r new/e.osc.live
flock new/d.osc.live "$OPSCOPE" run --sources api -o new -- true
ls new | sed 's/^[^.]*\.[0-9]*\.[0-9]*\.0\.osc$/blank.osc/'
"$OPSCOPE" table quality new --format csv --columns code 2>&1

# The program's own recording states how the program ended; a child of it that ended without
# notice, between two calls, is not called killed.
cat >call.py <<'END'
import ctypes, os, sys
ctypes.CDLL(os.environ["LIBRARY"]).osc_scope_instant(1)
if sys.argv[1] == "exit":
    os._exit(int(sys.argv[2]))
if sys.argv[1] == "exec":
    os.execlp("true", "true")
os.kill(os.getpid(), int(sys.argv[2]))
END
export LIBRARY="${OPSCOPE%/*}/libopscope.so.0"
for how in "exit 0" "exit 3" "exec 0" "kill 9" "kill 15"; do
    rm -rf own
    # shellcheck disable=SC2086
    { "$OPSCOPE" run --sources api -o own -- python3 call.py $how; } 2>/dev/null
    echo "$how: status $?, $(ls own | wc -l) file, $("$OPSCOPE" table quality own --format csv --columns code | grep -c killed) killed"
done
"$OPSCOPE" run --sources api -o child --flight 10s -- sh -c 'python3 call.py exit 0; true'
echo "child: $(ls child | wc -l) file, $("$OPSCOPE" table quality child --format csv --columns code | grep -c killed) killed"
"$OPSCOPE" table events child --format csv --columns kind

# A killed process leaves no warm-up steps, neither in a window nor after one.
cat >steps.py <<'END'
import ctypes, os, sys, time
library = ctypes.CDLL(os.environ["LIBRARY"])
for i in range(int(sys.argv[1])):
    library.osc_step()
    time.sleep(0.05)
    library.osc_scope_instant(1)
time.sleep(float(sys.argv[3]))
if sys.argv[2] == "kill":
    os.kill(os.getpid(), 9)
os._exit(0)
END
for n in 3 4 5 6 7; do
    for how in exit kill; do
        rm -rf steps
        { "$OPSCOPE" run --sources api --schedule wait=1,warmup=2,active=2,repeat=2 -o steps -- \
            python3 steps.py "$n" "$how" 0; } 2>/dev/null
        echo "$n steps, $how: $(ls steps | wc -l) file," \
            "$("$OPSCOPE" table events steps --format csv --columns name 2>&1 | grep '#' | tr '\n' ' ')"
    done
done

# A flight recorder without a dump leaves nothing if its program ends normally, and whole steps if
# it is killed.
for how in exit kill; do
    rm -rf steps
    { "$OPSCOPE" run --sources api --flight 2steps -o steps -- python3 steps.py 6 "$how" 1; } 2>/dev/null
    echo "$how: $(ls steps | wc -l) file," \
        "$("$OPSCOPE" table events steps --format csv --columns kind 2>/dev/null | tr '\n' ' ')"
done

# Records after a dump are a separate part, with the names of the threads.
cat >dumped.py <<'END'
import ctypes, os, sys, time
library = ctypes.CDLL(os.environ["LIBRARY"])
library.osc_thread_name(b"stepper")
for i in range(6):
    library.osc_step()
    time.sleep(0.03)
    library.osc_scope_instant(1)
    if i == 2:
        library.osc_dump()
time.sleep(1)
os.kill(os.getpid(), 9)
END
{ "$OPSCOPE" run --sources api --flight 10s -o dumped -- python3 dumped.py; } 2>/dev/null
ls dumped | sed 's/^.*\.0\./NAME./'
for part in dumped/*; do
    "$OPSCOPE" table events "$part" --format csv --columns name,kind
    "$OPSCOPE" table threads "$part" --format csv --columns name,events
    "$OPSCOPE" table quality "$part" --format csv --columns code,count
done

# If a process is killed after a dump, the records since then become the next part, and both parts
# contain the records that apply to all. Without opscope run they stay in the live directory as a
# separate span.
cat >holds.py <<'END'
import ctypes, os, time
library = ctypes.CDLL(os.environ["LIBRARY"])
library.osc_thread_name(b"worker")
library.osc_metadata(b"key", b"value")
library.osc_step()
for i in range(20):
    library.osc_step()
    if i == 10:
        library.osc_dump()
    time.sleep(0.02)
library.osc_step()
os.kill(os.getpid(), 9)
END
{ "$OPSCOPE" run --sources api --flight 100ms -o folded -- python3 holds.py; } 2>/dev/null
mkdir unfolded
{ OPSCOPE_OUT=$PWD/unfolded/ OPSCOPE_SCHEDULE=flight=100ms python3 holds.py; } 2>/dev/null
for directory in folded unfolded; do
    echo "$directory: $(ls $directory | wc -l) files"
    "$OPSCOPE" table quality $directory --format csv --columns span,code
    "$OPSCOPE" table threads $directory --format csv --columns span,name
    "$OPSCOPE" table info $directory --format csv | grep -o 'meta.key,value'
done
