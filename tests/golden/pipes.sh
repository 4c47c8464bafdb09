# SPDX-License-Identifier: Apache-2.0
# Who reads may leave early; a trace may come from standard input.
cp "$DATA/small.json" .
"$OPSCOPE" table events small.json --format csv | true
"$OPSCOPE" table threads - --format csv <small.json
gzip -c small.json | "$OPSCOPE" table threads - --format csv
{ for ((i = 0; i < 100000; i++)); do
      echo '{"ph":"X","name":"a name that is not short","pid":1,"tid":1,"ts":'$i',"dur":1}'
      [ $i -lt 99999 ] && echo ,
  done | (echo '['; cat; echo ']'); } >many.json
"$OPSCOPE" table events many.json --format csv | head -n 1
echo "${PIPESTATUS[0]}"
"$OPSCOPE" table events many.json --format csv | wc -l
"$OPSCOPE" table events many.json 2>/dev/null | tail -n 1
