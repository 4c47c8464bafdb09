# SPDX-License-Identifier: Apache-2.0
# Each error is one line with the nearest right word, and status 2.
try()
{
    "$OPSCOPE" "$@"
    echo "$?" >&2
}
: >kernels.txt
try
try tabel
try help inof
try nothing_like_it
try kernels.txt
try --verbose
try table
try table kernels
try table kenrels
try table --fromat csv x.json
try table --format cvs x.json
try table --format
try table --merge=yes x.json
try table -z x.json
try table --sort cpu_sn x.json
try table --sort cpu_ns:up x.json
try table --sort -cpu_ns:asc x.json
try table kernels --columns name,clals x.json
try table kernels --group-by opp x.json
try table threads --group-by op x.json
try table averages --group-by stack:none x.json
try table --limit many x.json
try table --from 5parsecs x.json
try table --from 1.0005us x.json
try table --threads 0 x.json
try table --max-memory lots x.json
try table --rank 3-1 x.json
try table --compat tf x.json
try table --torch 3 x.json
try table --max-name-width -3 x.json
try table kernels --explain totalns
try info
try info --format csv x.json
try info --sort key x.json
try completion tcsh
try table kernels --columns totl x.json
# An option without effect is an error.
try table kernels --header text x.json
try table kernels --top-level x.json
try table events --torch 1.13 x.json
try table operators --max-name-width 9 x.json
try table steps --max-src-width 9 x.json
try table steps --max-shapes-width 9 x.json
try table threads --compat tb x.json
try table --compat tb x.json
try table operators --no-python x.json
try table averages --event 3 x.json
try table kernels --full-names --format csv x.json
try table --header text --format json x.json
try table --top-level --columns name,calls x.json
try table --no-python --format csv missing.json
try table --group-by shape --columns name,calls missing.json
try table kernels --full-names --columns name missing.json
try table kernels --merge --limit 3 --format csv missing.json
# Stores that are not read say what to do instead.
try gs://bucket/run
try table steps gs://bucket/run/w.pt.trace.json
try view --logdir gs://bucket/logs
try info hdfs://name/logs
try table kernels az://container/logs
try diff abfss://c@account.dfs.core.windows.net/a x.json
try table steps "gs://bucket/$(printf 'a%.0s' $(seq 300))"
