# SPDX-License-Identifier: Apache-2.0
# Log directories: their runs, workers and spans, what is left out, and how to choose a run.
sed 's/"distributedInfo": {[^}]*},\{0,1\}//' "$DATA/small.json" >plain.json
grep -c '"rank"' plain.json
mkdir -p log/fast log/deep/er log/vllm/rank_0 log/vllm/rank_10 log/torchrun/attempt_0/0 \
    log/torchrun/attempt_0/1 log/lightning/version_0 log/plain log/empty log/none
put()
{
    cp plain.json "$1"
}
put log/fast/worker0.1623143089861.pt.trace.json
put log/fast/worker0.1623143566756.pt.trace.json
gzip -c plain.json >log/fast/worker1.999.pt.trace.json.gz
put log/fast/worker1.1000.pt.trace.json
put log/deep/er/node1_26008.1760000000000000000.pt.trace.json
put log/vllm/rank_0/host_4711.1.pt.trace.json
put log/vllm/rank_10/host_4712.1.pt.trace.json
put log/torchrun/attempt_0/0/trace.json
put log/torchrun/attempt_0/1/trace.json
echo '{"message": {"error": "none"}}' >log/torchrun/attempt_0/1/error.json
put log/lightning/version_0/fit-perf-0.5.pt.trace.json
put log/lightning/version_0/fit-perf-1.5.pt.trace.json
put log/plain/trace_rank3.json
: >log/empty/w.1.pt.trace.json
echo notes >log/fast/notes.txt
cp log/fast/worker1.1000.pt.trace.json log/fast/x.json
ln -s .. log/deep/up
ln -s self log/self
mkdir "log/odd
name"
put "log/odd
name/w,1.pt.trace.json"
"$OPSCOPE" info --logdir log
"$OPSCOPE" info log --format csv --limit 3
echo
"$OPSCOPE" table threads --logdir log
echo "$?" >&2
"$OPSCOPE" table threads log
echo "$?" >&2
"$OPSCOPE" table threads --logdir log --run fasd
echo "$?" >&2
"$OPSCOPE" table threads --logdir log --run empty
echo "$?" >&2
"$OPSCOPE" table threads --logdir log/none
echo "$?" >&2
"$OPSCOPE" table threads --logdir nowhere
echo "$?" >&2
"$OPSCOPE" table threads --logdir_spec :log
echo "$?" >&2
# One run needs no choice; of several --run chooses one, also in directories that are operands.
"$OPSCOPE" table threads --logdir log/deep/er --format csv
for run in fast vllm torchrun/attempt_0 lightning/version_0 plain; do
    echo "$run"
    "$OPSCOPE" table threads --logdir log --run "$run" --format csv --columns rank,span,thread
done
"$OPSCOPE" table threads log --run fast --merge --format csv
"$OPSCOPE" table threads --logdir_spec a:log/fast,b:log/vllm --run b --columns rank,events --format csv
"$OPSCOPE" info --logdir_spec a:log/fast,log/vllm,c:log/lightning --format csv
echo
"$OPSCOPE" table quality --logdir log --run fast --format csv --columns rank,code,count --where "code like 'f%'"
"$OPSCOPE" info --logdir log --run vllm --merge --format json | python3 -c '
import json, sys
for table in json.load(sys.stdin):
    print(table["table"], table["notes"] if table["table"] != "info" else "")
    if table["table"] == "runs":
        print(*table["rows"], sep="\n")'
"$OPSCOPE" export --logdir log --run plain -o plain.osc
"$OPSCOPE" info --verify --logdir log --run plain
(cd log/plain && "$OPSCOPE" table threads --logdir . --format csv)
# New files are found when the command runs again; one that has just begun is no failure.
head -c 3 plain.json >log/plain/trace_rank4.json
head -c 20 log/fast/worker1.999.pt.trace.json.gz >log/plain/trace_rank5.json.gz
put log/plain/trace_rank6.json
"$OPSCOPE" table threads log/plain --format csv --columns rank,thread
echo "$?" >&2
"$OPSCOPE" table quality log/plain --format csv --columns rank,code,count,message --where "code like 'file%'"
# Files of one rank and span that may be copies.
mkdir twice
put twice/a.pt.trace.json
put twice/b.pt.trace.json
put twice/c_17.pt.trace.json
"$OPSCOPE" table quality twice --format csv --columns code,count,message --where "code = 'same_rank'"
