# SPDX-License-Identifier: Apache-2.0
# --where: expressions over rows, before they are sorted and limited; errors are reported before a
# trace is read.
cp "$DATA/small.json" .
t() { "$OPSCOPE" table "$@" 2>/dev/null || echo "exit $?"; echo; }
t events small.json --where 'dur_ns > us(5)' --columns id,name,dur_ns --format csv
t events small.json --where 'dur_ns > us(5)' --sort dur_ns --limit 2 --columns id,dur_ns
t events small.json --where "kind = 'kernel' AND args ->> 'stream' IS NOT NULL" --columns id,kind,args
t kernels small.json --where 'calls > 0' --columns name,calls
t operators small.json --where 'device_self_ns > gib(1)' --format json --columns name | sed 's/"opscope": "[^"]*"/"opscope": VERSION/'
# torch's table keeps the sums of all rows.
t averages small.json --where "name LIKE 'aten::%'"
# With several ranks, each row has its rank; merged rows have none.
mkdir ranks
for rank in 0 1; do
    echo '{"distributedInfo": {"rank": '$rank'}, "traceEvents": [
        {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":'$rank'9}]}' >ranks/$rank.json
done
t operators ranks --where 'rank = 1' --columns rank,name,host_self_ns --format csv
t operators ranks --where 'rank IS NULL' --columns rank,name,host_self_ns --format csv --merge
for expr in 'totl_ns > 5' 'total_ns > 1ms' 'total_ns > 1.5 us' 'calls > 3 foo' 'total_ns >' 'uss(5) > 1' 'name = "x"' 'calls IN (SELECT 1)' \
    "readfile('small.json')" '1) OR (1' "json_extract(name, '$') = 1"; do
    "$OPSCOPE" table kernels small.json --where "$expr"
    echo "exit $?" >&2
done
"$OPSCOPE" table kernels no-such-file.json --where 'totl_ns > 5'
"$OPSCOPE" info small.json --where 1
"$OPSCOPE" table kernels small.json --where
true
