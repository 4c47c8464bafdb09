# SPDX-License-Identifier: Apache-2.0
# export: what it writes, what it rejects, and that no incomplete file stays.
cp "$DATA/small.json" t.json
"$OPSCOPE" export t.json -o - --format json 2>/dev/null | head -n 12
echo "status $?"
for table in events steps kernels threads; do
    "$OPSCOPE" export t.json -o again.json.gz && "$OPSCOPE" table $table t.json -f csv >a &&
        "$OPSCOPE" table $table again.json.gz -f csv | cmp - a && echo "same $table"
done
"$OPSCOPE" export t.json --table threads -o threads.csv && cat threads.csv
rm a again.json.gz threads.csv
for metric in host_self_ns device_self_ns calls; do
    "$OPSCOPE" export t.json -o - --format folded --metric $metric
done
"$OPSCOPE" export t.json -o - --format json --counters | grep -B1 -A9 traceEvents | cut -c1-120
"$OPSCOPE" export t.json -o c.json --counters && "$OPSCOPE" export c.json -o - --format json --counters 2>/dev/null | sort |
    cmp - <("$OPSCOPE" export c.json -o - --format json 2>/dev/null | sort) && echo 'counters once'
rm c.json

try() { "$OPSCOPE" export "$@"; echo "status $?"; }
try
try t.json
try t.json -o out
try t.json -o out.jsn
try t.json -o -
try t.json -o x.json --format jsn
try t.json -o x.json --table events
try t.json -o x.csv --table event
try t.json -o x.json --stack op
try t.json -o x.csv --counters
echo '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 1,
 "dur": 1, "args": {"Call stack": "f;", "Sequence number": 7}}]}' >s.json
"$OPSCOPE" export s.json -o - --format json --no-stacks 2>/dev/null | grep '"op"'
rm s.json
try t.json -o x.csv --no-stacks
try t.json -o x.folded --stack pythn
try t.json -o x.folded --metric total
try t.json -o x.folded --metric self_cpu_time_total
try t.json -o x.folded --stack python
try t.json -o x.folded --stack python --redact
try t.json -o x.folded --stack module
echo '{"traceEvents": [
 {"ph": "X", "cat": "python_function", "name": "nn.Module: Net_0", "pid": 1, "tid": 1, "ts": 1,
  "dur": 9, "args": {"Python module id": 0}},
 {"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 1, "tid": 1, "ts": 2,
  "dur": 3, "args": {"Python module id": 0, "Module path": "h.0.q"}}]}' >m.json
"$OPSCOPE" export m.json -o - --format folded --stack module
"$OPSCOPE" export m.json -o - --format folded --stack module --redact
rm m.json
# Asynchronous operators are rows of operators with calls alone.
echo '{"traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 1, "dur": 9},
 {"ph": "b", "cat": "cpu_op", "name": "request", "id": 3, "pid": 1, "tid": 1, "ts": 2},
 {"ph": "b", "cat": "cpu_op", "name": "open", "id": 4, "pid": 1, "tid": 1, "ts": 2},
 {"ph": "e", "cat": "cpu_op", "name": "request", "id": 3, "pid": 1, "tid": 1, "ts": 7}]}' >a.json
for metric in host_self_ns calls; do
    "$OPSCOPE" export a.json -o - --format folded --metric $metric 2>/dev/null
done
"$OPSCOPE" table operators a.json --format csv --columns name,calls 2>/dev/null
sed -i '/"op"/d' a.json
"$OPSCOPE" export a.json -o - --format folded 2>&1 | grep -v ' quality: '
rm a.json
try t.json -o /dev/full --format folded
try t.json -o .
try t.json -o nowhere/x.json
try missing.json -o x.json
ln t.json hard.json
ln -s t.json soft.json
try t.json -o t.json
try t.json -o hard.json
try t.json -o soft.json
try - -o t.json <t.json
rm hard.json soft.json
try t.json -o /dev/full --format json
try t.json -o /dev/full --format json.gz
try t.json -o /dev/full --format csv
try t.json -o /dev/null --format json
for form in json csv; do # output that is cut short is an error
    { "$OPSCOPE" export "$DATA/demo.pt.trace.json.gz" -o - --format $form; echo "status $?" >&2; } | true
done
demo=$DATA/demo.pt.trace.json.gz
for table in memory memory_events; do # which read more than the selection
    "$OPSCOPE" export "$demo" --table $table --steps @1 -o selected.csv
    "$OPSCOPE" table $table "$demo" --steps @1 --format csv | cmp - selected.csv
    wc -l <selected.csv
done
rm selected.csv
# No file if nothing was found, and a note about losses.
try t.json -o x.json --from 99s
try t.json -o x.csv --to 0
try t.json -o x.json --steps 999
head -c 700 t.json >cut.json
try cut.json -o x.json
try x.json -o - --format csv
rm cut.json x.json
mkdir run
for rank in 0 1; do
    sed 's/"rank": 3/"rank": '$rank/ t.json >run/r$rank.json
