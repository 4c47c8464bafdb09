# SPDX-License-Identifier: Apache-2.0
# export --redact: what remains of a trace, and that nothing else does.
event() { # NAME TS DUR
    echo '{"ph": "X", "cat": "user_annotation", "name": "'"$1"'", "pid": 1, "tid": 1, "ts": '"$2"', "dur": '"$3"'},'
}
mkdir -p "al smith"
{
    echo '{"host_name": "node17", "traceEvents": ['
    for step in 0 1 2; do
        event "ProfilerStep#$step" "${step}000" 1000
        event "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" "${step}000" 900
    done
    event phase1/forward 10 1
    event '/home/al smith/train.py(3): f' 20 1
    echo '{"ph": "i", "s": "t", "name": "end", "pid": 1, "tid": 1, "ts": 2990}]}'
} >"al smith/node17 a.json"
"$OPSCOPE" export "al smith/node17 a.json" --redact -o - -f csv -t advice | grep -o 'opscope table.*trace' | head -n 1
"$OPSCOPE" export "al smith/node17 a.json" --redact -o - -f csv -t events | cut -d, -f5-9 | sort -u

# Texts where analyses expect numbers, and in fields that nobody reads.
cat >t.json <<'JSON'
{"schemaVersion": "mine", "host_name": "node17", "user": "al", "with_stack": "mine", "record_shapes": 1,
 "displayTimeUnit": "mine", "torch_version": "2.13.0", "cuda_driver_version": 13000,
 "with_flops": {"mine": 1}, "SLURM_PROCID": "0",
 "deviceProperties": [{"id": 0, "name": "GPU \"of\" node17", "uuid": "mine", "numSms": "80",
   "warpSize": 32, "totalGlobalMem": "mine", "more": {"numSms": 1}}, {}, 7],
 "distributedInfo": {"rank": 1, "world_size": 2, "backend": "mine", "pg_config": ["mine"]},
 "traceEvents": [
  {"ph": "M", "name": "process_name", "pid": "node17", "tid": 0, "args": {"name": "/home/al/python train.py --token mine"}},
  {"ph": "M", "name": "process_labels", "pid": "node17", "tid": 0, "args": {"labels": "python train.py --token mine"}},
  {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "mine": 1, "tts": "mine",
   "args": {"grid": [1, 2, 3], "block": [1, "mine", 1], "stream": 7, "correlation": "mine", "Collective name": "/home/al/allreduce"}},
  {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 3, "dur": 1,
   "args": {"grid": "mine", "block": {"mine": 1}, "stream": ["mine"], "bytes": 5, "Collective name": ["mine"], "mine": 5}},
  {"ph": "b", "cat": "/home/al/async", "name": "x", "id": "node17", "pid": "node17", "tid": "/home/al/t", "ts": 5},
  {"ph": "e", "cat": "/home/al/async", "name": "x", "id": "node17", "pid": "node17", "tid": "/home/al/t", "ts": 6},
  {"ph": "C", "name": "load of https://mine@node17/set.bin?token=mine", "pid": -5, "ts": 7, "args": {"/home/al/series": 3}}
]}
JSON
"$OPSCOPE" export t.json --redact -o - -f json | tee red.json
"$OPSCOPE" export red.json --redact -o - -f json | cmp - red.json && echo "again the same"
grep -E "mine|node17|/home" red.json || echo clean

# What tells the devices of other programs stays; who wrote the trace is said.
cat >jax.json <<'JSON'
[{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "node17 /device:TPU:0"}},
 {"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "node17 /host:CPU"}},
 {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "XLA Ops"}},
 {"ph": "M", "name": "thread_name", "pid": 2, "tid": 1, "args": {"name": "mine"}},
 {"ph": "X", "name": "PjitFunction(mine)", "pid": 2, "tid": 1, "ts": 1, "dur": 1},
 {"ph": "X", "name": "mine.1", "pid": 1, "tid": 1, "ts": 2, "dur": 5},
 {"ph": "X", "name": "copy-start.2", "pid": 1, "tid": 1, "ts": 7, "dur": 1}]
JSON
for to in red.json red.osc; do
    "$OPSCOPE" export jax.json --redact -o $to
    "$OPSCOPE" table info $to --format csv | grep -E "^(producer|dialect|devices),"
    "$OPSCOPE" table ranges $to --format csv --columns name,kind,place,total_ns
    grep -aE "mine|node17" $to || echo clean
done

# Without arguments: counters keep their values, and the producer is told by what is left out.
cat >counter.json <<'JSON'
[{"ph": "X", "cat": "gemm", "name": "load", "pid": "gemm Core1 CTA0", "tid": "warp 0 (line 0)", "ts": 1, "dur": 1,
  "args": {"Init Time (ns)": 1, "Post Final Time (ns)": 2, "call_stack": []}},
 {"ph": "C", "name": "depth", "pid": 1, "ts": 1, "args": {"a": 1, "b": 2.5}},
 {"args": {"mine": 1}, "name": "depth", "pid": 1, "ts": 2, "ph": "C"},
 {"args": {"mine": 1, "stream": 7}, "name": "late", "pid": 1, "tid": 1, "ts": 2, "ph": "X", "dur": 1}]
JSON
for to in bare.json bare.osc; do
    "$OPSCOPE" export counter.json --no-args -o $to
    "$OPSCOPE" table info $to --format csv | grep "^producer,"
    "$OPSCOPE" table events $to --format csv --columns kind,name,value,args
done
