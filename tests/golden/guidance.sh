# SPDX-License-Identifier: Apache-2.0
# A message says how to continue: what exists, the right order, the command to type.
cp "$DATA/small.json" .
: >empty.txt
try()
{
    "$OPSCOPE" "$@"
    echo "$?" >&2
}
try table kernels --explain nothing_like_it
try table x.json kernels
try table kernels steps x.json
try table kernels ./empty.txt ./steps
try --hlp
try help hlep
try table threads small.json --rank 3 --span 2
try table threads small.json ./small.json --rank 4
for word in help --help -h; do "$OPSCOPE" help "$word" | head -n 1; done
"$OPSCOPE" table threads - <small.json
"$OPSCOPE" table threads small.json ./small.json --merge
# Names of files cannot control a terminal either.
try table threads $'no\e[31m\nsuch.json'
# The command in the last line can be typed.
cp small.json "a b's.json"
try table threads "a b's.json"
# A folder in a directory is not a trace, whatever its name.
mkdir -p run/folder.json
cp small.json run
try table threads run
# Something that some ranks lack is looked up in the others.
mkdir ranks
for pid in 10 20; do
    echo '{"distributedInfo": {"rank": '$pid'}, "traceEvents": [
        {"ph":"X","cat":"user_annotation","name":"ProfilerStep#'$pid'","pid":'$pid',"tid":'$pid',"ts":1,"dur":9}]}' >ranks/$pid.json
done
for selection in '--process 20' '--thread 10' '--steps 20' '--steps 30' '--steps 20-30' '--steps 30-20' '--device cuda:0'; do
    "$OPSCOPE" table events ranks $selection --format csv --columns rank,name
    echo "$?" >&2
done
# The message guesses what was meant from what was typed.
try kernels small.json
try table foo --explain name
try table --list foo
try table '' small.json
try info ''
try table -sort name small.json
try table --json small.json
try table --top 3 small.json
try table --from 2us --to 1us small.json

# No option of PyTorch is proposed to users of other programs.
echo '{"viztracer_metadata": {}, "traceEvents": [{"ph": "X", "cat": "FEE", "name": "f", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]}' >viz.json
for table in memory memory_curve memory_peaks memory_live memory_events modules "modules --group-by line"; do
    "$OPSCOPE" table $table viz.json --format json | grep -o '"notes": \[[^]]*\]'
done
