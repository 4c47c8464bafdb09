# SPDX-License-Identifier: Apache-2.0
# At the memory limit: the table of what was read, a sentence, status 1; and the process never uses
# much more, whatever the file contains.
python3 - <<'END'
import gzip


def write(name, form, n, before="[", behind="]"):
    with (gzip.open if name.endswith(".gz") else open)(name, "wt") as f:
        f.write(before)
        f.writelines((",\n" if i else "") + form.replace("@", str(i)) for i in range(n))
        f.write(behind)


RANGE = '{"ph":"X","cat":"cpu_op","ts":@,"dur":1,'
write("rows.json", RANGE + '"name":"a"}', 600000)
write("bomb.json.gz", RANGE + '"name":"a"}', 600000)
write("names.json", RANGE + '"name":"n@"}', 200000)
write("forms.json", RANGE + '"args":{"k@":1}}', 100000)
write("tracks.json", RANGE + '"pid":@,"tid":@}', 100000)
write("ids.json", RANGE + '"pid":@,"tid":@,"args":{"External id":@,"Sequence number":@,'
      '"Fwd thread id":1}}', 100000)
write("arrows.json", '{"ph":"s","cat":"fwdbwd","id":@,"ts":@}', 500000)
write("steps.json", '{"ph":"X","cat":"user_annotation","name":"ProfilerStep#@","ts":@,"dur":1}',
      200000)
write("metadata.json", '"k@":"v@"', 300000, '{"traceEvents":[{"ph":"i","ts":1}],', "}")
write("arguments.json", RANGE + '"args":{%s}}' % ",".join('"k%d":%d' % (k, k) for k in range(99)),
      40000)
write("giant.json", RANGE + '"args":{"a":[@%s]}}' % (",[1,2]" * 2000000), 3,
      '[{"ph":"i","ts":1},')
# Few names and few shapes, but a row for each pair.
with open("groups.json", "w") as f:
    pairs = ((i, i % 400, i // 400) for i in range(160000))
    f.write("[" + ",".join('{"ph":"X","cat":"cpu_op","ts":%d,"dur":1,"name":"a%d","args":'
                           '{"Input Dims":[[%d]]}}' % pair for pair in pairs) + "]")
END
cat >run.py <<'END'
import os
import re
import subprocess
import sys

OPSCOPE = sys.argv[1]
MIB = 40
SLACK_MIB = 8  # code, stacks, the allocator's free memory
# A sanitizer needs memory of its own.
CAN_MEASURE = b"__asan_init" not in open(OPSCOPE, "rb").read()
WAY_OUT = ("; select with --from/--to or --steps, leave out arguments with --no-args, or raise "
           "--max-memory\n")


def run(*args, stdin=os.devnull):
    with open(stdin) as given, open("out", "wb") as out, open("err", "wb") as err:
        process = subprocess.Popen([OPSCOPE, *args, "--max-memory=%dM" % MIB], stdin=given,
                                   stdout=out, stderr=err)
    _, status, used = os.wait4(process.pid, 0)
    n_lines = open("out", "rb").read().count(b"\n")
    said = [line for line in open("err") if " quality: " not in line]
    peak = used.ru_maxrss / 1024 if CAN_MEASURE else 0
    print(" ".join(args) + ":", os.waitstatus_to_exitcode(status),
          "many rows," if n_lines > 100 else "a table," if n_lines > 0 else "no table,",
          "below the limit" if peak <= MIB + SLACK_MIB else "took %d MiB" % peak)
    for line in said:
        print("  " + re.sub(r"byte \d+", "byte N", line).replace(WAY_OUT, "; ..."))


for name in sorted(n for n in os.listdir() if ".json" in n and n != "groups.json"):
    run("info", name)
    run("table", name)
    run("table", "operators", name, "--format=csv")
    run("table", "events", name, "--format=csv")
    run("table", "events", name, "--format=csv", "--sort=dur_ns")
    run("table", "threads", name)
for name in ("arguments.json", "forms.json", "giant.json", "names.json", "rows.json",
             "tracks.json"):
    run("export", name, "--output=part.json")
    if os.path.exists("part.json"):
        os.remove("part.json")
run("table", "events", "rows.json", "--format=csv", "--where=dur_ns > 0")
run("table", "events", "names.json", "--format=csv", "--from=1ms", "--to=9ms")
run("table", "modules", "names.json")
run("table", "devices", "ids.json")
run("table", "--group-by=shape", "groups.json")
run("table", "steps", "steps.json")
run("table", "steps", "-", stdin="rows.json")
END
python3 run.py "$OPSCOPE"
# One file after the other, or all at once.
for table in threads events; do
    "$OPSCOPE" table $table rows.json rows.json names.json names.json tracks.json \
        --max-memory 40M 2>&1 >/dev/null | sed 's/byte [0-9]*/byte N/; s/; select.*//'
done
"$OPSCOPE" table rows.json --max-memory 40M 2>&1 >/dev/null | sed 's/byte [0-9]*/byte N/'
"$OPSCOPE" table rows.json --max-memory 1
echo "$?" >&2
