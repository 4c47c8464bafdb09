# SPDX-License-Identifier: Apache-2.0
# Sorting, limits, columns.
cp "$DATA/small.json" .
t() { "$OPSCOPE" table "$@" 2>/dev/null; echo; }
t events small.json --sort dur_ns --columns id,name,dur_ns --format csv
t events small.json --sort dur_ns:asc --columns id,dur_ns --format csv --limit 3
t events small.json --sort -name --columns name --limit 2
t events small.json --columns self_ns,id,launch_id --limit 3
t averages small.json --sort cuda_time_total --columns name,device_ns --format csv
t averages small.json --sort cpu_time --columns name,cpu_ns,calls --format csv
t tracks small.json --limit 0
# Sorting by what no row has says so. What one of two ranks has is enough.
"$OPSCOPE" table averages small.json --sort -self_cpu_memory_usage --columns name,calls
"$OPSCOPE" table kernels small.json --sort grid:asc --columns name --format csv
"$OPSCOPE" table operators small.json --sort -input_shape --columns name --format json |
    grep '"notes"'
mkdir ranks
for rank in 0 1; do
    echo '{"distributedInfo": {"rank": '$rank'}, "profile_memory": '$rank', "traceEvents": [
        {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":9}]}' >ranks/$rank.json
done
t averages ranks --sort self_cpu_memory_usage --columns name,calls
t averages ranks/0.json --sort self_cpu_memory_usage --columns name,calls
