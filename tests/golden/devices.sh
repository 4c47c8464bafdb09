# SPDX-License-Identifier: Apache-2.0
# Devices, their properties and utilization; arrows between events.
cp "$DATA/alexnet_a100.json.gz" a100.json.gz
t() { "$OPSCOPE" table "$@" 2>/dev/null || echo "exit $?"; echo; }
t devices a100.json.gz --format csv
t devices a100.json.gz --compat tb --columns device,tensor_core_ratio
t utilization a100.json.gz --limit 4
t flows a100.json.gz --limit 3
t flows a100.json.gz --where 'from_id IS NULL' --columns kind,to_id --limit 2
t devices "$DATA/demo.pt.trace.json.gz"
t utilization "$DATA/demo.pt.trace.json.gz"
t flows "$DATA/demo.pt.trace.json.gz" --limit 2
# What is idle in one trace of a machine, may work in another.
for r in 0 1; do
    printf '{"deviceProperties": [{"id": 0, "name": "H100"}, {"id": 1, "name": "H100"},
        {"id": 2, "name": "H100"}], "distributedInfo": {"rank": %d}, "traceEvents": [
        {"ph": "X", "cat": "kernel", "name": "k", "pid": %d, "tid": 7, "ts": 1, "dur": 2,
         "args": {"device": %d, "stream": 7, "correlation": 1}}]}' $r $r $r >rank$r.json
done
t devices rank0.json rank1.json --columns device,name
t devices rank0.json rank1.json --columns device,name --merge
t devices rank0.json --columns device,name
