# SPDX-License-Identifier: Apache-2.0
# The one screen of traces that are not PyTorch's: who wrote them, the ranges that took the time, or
# names where nothing has a duration, who worked, and commands that fit. Each file has only what tells
# its producer, and one part of its work.
python3 - <<'END'
import json

def name(pid, text, tid=None):
    return {"ph": "M", "name": "process_name" if tid is None else "thread_name", "pid": pid,
            "tid": tid or 0, "args": {"name": text}}

def x(pid, tid, name, ts, dur, **more):
    return {"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": ts, "dur": dur, **more}

def write(file, events, **members):
    with open(file + ".json", "w") as out:
        json.dump({"traceEvents": events, **members}, out)

write("jax", [
    name(701, "/host:CPU"), name(701, "python", 5), name(11, "/device:GPU:0"),
    name(11, "Stream #14(Kernel)", 14), name(11, "XLA Ops", 2), name(11, "XLA Modules", 3),
    x(701, 5, "$train.py:3 step", 0, 90), x(701, 5, "PjitFunction(f)", 10, 60),
    *(e for i in range(3) for e in (
        x(11, 14, "fusion_7", 20 + 10 * i, 6), x(11, 2, "fusion.7", 20 + 10 * i, 6),
        x(11, 3, "jit_f", 20 + 10 * i, 7)))])
write("tensorflow", [
    name(1, "/job:localhost/replica:0/task:0/device:CPU:0 Compute"),
    name(3, "/device:GPU:0/stream:13 Compute"),
    x(1, 1, "MatMul", 0, 9, cat="Op", args={"name": "dense/MatMul", "op": "MatMul"}),
    x(3, 0, "MatMul", 4, 20, cat="Op", args={"name": "dense/MatMul:MatMul", "op": "unknown"})])
write("ascend", [
    name(4, "Python"), name(5, "CANN"), name(6, "Ascend Hardware"), name(7, "Overlap Analysis"),
    x(4, 1, "Default/dense/MatMul", 0, 9), x(5, 1, "launch", 2, 3),
    name(6, "Stream 2", 2), x(6, 2, "MatMulV2", 10, 30, args={"Task Type": "AI_CORE"}),
    name(7, "Computing", 1), x(7, 1, "Computing", 10, 30)])
write("ray", [
    x("", "worker:1f", "task::train", 0, 80, cat="task::train"),
    x("", "worker:1f", "task:execute", 5, 70, cat="task:execute"),
    x("", "worker:2e", "worker_idle", 0, 80, cat="worker_idle")])
write("clang", [
    x(9, 9, "ExecuteCompiler", 0, 100), x(9, 9, "Frontend", 1, 60), x(9, 9, "Backend", 61, 30),
    x(9, 10, "Total ExecuteCompiler", 0, 100, args={"count": 1}),
    name(9, "clang")], beginningOfTime=1700000000000000)
write("counters", [name(1, "game"), name(1, "main loop", 1)] + [
    {"ph": "C", "pid": 1, "name": "memory", "ts": i, "args": {"heap": 5 * i, "stack": 7}}
    for i in range(4)] + [
    {"ph": "i", "pid": 1, "tid": t, "name": "vsync", "ts": 10 * t, "s": "t"} for t in (1, 1, 2)])
write("samples", [name(9, "app"), x(9, 9, "run", 0, 50)],
      stackFrames={"1": {"name": "main"}, "2": {"name": "draw", "parent": "1"}},
      samples=[{"cpu": 0, "tid": 9, "ts": 5 * i, "name": "s", "sf": 2, "weight": 1} for i in range(3)])
write("unknown", [name(1, "game"), name(1, "main loop", 1)] + [
    x(1, 1, f"frame {i % 2}", 10 * i, 8) for i in range(4)])
END
for producer in jax tensorflow ascend ray clang counters samples unknown; do
    "$OPSCOPE" $producer.json
    echo "--- $?"
done
for producer in jax tensorflow; do
    "$OPSCOPE" table operators $producer.json --columns name,calls,device_self_ns,host_self_ns 2>/dev/null
    "$OPSCOPE" table operators $producer.json --format csv --columns name,device_self_ns 2>/dev/null
done
"$OPSCOPE" table points counters.json 2>/dev/null
"$OPSCOPE" table points counters.json --format csv 2>/dev/null
"$OPSCOPE" table points clang.json 2>/dev/null
