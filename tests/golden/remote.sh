# SPDX-License-Identifier: Apache-2.0
# Traces on servers: files, pages that list them, an object store, and what may go wrong.
"$OPSCOPE" info http://127.0.0.1:1/x.json 2>&1 | grep -q 'without libcurl' && { echo 'opscope was built without libcurl' >&2; exit 77; }
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
export no_proxy='*' AWS_EC2_METADATA_DISABLED=true TMPDIR=$PWD/tmp
mkdir -p site/run/rank_0 site/run/rank_1 "site/other/a & b" tmp
sed 's/"distributedInfo": {[^}]*},\{0,1\}//' "$DATA/small.json" >site/run/rank_0/w.1.pt.trace.json
gzip -c site/run/rank_0/w.1.pt.trace.json >site/run/rank_1/w.1.pt.trace.json.gz
cp site/run/rank_0/w.1.pt.trace.json "site/other/a & b/v+1.pt.trace.json"
echo notes >site/run/notes.txt
python3 "$DATA/../support/remote_server.py" "$PWD/site" "$PWD/port" &
server=$!
trap 'kill $server' EXIT
for _ in $(seq 100); do [ -s port ] && break; sleep 0.1; done
port=$(cat port)
at=http://127.0.0.1:$port
try()
{
    "$OPSCOPE" "$@" 2>&1 | sed "s/$port/PORT/g; s/opscope-remote-....../opscope-remote-XXXXXX/g; s,$PWD,PWD,g; s/after [0-9]* ms/after N ms/"
}
show()
{
    try table threads "$@" --format csv --columns rank,span,thread,events
}
echo "# libraries of servers are loaded when one is asked"
LD_TRACE_LOADED_OBJECTS=1 "$OPSCOPE" | grep -c libcurl
echo "# a file, a directory, all below one"
show "$at/files/run/rank_1/w.1.pt.trace.json.gz"
show "$at/files/run/"
try info --logdir "$at/files/" --format csv
echo
show --logdir "$at/files" --run run
show --logdir_spec "here:$at/files/run,there:$at/files/other" --run "there/a & b"
show "$at/moved.json"
echo "# faults"
for name in none fail page cut round away evil/ files/none/; do
    case $name in */) ;; *) name=$name.json ;; esac
    show "$at/$name"
done
show "http://me:pw@127.0.0.1:$port/private.json"
show "http://me:no@127.0.0.1:$port/private.json"
show "http://me:pw@127.0.0.1:$port/away.json"
show http://127.0.0.1:1/x.json
show s3://
mkdir site/some
cp site/run/rank_0/w.1.pt.trace.json site/some
ln -s nowhere site/some/x.1.pt.trace.json # the page lists it
show "$at/files/some/"
try table quality "$at/files/some/" --format csv --where "code = 'file_failed'"
rm -r site/some
echo "# an object store"
export AWS_ENDPOINT_URL=$at
show s3://traces/run
export AWS_ACCESS_KEY_ID=id AWS_SECRET_ACCESS_KEY=secret AWS_SESSION_TOKEN=token
show s3://traces/run
show "s3://traces/other/a & b/v+1.pt.trace.json"
try info --logdir s3://traces/ --format csv
echo
show s3://traces/nothing/here
show s3://traces/run/none.json
show s3://far/run/x.json
AWS_SECRET_ACCESS_KEY=wrong show s3://traces/run
echo "# interrupted"
(ulimit -f 1 && show "$at/endless.json")
for signal in INT TERM HUP; do
    env -i TMPDIR="$TMPDIR" no_proxy='*' python3 - "$OPSCOPE" "$at/endless.json" "$signal" <<'END'
import os, pathlib, signal, subprocess, sys, time
opscope, url, name = sys.argv[1:]
number = signal.Signals["SIG" + name]
p = subprocess.Popen([opscope, "table", "threads", url], stderr=subprocess.DEVNULL,
                     preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
while p.poll() is None and not any(x.is_file() and x.stat().st_size for x in pathlib.Path(os.environ["TMPDIR"]).rglob("*")):
    time.sleep(0.01)
p.send_signal(number)
print(name, p.wait() == -number)
END
done
ls tmp # nothing is left
find . -name 'evil*' -o -name 'up.json'
