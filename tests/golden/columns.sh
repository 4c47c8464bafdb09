# SPDX-License-Identifier: Apache-2.0
# Columns: as a cache of a trace, several traces in one file, and the effects of damage.
cp "$DATA/small.json" t.json
"$OPSCOPE" export t.json -o t.osc
for table in events steps kernels threads flows; do
    "$OPSCOPE" table $table t.json -f csv >a
    "$OPSCOPE" table $table t.osc -f csv | cmp - a && echo "same $table"
    "$OPSCOPE" table $table - -f csv <t.osc | cmp - a && echo "same $table by a pipe"
done
"$OPSCOPE" info t.osc | head -n 3
"$OPSCOPE" export t.osc -o t.osc
echo "status $?"
"$OPSCOPE" export t.osc -o again.json && "$OPSCOPE" export t.json -o direct.json && cmp again.json direct.json &&
    echo "same JSON"

echo "--- several in one file"
cp t.json later.json
"$OPSCOPE" export t.json later.json -o run.osc
"$OPSCOPE" table overview run.osc --columns span,category,avg_ns -f csv | grep step
"$OPSCOPE" table overview run.osc --span 2 --columns category,avg_ns -f csv | grep step
"$OPSCOPE" table overview - -f csv <run.osc
echo "status $?"

echo "--- damage"
# The payload of the first column of events follows the first header of type 64.
python3 - <<'END'
import struct
data = bytearray(open("t.osc", "rb").read())
at = 64
while struct.unpack_from("<H", data, at + 4)[0] != 64:
    at += 64 + (struct.unpack_from("<Q", data, at + 8)[0] + 63) // 64 * 64
data[at + 64] ^= 1
open("bad.osc", "wb").write(data)
open("cut.osc", "wb").write(data[:at + 100])
open("stub.osc", "wb").write(data[:200])
END
for file in bad cut stub; do
    "$OPSCOPE" table quality $file.osc --columns severity,code,count -f csv | grep -E 'code|error'
done
"$OPSCOPE" table events cut.osc -f csv
"$OPSCOPE" info --verify bad.osc | cut -d: -f1 | sed 's/[0-9][0-9]* to [0-9]*/A to B/'

# Compressed, as a file and in a directory, with a table longer than the part that is read first.
"$OPSCOPE" export "$DATA/small.json" -o small.osc 2>/dev/null
gzip -k small.osc
mkdir packed
mv small.osc.gz packed/
"$OPSCOPE" table events packed/small.osc.gz --format csv | cksum
"$OPSCOPE" table events packed --format csv | cksum
"$OPSCOPE" export small.osc -o other.osc.gz
"$OPSCOPE" export small.osc -o other.csv.gz
ls other* 2>/dev/null

# Without arguments, as with JSON; also exported without them.
"$OPSCOPE" table events small.osc --no-args --format csv --columns name,value,args
"$OPSCOPE" export small.osc --no-args -o bare.osc 2>/dev/null
"$OPSCOPE" table events bare.osc --format csv --columns name,value,args | cksum
"$OPSCOPE" table events small.osc --no-args --format csv --columns name,value,args | cksum
