# SPDX-License-Identifier: Apache-2.0
# info and quality on one page, and as an array.
cd "$DATA" || exit 1
"$OPSCOPE" info small.json | sed 's/^\(opscope_version  *\).*/\1VERSION/'
"$OPSCOPE" info small.json --format json | python3 -c '
import json, sys
for table in json.load(sys.stdin):
    print(table["table"], table["sources"], len(table["rows"]), sorted(table))'
"$OPSCOPE" table threads small.json
"$OPSCOPE" table tracks small.json 2>/dev/null
