# SPDX-License-Identifier: Apache-2.0
# What torch would print and nothing else is on standard output; all notes are on standard error.
mkdir two
for rank in 0 1; do
    echo '{"distributedInfo": {"rank": '$rank'}, "traceEvents": [
        {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":9}]}' >two/$rank.json
done
echo '{"traceEvents": [{"ph":"X","cat":"x","name":"other","pid":1,"tid":1,"ts":1,"dur":9}]}' >none.json
t() { echo "\$ opscope table $*"; echo "\$ opscope table $*" >&2; "$OPSCOPE" table "$@"; }
t two
t --merge two
t --header 'the header' two
t averages --sort cuda_time_total two/0.json
t none.json
t --columns name none.json
t none.json two
