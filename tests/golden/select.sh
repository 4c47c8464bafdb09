# SPDX-License-Identifier: Apache-2.0
# A selection gives the same result while loading (with --max-memory) and afterwards. The selected
# steps keep their numbers.
trace=$DATA/demo.pt.trace.json.gz
for what in '--steps 3-4' '--steps @2' '--from 20ms' '--thread 19423 --to 20ms'; do
    echo "$what"
    "$OPSCOPE" table steps "$trace" $what --format csv --columns step,label,start_ns 2>/dev/null
    "$OPSCOPE" table events "$trace" $what --format csv --columns step 2>/dev/null | sort -u | tail -n 3 | tr '\n' ' '
    echo
done
for what in '--steps 3-4' '--steps @1' '--from 20ms --to 60ms' '--from 9s' '--to 5ms' \
    '--steps @1 --from 20ms' '--steps @1 --to 5ms'; do
    for table in averages operators steps threads; do
        "$OPSCOPE" table $table "$trace" $what --format csv >after 2>after.err
        "$OPSCOPE" table $table "$trace" $what --max-memory 1G --format csv >while 2>while.err
        cmp -s after while && echo "$what $table: the same, $(wc -l <after) lines"
    done
done
# A range within a step: the trace has steps, and none begins in it.
for more in '' '--max-memory 1G'; do
    "$OPSCOPE" table steps "$trace" --from 20ms --to 25ms $more --columns step,label,thread 2>/dev/null
    "$OPSCOPE" "$trace" --from 20ms --to 25ms $more | sed -n '4,7p'
    "$OPSCOPE" table advice "$trace" --from 20ms --to 25ms $more 2>/dev/null | grep 'no step'
done
"$OPSCOPE" table headlines "$trace" --from 20ms --to 25ms --columns text >after 2>/dev/null
"$OPSCOPE" table headlines "$trace" --from 20ms --to 25ms --columns text --max-memory 1G >while 2>/dev/null
head -n 3 after
cmp after while
# The same where ends are records of their own.
cat >ends.json <<'END'
{"traceEvents": [
 {"ph": "B", "cat": "user_annotation", "name": "ProfilerStep#5", "pid": 1, "tid": 1, "ts": 0},
 {"ph": "B", "cat": "cpu_op", "name": "aten::relu", "pid": 1, "tid": 1, "ts": 10},
 {"ph": "E", "pid": 1, "tid": 1, "ts": 40},
 {"ph": "E", "pid": 1, "tid": 1, "ts": 50},
 {"ph": "B", "cat": "user_annotation", "name": "ProfilerStep#6", "pid": 1, "tid": 1, "ts": 60},
 {"ph": "B", "cat": "cpu_op", "name": "aten::relu", "pid": 1, "tid": 1, "ts": 70},
 {"ph": "E", "pid": 1, "tid": 1, "ts": 80},
 {"ph": "E", "pid": 1, "tid": 1, "ts": 90},
 {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 1, "tid": 1, "ts": 100, "dur": 20}
]}
END
for what in '--from 20us' '--from 60us' '--from 95us' '--steps 6' '--steps @2' '--from 60us --steps 6'; do
    "$OPSCOPE" table steps ends.json $what --format csv --columns step,label,start_ns,total_ns >after 2>/dev/null
    "$OPSCOPE" table steps ends.json $what --max-memory 1G --format csv --columns step,label,start_ns,total_ns >while 2>/dev/null
    echo "$what: $(tail -n +2 while | tr '\n' ' ')"
    cmp after while
done
# Overlapping steps: events in both belong to the first, whether or not it is selected.
cat >overlap.json <<'END'
{"traceEvents": [
 {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#0", "pid": 1, "tid": 1, "ts": 0, "dur": 50},
 {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 2, "ts": 20, "dur": 60},
 {"ph": "X", "cat": "python_function", "name": "main", "pid": 1, "tid": 2, "ts": 1, "dur": 90},
 {"ph": "X", "cat": "cpu_op", "name": "of_0", "pid": 1, "tid": 1, "ts": 30, "dur": 9},
 {"ph": "X", "cat": "cpu_op", "name": "of_1", "pid": 1, "tid": 1, "ts": 60, "dur": 9},
 {"ph": "X", "cat": "cpu_op", "name": "before", "pid": 1, "tid": 2, "ts": 5, "dur": 9},
 {"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": 1, "tid": 2, "ts": 5},
 {"ph": "f", "cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": 1, "tid": 2, "ts": 6}
]}
END
grep -v ProfilerStep overlap.json >none.json
for what in 'overlap.json --steps 1' 'overlap.json --steps @0' 'none.json --steps @0' \
    'overlap.json --steps 1 --from 60us' 'overlap.json --steps 7'; do
    echo "$what:"
    : >after.json
    : >while.json
    "$OPSCOPE" export $what -o after.json 2>after.err
    echo $? "$(grep -o '"ph": *"[A-Za-z]"\|"name": *"[^"]*"' after.json | tr -d '\n')"
    "$OPSCOPE" export $what --max-memory 1G -o while.json 2>while.err
    echo $? "$(cmp after.json while.json && cmp after.err while.err && echo the same)"
done
# Of a selection of steps that are not kept each table that has averages says so. Another rank's is.
for rank in 0 1; do
    cat >tail$rank.json <<END
{"distributedInfo": {"rank": $rank, "world_size": 2}, "traceEvents": [
 {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#0", "pid": 1, "tid": 1, "ts": 0, "dur": 50},
 {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 50, "dur": 50},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 10, "dur": 2, "args": {"correlation": 1}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 60, "dur": 2, "args": {"correlation": $((2 + rank * 3))}},
 {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 20, "dur": 9, "args": {"correlation": 1, "device": 0, "stream": 7}},
 {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 70, "dur": 9, "args": {"correlation": 5, "device": 0, "stream": 7}}
]}
END
done
for table in overview headlines ranks; do
    echo "$table:"
    "$OPSCOPE" table $table tail0.json --steps 1 2>/dev/null | grep 'kept'
done
"$OPSCOPE" tail0.json --steps 1 2>/dev/null | grep -A 3 '^STEP'
"$OPSCOPE" table ranks tail0.json tail1.json --steps 1 2>/dev/null | grep 'kept'
