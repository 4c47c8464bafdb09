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
