# SPDX-License-Identifier: Apache-2.0
# Advice: its sentences and commands stand below the rows, and the commands work.
trace() { # PID RANK LOADER_US
    echo '{"distributedInfo": {"rank": '"$2"'}, "deviceProperties": [
        {"id": 0, "name": "GPU", "totalGlobalMem": 1000, "computeMajor": 7, "computeMinor": 0, "numSms": 8}],
      "traceEvents": ['
    for step in 0 1 2; do
        t=$((step * 1000))
        at='"pid": '"$1"', "tid": 1, "ts": '
        cat <<JSON
      {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#$step", $at$t, "dur": 1000},
      {"ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", $at$t, "dur": $3},
      {"ph": "X", "cat": "cpu_op", "name": "aten::mm", $at$((t + 400)), "dur": 90, "args": {"External id": $((step + 1))}},
      {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", $at$((t + 410)), "dur": 20, "args": {"correlation": $((step * 9 + 1)), "External id": $((step + 1))}},
      {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": $((t + 450)), "dur": 350, "args": {"device": 0, "stream": 7, "correlation": $((step * 9 + 1))}},
      {"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", $at$((t + 500)), "dur": 310, "args": {"correlation": $((step * 9 + 2))}},
JSON
    done
    echo ' {"ph": "i", "s": "t", "name": "[memory]", "pid": '"$1"', "tid": 1, "ts": 420,
        "args": {"Device Type": 1, "Device Id": 0, "Addr": 1, "Bytes": 901, "Total Allocated": 901}}]}'
}
mkdir ranks
trace 11 0 300 >ranks/a.json
trace 12 1 30 >ranks/b.json
cp ranks/a.json "it's here.json"
t() { "$OPSCOPE" table advice "$@" 2>/dev/null || echo "exit $?"; echo; }
t ranks/a.json
t ranks --columns rank,impact_ns,code,text
t ranks --merge --columns impact_ns,severity,code,ratio,count,text
t ranks --merge --columns evidence --format csv
t ranks --merge --steps 1-2 --rank 0-1 --columns evidence --format csv \
    --where "code in ('unrecorded_idle', 'data_loading')"
t "it's here.json" --columns code,evidence --where "code = 'launch_bound'"
t ranks --rank 0 --steps 1-2 --process 11 --format csv --columns code,count,evidence \
    --where "code in ('data_loading', 'launch_bound')"
t - --columns code,evidence --where "code = 'data_loading'" <ranks/a.json
t --compat tb ranks/b.json --format csv --columns impact_ns,code,ratio
# The device was busy with what has no record.
cat >earlier.json <<JSON
[{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 0, "dur": 20, "args": {"correlation": 1}},
 {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 9000, "dur": 1000, "args": {"device": 0, "stream": 7, "correlation": 1}}]
JSON
t earlier.json
"$OPSCOPE" table advice --compat tb earlier.json 2>&1 | grep 'the host' # no note about it
"$OPSCOPE" earlier.json | sed -n '/^NOTE/,/^NEXT/p'
PATH=$(dirname "$OPSCOPE"):$PATH
"$OPSCOPE" table advice "it's here.json" --format csv --columns evidence | tail -n +2 |
    sed 's/^"//; s/"$//; s/""/"/g' | while read -r command; do
    eval "$command --format csv" 2>/dev/null | wc -l
done
