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
