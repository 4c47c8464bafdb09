# SPDX-License-Identifier: Apache-2.0
# info and quality on one page, and as an array.
scratch=$PWD
cd "$DATA" || exit 1
"$OPSCOPE" info small.json | sed 's/^\(opscope_version  *\).*/\1VERSION/'
"$OPSCOPE" info small.json --format json | python3 -c '
import json, sys
for table in json.load(sys.stdin):
    print(table["table"], table["sources"], len(table["rows"]), sorted(table))'
"$OPSCOPE" table threads small.json
"$OPSCOPE" table tracks small.json 2>/dev/null
cd "$scratch" || exit 1
# Pages of metadata are one short line for people, one line in Markdown, whole in CSV.
python3 -c '
print("{\"deviceProperties\": [" + ",".join("\n  {\"id\": %d, \"name\":\t\"A \\u001b100\"}" % i for i in range(9)) +
      "\n],\"traceEvents\":[]}")' >long.json
for form in text md csv; do
    "$OPSCOPE" table info long.json --format $form 2>/dev/null | grep -A1 deviceProperties
done
