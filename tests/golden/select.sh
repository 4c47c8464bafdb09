# SPDX-License-Identifier: Apache-2.0
# A selection is the same whether it is made while loading (--max-memory asks for
# that) or afterwards.
# What is left keeps the numbers of its steps.
trace=$DATA/demo.pt.trace.json.gz
for what in '--steps 3-4' '--steps @2' '--from 20ms' '--thread 19423 --to 20ms'; do
    echo "$what"
    "$OPSCOPE" table steps "$trace" $what --format csv --columns step,label,start_ns 2>/dev/null
    "$OPSCOPE" table events "$trace" $what --format csv --columns step 2>/dev/null | sort -u | tail -n 3 | tr '\n' ' '
    echo
done
for what in '--steps 3-4' '--steps @1' '--from 20ms --to 60ms' '--from 9s' '--to 5ms'; do
    for table in averages operators steps threads; do
        "$OPSCOPE" table $table "$trace" $what --format csv >after 2>after.err
        "$OPSCOPE" table $table "$trace" $what --max-memory 1G --format csv >while 2>while.err
        cmp -s after while && echo "$what $table: the same, $(wc -l <after) lines"
    done
done
