# SPDX-License-Identifier: Apache-2.0
# export --redact: what stays of a trace, and that nothing else does.
event() { # NAME TS DUR
    echo '{"ph": "X", "cat": "user_annotation", "name": "'"$1"'", "pid": 1, "tid": 1, "ts": '"$2"', "dur": '"$3"'},'
}
mkdir -p "al smith"
{
    echo '{"host_name": "node17", "traceEvents": ['
    for step in 0 1 2; do
        event "ProfilerStep#$step" "${step}000" 1000
        event "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__" "${step}000" 900
    done
    event phase1/forward 10 1
    event '/home/al smith/train.py(3): f' 20 1
    echo '{"ph": "i", "s": "t", "name": "end", "pid": 1, "tid": 1, "ts": 2990}]}'
} >"al smith/node17 a.json"
"$OPSCOPE" export "al smith/node17 a.json" --redact -o - -f csv -t advice | grep -o 'opscope table.*json' | head -n 1
"$OPSCOPE" export "al smith/node17 a.json" --redact -o - -f csv -t events | cut -d, -f5-9 | sort -u
