# SPDX-License-Identifier: Apache-2.0
# Every form of one small trace: exact for programs, readable for people.
cp "$DATA/small.json" .
for form in text csv json md; do
    "$OPSCOPE" table events small.json --format $form | sed "s/opscope [0-9][0-9.]*/opscope VERSION/; s/\"opscope\": \"[^\"]*\"/\"opscope\": VERSION/"
done
"$OPSCOPE" table kernels small.json --columns name,calls,total_ns 2>/dev/null
"$OPSCOPE" table kernels small.json --columns name,calls,total_ns --full-names 2>/dev/null
