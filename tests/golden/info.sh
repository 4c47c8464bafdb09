# SPDX-License-Identifier: Apache-2.0
# info and quality on one page, and as a JSON array.
scratch=$PWD
cd "$DATA" || exit 1
"$OPSCOPE" info small.json | sed 's/^\(opscope_version  *\).*/\1VERSION/'
"$OPSCOPE" info small.json --format json | python3 -c '
import json, sys
for table in json.load(sys.stdin):
    print(table["table"], table["sources"], len(table["rows"]), sorted(table))'
"$OPSCOPE" table threads small.json
"$OPSCOPE" table tracks small.json 2>/dev/null
cd "$scratch" || exit 1
# Long metadata is one short line in text, one line in Markdown, and complete in CSV.
python3 -c '
print("{\"deviceProperties\": [" + ",".join("\n  {\"id\": %d, \"name\":\t\"A \\u001b100\"}" % i for i in range(9)) +
      "\n],\"traceEvents\":[]}")' >long.json
for form in text md csv; do
    "$OPSCOPE" table info long.json --format $form 2>/dev/null | grep -A1 deviceProperties
done
# Impossible times, missing durations, missing work.
cat >odd.json <<'END'
[{"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 5000000, "dur": 100},
 {"ph": "X", "cat": "cpu_op", "name": "zero", "pid": 1, "tid": 1, "ts": 0, "dur": 1},
 {"ph": "X", "cat": "cpu_op", "name": "open", "pid": 1, "tid": 1, "ts": 5000010},
 {"ph": "X", "cat": "cpu_op", "name": "late", "pid": 1, "tid": 1, "ts": 5000101, "dur": 1},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 1, "tid": 1, "ts": 5000020, "dur": 1, "args": {"correlation": 1}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 5000030, "dur": 1, "args": {"correlation": 2}},
 {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5000040, "dur": 1, "args": {"device": 0, "stream": 7, "correlation": 2}}]
END
"$OPSCOPE" table quality odd.json --columns code,count,first_ns --format csv