done
try run -o one.json
try run --rank 1 -o one.json
"$OPSCOPE" table events one.json -f csv --columns rank --limit 1
cmp t.json "$DATA/small.json" && ls -A

# What told who wrote a trace, an end without a begin here, was left out: the file says it.
cat >cut.json <<'EOF'
[{"ph":"E","cat":"dynamo_timed","name":"compile","pid":1,"tid":1,"ts":1,"args":{"a":"NEGOTIATE_JOIN"}},
{"ph":"E","pid":1,"tid":1,"ts":2,"name":"NEGOTIATE_ALLREDUCE"},
{"ph":"X","name":"ALLREDUCE","pid":1,"tid":1,"ts":3,"dur":4}]
EOF
"$OPSCOPE" export cut.json -o whole.json
for f in cut.json whole.json; do
    "$OPSCOPE" table info $f --format csv --where "key = 'producer'" --columns value 2>/dev/null
done
# What was begun by S ends by F, as in the trace: other ends do not belong to it.
printf '[{"ph":"S","cat":"r","name":"a","pid":1,"tid":1,"ts":1,"id":"7"},
{"ph":"F","cat":"r","name":"a","pid":1,"tid":1,"ts":4,"id":"7"},
{"ph":"b","cat":"r","name":"b","pid":1,"tid":1,"ts":2,"id":"8"},
{"ph":"e","cat":"r","name":"b","pid":1,"tid":1,"ts":5,"id":"8"}]' >begun.json
"$OPSCOPE" export begun.json -o again.json 2>/dev/null && grep '"id"' again.json

# A part says what its own events do not: that a track is a queue, and of which family idle devices are.
printf '{"deviceProperties":[{"id":0,"totalGlobalMem":9}],"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":9,"tid":9,"ts":1,"dur":9},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":2,"dur":1,"args":{"correlation":1}},
{"ph":"X","cat":5,"name":"odd","pid":0,"tid":7,"ts":4,"dur":1,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":9,"tid":9,"ts":4,"s":"t","args":{"Device Type":6,"Device Id":0,"Bytes":8,"Total Allocated":8,"Addr":1}},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#2","pid":9,"tid":9,"ts":20,"dur":9},
{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":9,"tid":9,"ts":24,"s":"t","args":{"Device Type":1,"Device Id":0,"Bytes":8,"Total Allocated":8,"Addr":2}},
{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":9,"tid":9,"ts":25,"s":"t","args":{"Device Type":6,"Device Id":0,"Bytes":8,"Total Allocated":8,"Addr":3}},
{"ph":"X","cat":"user_annotation","name":"ProfilerStep#3","pid":9,"tid":9,"ts":30,"dur":9},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":31,"dur":1,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":32,"dur":1,"args":{"device":0,"stream":7,"correlation":2}}]}' >queue.json
for step in @0 @1; do
    for to in part.json part.osc; do
        "$OPSCOPE" export queue.json --steps $step -o $to 2>/dev/null
        "$OPSCOPE" table tracks $to --format csv --columns kind,name,parent
        "$OPSCOPE" table memory_peaks $to --format csv --columns device,peak_bytes
    done
    "$OPSCOPE" export part.json --redact -o again.json 2>/dev/null && grep -h '_queue\|_devices' part.json again.json
done

# Of ranks that were merged, a part has one: its device keeps the number that it has among all.
launched() { # RANK TS
    printf '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":"[TP0%s] 9","tid":9,"ts":%s,"dur":1,"args":{"correlation":%s}},
' "$1" "$2" "$2"
    printf '{"ph":"X","cat":"kernel","name":"k","pid":"[TP0%s] 0","tid":7,"ts":%s5,"dur":1,"args":{"device":0,"stream":7,"correlation":%s}},
' "$1" "$2" "$2"
}
{
    printf '{"deviceProperties":[{"id":0,"name":"A"},{"id":0,"name":"B"}],"traceEvents":[\n'
    launched 0 1
    launched 1 2
    printf '{"ph":"i","name":"end","pid":"[TP01] 9","tid":9,"ts":99,"s":"t"}]}'
} >merged.json
for to in part.json part.osc redacted.json; do
    case $to in redacted*) what=--redact ;; *) what='--process=[TP01] 9' ;; esac
    "$OPSCOPE" export merged.json "$what" -o $to 2>/dev/null
    "$OPSCOPE" table tracks $to --format csv --columns kind,name,parent
    "$OPSCOPE" table devices $to --format csv --columns device,name
done
"$OPSCOPE" export part.json -o again.json 2>/dev/null && cmp part.json again.json && grep 'opscope_' again.json
