# SPDX-License-Identifier: Apache-2.0
# What torch's pattern matcher would find: a trace of a GPU, written by hand, of two ranks.
cat >make.py <<'PYTHON'
import json
import os

events = []


def add(cat, name, ts, dur, tid=1, pid=1, **args):
    events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts,
                   "dur": dur, "args": args})


def kernel(name, ts, correlation):
    add("cuda_runtime", "cudaLaunchKernel", ts, 1, correlation=correlation)
    add("kernel", name, ts + 400, 5, tid=7, pid=0, device=0, stream=7, correlation=correlation)


halves = {"Input type": ["c10::Half"] * 2, "Input Dims": [[8, 7], [7, 8]]}
floats = {"Input type": ["float"] * 2, "Input Dims": [[8, 8], [8, 8]]}
add("python_function", "it's.py(1): main", 0, 300)
add("python_function", "<built-in method zeros>", 10, 10)
add("cpu_op", "aten::zeros", 11, 8)
add("cpu_op", "aten::zero_", 12, 6)
add("python_function", "<built-in method to>", 30, 20)
add("cpu_op", "aten::to", 31, 18)
add("cpu_op", "aten::_to_copy", 32, 16)
add("cpu_op", "aten::copy_", 33, 14, **{"Input type": ["float", "float", "Scalar"]})
for i, (inputs, name) in enumerate(((floats, "ampere_sgemm_128x64_nn"),
                                    (floats, "ampere_sgemm_32x32_sliced1x4_nn"),
                                    (floats, "cutlass_80_tensorop_s1688gemm_64x64_nn"),
                                    (halves, "ampere_fp16_s16816gemm_fp16_64x64"))):
    add("cpu_op", "aten::mm", 60 + 10 * i, 5, **inputs,
        **{"Call stack": f"it's.py({20 + i // 2}): main;it's.py(1): <module>;"})
    kernel(name, 61 + 10 * i, i + 1)
add("python_function", "torch/optim/adam.py(9): step", 120, 50)
add("python_function", "torch/optim/adam.py(3): _single_tensor_adam", 130, 30)
os.mkdir("ranks")
for rank in (0, 1):
    with open(f"ranks/rank{rank}.json", "w") as out:
        json.dump({"schemaVersion": 1, "distributedInfo": {"rank": rank}, "deviceProperties": [
            {"id": 0, "name": "A100", "computeMajor": 8, "computeMinor": 0}],
            "traceEvents": events}, out)
PYTHON
python3 make.py
"$OPSCOPE" table patterns ranks/rank0.json 2>&1
echo "--- what evidence prints"
opscope() { "$OPSCOPE" "$@"; }
columns="--columns pattern,id,source,total_ns --format csv"
cells='import csv, sys; print(*(row["evidence"] for row in csv.DictReader(sys.stdin)), sep="\n")'
"$OPSCOPE" table patterns ranks/rank0.json --format csv 2>/dev/null | python3 -c "$cells" >evidence
while read -r command; do
    eval "$command $columns" 2>/dev/null
done <evidence
echo "--- the events"
"$OPSCOPE" table patterns ranks/rank0.json --group-by event --where 'calls = 1 and id < 12' \
    --format csv 2>/dev/null | python3 -c "$cells" >evidence
while read -r command; do
    eval "$command --columns id,name --format csv" 2>/dev/null
done <evidence
echo "--- all ranks"
"$OPSCOPE" table patterns ranks --merge --columns pattern,name,source,calls,total_ns --format csv
"$OPSCOPE" table patterns ranks --merge --group-by event --where "pattern = 'fp32_matmul'" \
    --columns pattern,source,calls,id --format csv
"$OPSCOPE" table patterns ranks --columns pattern,rank,calls --format csv 2>&1
"$OPSCOPE" table patterns "$DATA/small.json" 2>/dev/null
