# SPDX-License-Identifier: Apache-2.0
# Tables that compare ranks: who is late, a collective that some never reach, clocks that differ.
# Prints events of rank $1, whose clock is $2 us ahead and which comes $3 us late, to
# collectives $4 to $5.
events() {
    n=$4
    while [ "$n" -le "$5" ]; do
        at=$((1000000000 + n * 10000 + $2))
        echo '{"ph":"X","cat":"user_annotation","name":"ProfilerStep#'$n'","pid":9,"tid":1,
            "ts":'$((at - 4000))',"dur":9900},
        {"ph":"X","cat":"cpu_op","name":"aten::embedding","pid":9,"tid":1,"ts":'$((at - 3000))',
            "dur":'$((2000 + $3))'},
        {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":1,
            "ts":'$((at + $3))',"dur":5,"args":{"correlation":'$n'}},
        {"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)","pid":'$1',
            "tid":7,"ts":'$((at + 10 + $3))',"dur":'$((3200 - $3))',"args":{"correlation":'$n',
            "Collective name":"allreduce","Process Group Name":"0","dtype":"Float",
            "Process Group Ranks":"[0, 1, 2, 3]","Group size":4,"Seq":'$n',
            "In msg nelems":250000,"Out msg nelems":250000}},'
        n=$((n + 1))
    done
}
mkdir run
rank() {
    { echo '{"distributedInfo": {"rank": '$1', "world_size": 4}, "host_name": "host'$1'",
        "traceEvents": ['
    events "$@"
    echo '{"ph":"i","s":"t","name":"end","pid":9,"tid":1,"ts":'$((1000090000 + $2))'}]}'
    } >"run/rank$1.json"
}
# Rank 1 is 1500 us late; ranks 2 and 3 never reach the last collective; rank 3 is an hour ahead.
rank 0 0 0 1 6
rank 1 0 1500 1 6
rank 2 7 5 1 5
rank 3 3600000000 10 1 5
t() { "$OPSCOPE" table "$@" 2>/dev/null; echo; }
for table in ranks rank_stats rank_overlap rank_wait collectives collective_calls stragglers; do
    t $table run
done
t ranks run --columns rank,clock_offset_ns,clock_error_ns,clock_drift_ppm --format csv
t rank_wait run --compat tb
t collective_calls run --rank 0,2 --where "group = '0' and missing_ranks is not null"
t stragglers run/rank0.json
t stragglers "$DATA/small.json"
# Parts of ranks give the same, in any order.
"$OPSCOPE" table stragglers run/rank3.json run/rank1.json --partial -o a.part
(umask 022 && chmod 600 run/rank2.json &&
    "$OPSCOPE" table stragglers run/rank0.json run/rank2.json --partial -o b.part)
stat -c %a b.part # as private as what it is made of
"$OPSCOPE" merge b.part a.part >merged 2>/dev/null
"$OPSCOPE" table stragglers run 2>/dev/null | cmp - merged && echo the same
# Rank 1 is late from step 3 on; that it came a little later than the other before is chance.
mkdir since
cp run/rank0.json since
{ echo '{"distributedInfo": {"rank": 1, "world_size": 4}, "traceEvents": ['
    events 1 0 20 1 2
    events 1 0 1500 3 6
    echo '{"ph":"i","s":"t","name":"end","pid":9,"tid":1,"ts":1000090000}]}'
} >since/rank1.json
t stragglers since --columns rank,times_last,since_step --format csv
"$OPSCOPE" ./run 2>/dev/null | grep -A 3 LATE
"$OPSCOPE" info run 2>/dev/null | tail -3
t advice run --merge --where "code = 'communication'" --columns text --format csv
# A kernel that makes a rank late is folded in the sentence, too.
for n in 0 1 2 3; do
    sed -i 's/"cat":"cpu_op","name":"aten::embedding","pid":9,"tid":1/"cat":"kernel","name":"_ZN1n4fillIfEEvi","pid":'$n',"tid":7/' run/rank$n.json
done
"$OPSCOPE" ./run 2>/dev/null | grep -A 2 LATE
# The sizes and types of inputs are those of one range.
cat >inputs.json <<'END'
{"traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "gloo:broadcast", "pid": 9, "tid": 1, "ts": 0, "dur": 9,
 "args": {"Input type": ["float"], "Input Dims": [[4]]}},
{"ph": "X", "cat": "cpu_op", "name": "c10d::allreduce_", "pid": 9, "tid": 1, "ts": 1, "dur": 7,
 "args": {"Input type": []}},
{"ph": "X", "cat": "user_annotation", "name": "gloo:all_reduce", "pid": 9, "tid": 1, "ts": 2, "dur": 5,
 "args": {"Input Dims": [[1000]]}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 1, "ts": 3, "dur": 1,
 "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20, "dur": 5,
 "args": {"correlation": 1, "Collective name": "allreduce"}}]}
END
t collective_calls inputs.json --columns name,dtype,bytes --format csv
# Of ranks whose files are cut nothing is said of what they lack.
mkdir cut
for n in 0 1; do
    printf '{"distributedInfo": {"rank": %s, "world_size": 2}, "traceEvents": [\n' $n
    for step in 0 1 2; do
        printf '{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%s", "pid": %s, "tid": 1, "ts": %s0, "dur": 9},\n' $step $n $step
    done
    printf '{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": %s, "tid": 1, "ts": 1, "dur": 9}]}\n' $n
done | tee both | head -n 5 >cut/rank0.json
tail -n 5 both | grep -v '#2' >cut/rank1.json
t quality cut --columns rank,code --format csv --where "code in ('uneven_steps', 'truncated')"
tail -n 5 both | head -n 3 >cut/rank1.json
t quality cut --columns rank,code --format csv --where "code in ('uneven_steps', 'truncated')"
