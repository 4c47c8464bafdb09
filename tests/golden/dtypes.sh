# SPDX-License-Identifier: Apache-2.0
# --group-by dtype: a row for each list of types, alone and with shapes and stacks.
op() { printf '{"ph":"X","cat":"cpu_op","name":"aten::%s","pid":1,"tid":1,"ts":%s,"dur":%s,"args":{%s}}' "$@"; }
half='"Input type": ["c10::BFloat16", "Scalar", ""]' float='"Input type": ["float","Scalar",""]'
{
    echo '{"record_shapes": 1, "traceEvents": ['
    op add 0 8 "$float, \"Input Dims\": [[2, 3], [], []], \"Call stack\": \"a.py(1): f\"" && echo ,
    op add 10 7 "$float, \"Input Dims\": [[4], [], []], \"Call stack\": \"b.py(2): g\"" && echo ,
    op add 20 5 "$half, \"Input Dims\": [[4], [], []], \"Call stack\": \"a.py(1): f\"" && echo ,
    op cat 30 3 '"Input type": ["TensorList", "Scalar"], "Input Dims": [[[1], [2]], []]' && echo ,
    op empty 40 2 '"Input type": [""], "Input Dims": [[]]' && echo ,
    op none 50 1 '"Input type": [], "Input Dims": []'
    echo ']}'
} >typed.json
t() { "$OPSCOPE" table "$@" 2>&1 || echo "exit $?"; echo; }
t operators typed.json --group-by dtype --columns name,input_dtypes,calls,host_self_ns
t operators typed.json --group-by shape,dtype --columns name,input_shape,input_dtypes,calls --format csv
t operators typed.json --group-by dtype,stack --columns name,input_dtypes,call_stack,calls --format csv
t operators typed.json --group-by dtype --where "input_dtypes LIKE '%BFloat16%'" --columns name,calls
t averages typed.json --group-by dtype
t averages typed.json --group-by dtype --max-shapes-width 16 --limit 2
t averages typed.json --group-by dtype,stack:1 --columns name,input_dtypes,stack,calls
t averages typed.json --group-by dtype,shape --columns name,input_dtypes,input_shapes,calls --format md
# A trace without types has no such column; with one that has them, its rows lack them.
echo '{"traceEvents": [' "$(op add 0 8 '')" ']}' >plain.json
t operators plain.json --group-by dtype --format csv
t averages plain.json --group-by dtype --columns name,calls
mkdir ranks
for rank in 0 1; do
    sed "s/{/{\"distributedInfo\": {\"rank\": $rank},/" "$([ $rank = 0 ] && echo plain.json || echo typed.json)" |
        sed "s/\"distributedInfo\": {\"rank\": $rank},\"ph\"/\"ph\"/" >ranks/$rank.json
done
t operators ranks --group-by dtype --merge --columns name,input_dtypes,calls --format csv
t operators typed.json --group-by type
t kernels typed.json --group-by dtype
true
