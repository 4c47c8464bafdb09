# SPDX-License-Identifier: Apache-2.0
# Arguments that look almost right are distinguished from right ones.
try()
{
    "$OPSCOPE" "$@"
    echo "$?" >&2
}
try table --max-memory '8 B' x.json
try table --max-memory '8 ' x.json
try table --max-memory 8GiBs x.json
try table --merge -zm x.json
for size in 1g 64M 1.5GiB 67108864; do
    "$OPSCOPE" info --max-memory "$size" "$DATA/demo.pt.trace.json.gz" >/dev/null
done
