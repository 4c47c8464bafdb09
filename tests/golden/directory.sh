# SPDX-License-Identifier: Apache-2.0
# A directory is a run: its spans are ordered by number, not as text, its ranks by metadata.
cp "$DATA/small.json" .
mkdir run others
sed 's/"rank": 3/"rank": 1/; s/"ts": 90.0005/"ts": 50/' small.json >run/w1.9.pt.trace.json
sed 's/"rank": 3/"rank": 1/' small.json >run/w1.10.pt.trace.json
sed 's/"rank": 3/"rank": 0/; s/"host_name": "a"/"host_name": "b"/' small.json |
    gzip >run/w0.5.pt.trace.json.gz
gunzip <run/w0.5.pt.trace.json.gz >run/w0.5.pt.trace.json
cp small.json run/not-of-this-run.json
"$OPSCOPE" table threads run
"$OPSCOPE" table threads run --rank 1 --span 2 --format csv
"$OPSCOPE" table events run --limit 1 --columns rank,span,name,start_ns --format csv
"$OPSCOPE" table quality run --format csv --columns rank,span,code,count
"$OPSCOPE" table kernels run --merge --format csv --columns name,calls,total_ns
"$OPSCOPE" info run --merge --format json 2>/dev/null | python3 -c '
import json, sys
print({k: v for k, v in json.load(sys.stdin)[0]["rows"]
       if k in ("ranks", "spans", "devices", "events", "threads", "duration_ns")})'
# Nor does the screen count threads, devices and advice once for each span.
"$OPSCOPE" ./run 2>/dev/null | grep -e threads -e busy: -e ADVICE
cp small.json others/rank-4.json
sed '/distributedInfo/d' small.json >others/rank-5.json
"$OPSCOPE" table threads others --format csv
# JSON names only the selected files.
for options in run 'run --rank 1' others; do
    "$OPSCOPE" table threads $options --format json 2>/dev/null | python3 -c '
import json, sys
print(json.load(sys.stdin)["sources"])'
done
# A run may be in a subdirectory; with several runs, one must be named.
mkdir -p logs/one/inner logs/two
cp run/w1.* logs/one/inner
"$OPSCOPE" table threads logs --format csv
cp run/w0.* logs/two
"$OPSCOPE" table threads logs --format csv
echo "$?" >&2
"$OPSCOPE" table threads logs/one logs/two --format csv
