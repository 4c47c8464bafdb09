# SPDX-License-Identifier: Apache-2.0
# Every output format for one small trace: exact for programs, readable for people.
cp "$DATA/small.json" .
for form in text csv json md; do
    "$OPSCOPE" table events small.json --format $form | sed "s/opscope [0-9][0-9.]*/opscope VERSION/; s/\"opscope\": \"[^\"]*\"/\"opscope\": VERSION/"
done
"$OPSCOPE" table kernels small.json --columns name,calls,total_ns 2>/dev/null
"$OPSCOPE" table kernels small.json --columns name,calls,total_ns --full-names 2>/dev/null
# In the table of events, only names of device work are shortened, whichever columns are shown.
cat >names.json <<'END'
{"traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "torch::autograd::CppNode<A<B> >", "pid": 1, "tid": 1, "ts": 0, "dur": 1},
 {"ph": "X", "cat": "user_annotation", "name": "f<x>(int)", "pid": 1, "tid": 1, "ts": 2, "dur": 1},
 {"ph": "X", "cat": "python_function", "name": "<built-in method mm>", "pid": 1, "tid": 1, "ts": 4, "dur": 1},
 {"ph": "X", "cat": "python_function", "name": "a.py(1): <genexpr>", "pid": 1, "tid": 1, "ts": 6, "dur": 1},
 {"ph": "X", "cat": "gpu_user_annotation", "name": "g<y>", "pid": 0, "tid": 7, "ts": 0, "dur": 40},
 {"ph": "X", "cat": "kernel", "name": "void at::f<4, g<float> >(int)", "pid": 0, "tid": 7, "ts": 8, "dur": 1},
 {"ph": "X", "cat": "kernel", "name": "_Z1kIfEvT_", "pid": 0, "tid": 7, "ts": 10, "dur": 1},
 {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7, "ts": 12, "dur": 1}
]}
END
"$OPSCOPE" table events names.json --columns name 2>/dev/null
# A NUL is written as another character in every format, because readers of CSV stop or fail at a
# NUL.
printf '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a\\u0000b, c\\u0000", "pid": 1, "tid": 1, "ts": 0, "dur": 1}]}' >nul.json
for form in text csv json md; do
    "$OPSCOPE" table events nul.json --columns name --format $form 2>/dev/null | grep 'a.*b, c'
done
"$OPSCOPE" export nul.json --table events -o nul.csv
python3 -c 'import csv; print(ascii([row["name"] for row in csv.DictReader(open("nul.csv", encoding="utf-8", newline=""))]))'
"$OPSCOPE" table events names.json --columns name --sort name --full-names 2>/dev/null
"$OPSCOPE" table events names.json --columns kind,name --format csv 2>/dev/null
# Text shows the process if there are several.
python3 - <<'END'
import json
events = []
for pid in 1, 2:
    here = {"pid": pid, "tid": 1, "ts": 10 * pid}
    events += [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "dur": 100, **here},
               {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", **here,
                "args": {"Total Reserved": 0, "Total Allocated": 64, "Bytes": 64, "Addr": 1,
                         "Device Id": 0, "Device Type": 1}}]
for name, wanted in ("one.json", {1}), ("two.json", {1, 2}):
    with open(name, "w") as file:
        json.dump({"traceEvents": [e for e in events if e["pid"] in wanted]}, file)
END
for table in "steps --columns step,process,total_ns" memory_curve memory_peaks memory_events; do
    "$OPSCOPE" table $table two.json 2>/dev/null
done
"$OPSCOPE" table memory_curve one.json 2>/dev/null
# Copies of MTIA have their size in another argument.
cat >mtia.json <<'JSON'
{"schemaVersion": 1, "traceEvents": [
 {"ph": "X", "cat": "mtia_ccp_events", "name": "dma_request", "pid": 9, "tid": 4, "ts": 0, "dur": 8, "args": {"size": 1024}},
 {"ph": "X", "cat": "mtia_ccp_events", "name": "dma_request", "pid": 9, "tid": 4, "ts": 9, "dur": 8, "args": {"size": 1, "bytes": 2}},
 {"ph": "X", "cat": "mtia_ccp_events", "name": "gemm", "pid": 9, "tid": 4, "ts": 20, "dur": 8, "args": {"size": 3}}
]}
JSON
"$OPSCOPE" table events mtia.json --columns name,kind,bytes --format csv 2>/dev/null
# A thread whose name is a number is called a thread.
echo '[{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 251, "ts": 0, "dur": 8}]' >thread.json
"$OPSCOPE" table headlines thread.json --where "view = 'trace'" --columns text --format csv 2>/dev/null
