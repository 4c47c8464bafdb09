# SPDX-License-Identifier: Apache-2.0
# Names that are not UTF-8: the recorder writes them unchanged, and every output is valid.
export LIBRARY="${OPSCOPE%/*}/libopscope.so.0"
cat >record.py <<'END'
import ctypes
import os

lib = ctypes.CDLL(os.environ["LIBRARY"])
OPERATOR, MODULE = 1, 3
# Latin-1; an invalid byte; a truncated character; an overlong form; half a surrogate pair; a number
# beyond the last character.
BAD = [b"caf\xe9", b"\xff", b"\xe2\x82", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"]


def name(s):
    return lib.osc_name_of(s, ctypes.c_size_t(len(s)))


lib.osc_thread_name(b"thread \xe9")
lib.osc_process_name(b"process \xe9")
lib.osc_metadata(b"key \xe9", b"value \xe9")
for i, bad in enumerate(BAD):
    lib.osc_step()
    lib.osc_scope_begin(MODULE if i % 2 else OPERATOR, name(b"op <" + bad + b">"))
    lib.osc_arg_i64(name(b"key " + bad), ctypes.c_int64(i))
    lib.osc_arg_text(name(b"text"), b"text " + bad, ctypes.c_size_t(5 + len(bad)))
    lib.osc_arg_name(name(b"name"), name(b"name " + bad))
    lib.osc_arg_json(name(b"json"), b'"' + bad + b'"', ctypes.c_size_t(2 + len(bad)))
    lib.osc_counter_i64(name(b"counter " + bad), ctypes.c_int64(i))
    lib.osc_async_begin(0, name(b"async " + bad), ctypes.c_uint64(i))
    lib.osc_async_end(0, name(b"async " + bad), ctypes.c_uint64(i))
    lib.osc_scope_end()
lib.osc_step_end()
END
"$OPSCOPE" run --sources api -o rec -- python3 record.py

python3 - "$OPSCOPE" <<'END'
import glob
import json
import subprocess
import sys

BAD = [b"caf\xe9", b"\xff", b"\xe2\x82", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"]
written = open(glob.glob("rec/*.osc")[0], "rb").read()
print("written as they are:", all(b"op <" + bad + b">" in written for bad in BAD))


def ask(*args):
    done = subprocess.run([sys.argv[1], *args], capture_output=True, check=False)
    try:
        done.stderr.decode()
        return done.returncode == 0, done.stdout.decode()
    except UnicodeDecodeError:
        return False, ""


tables = ["events", "averages", "operators", "threads", "tracks", "steps", "info", "quality"]
for form in ("text", "csv", "json", "jsonl", "md"):
    for table in tables:
        is_good, text = ask("table", table, "rec", "--format", form)
        if form == "json" and is_good:
            json.loads(text)
        if not is_good:
            print(table, form, "is not valid")
print("tables are valid")
for form in ("json", "folded", "csv", "osc"):
    is_good, _ = ask("export", "rec", "-o", "out." + form)
    data = open("out." + form, "rb").read()
    if form != "osc":
        data.decode()
    if form == "json":
        json.loads(data)
    print("export to", form, is_good)
_, before = ask("table", "events", "rec", "--format", "csv", "--columns", "kind,name,args")
for form in ("json", "osc"):
    _, after = ask("table", "events", "out." + form, "--format", "csv", "--columns", "name")
    shown = {line for line in after.splitlines() if line.startswith("op ")}
    print("names in what was exported:", sorted(shown))
for args in (["rec"], ["info", "rec"]):
    print("opscope", *args, "is valid:", ask(*args)[0])
print("\n".join(line for line in before.splitlines() if "op <" in line))
END
"$OPSCOPE" table quality rec --format csv --columns code,count
