# SPDX-License-Identifier: Apache-2.0
# Input or output that fails: a sentence, status 1, nothing on standard output.
cp "$DATA/small.json" .
try()
{
    "$OPSCOPE" "$@"
    echo "$?" >&2
}
: >empty.json
mkdir none runs
echo hello >none/readme.txt
cp small.json runs/a.json
echo 'not a trace' >runs/b.json
try table missing.json
try table ./kernels
try table empty.json
gzip -nc small.json | head -c 40 >cut.json.gz
try table cut.json.gz
try info none
try table threads - </dev/null
try table threads small.json --rank 7
try table threads runs --format csv
try table threads runs/a.json runs/b.json
try table threads runs/a.json >/dev/full
try --help >/dev/full
try table threads runs/a.json >&-
# Pipes that nobody writes, where a recording has files: they are not waited for.
mkdir -p pipes/a.osc.live pipes/b.osc.live
mkfifo pipes/a.osc.live/blocks pipes/b.osc.live/strings pipes/c.json
try info pipes
try info pipes/a.osc.live
try info --logdir pipes
