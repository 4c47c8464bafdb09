// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatRange, parseRange } from "./codec.ts";
import {
  FRESH,
  formatBase,
  formatPlace,
  HOME,
  PLAIN_TABLE,
  parseBase,
  parsePlace,
  WHOLE_RUN,
} from "./url.ts";

test("a place survives its fragment", () => {
  const place = {
    ...HOME,
    view: "operators",
    fp: "9f3a",
    steps: "5-7",
    q: "/conv|mm/ & <b>",
    sort: "-host_self_ns",
    other: [["x", "1"]] as const,
  };
  assert.deepEqual(parsePlace(formatPlace(place)), place);
});

test("defaults are left out, and the order is fixed", () => {
  assert.equal(formatPlace(HOME), "#/overview?v=1");
  assert.equal(formatPlace(parsePlace("#/trace?steps=1&run=a")), "#/trace?v=1&run=a&steps=1");
});

test("what cannot be read is the default", () => {
  assert.deepEqual(parsePlace("#/<script>?%%%"), { ...HOME, other: [["%%%", ""]] });
  assert.equal(parsePlace("").view, "overview");
});

test("ranges are integers with a length", () => {
  assert.deepEqual(parseRange("100+50"), { from: 100, to: 150 });
  assert.deepEqual(parseRange("-5 7"), { from: -5, to: 2 });
  for (const wrong of ["", "1", "1+0", "1.5+3", "9007199254740993+1", "a+b"])
    assert.equal(parseRange(wrong), null);
  assert.equal(formatRange({ from: -5, to: 2 }), "-5+7");
  assert.equal(formatRange(null), "");
});

test("the base of a comparison may have a rank and a span of its own", () => {
  assert.deepEqual(parseBase("a:b"), { run: "a:b", rank: "", span: "" });
  assert.deepEqual(parseBase("a:b:0,2-3:1"), { run: "a:b", rank: "0,2-3", span: "1" });
  for (const text of ["", "a", "a:0:", "a::2", "a:b:1:1"])
    assert.equal(formatBase(parseBase(text)), text);
});

test("what another view, table or run takes back is in the schema", () => {
  assert.deepEqual(PLAIN_TABLE, { q: "", where: "", by: "", sort: "", cols: "" });
  assert.deepEqual(WHOLE_RUN, { rank: "", span: "", process: "", steps: "", t: null, sel: "" });
  for (const key of ["sel", "table", "q", "hide", "chart", "cols"]) assert.ok(key in FRESH, key);
  for (const key of ["fp", "run", "rank", "t", "w", "pin", "notes", "view", "other"])
    assert.ok(!(key in FRESH), key);
});

test("an address has each value as before, in a fixed order", () => {
  const text =
    "#/trace?v=1&fp=9&run=a&cmp=b:0:1&rank=0&span=1&process=7&steps=1-2&t=1+2&w=-5+7&sel=ev:3" +
    "&table=x&q=%2Fa%2F&where=a&by=b&sort=-c&merge=on&opts=limit:5&device=e&top=5&stack=op&metric=m" +
    "&order=o&root=r&priority=p&length=annotation&kept=all&shut=2&chart=pies&cols=g&pin=a,b" +
    "&hide=c&fold=d&python=on&unpack=e&depth=f:3&only=i&thread=1/2&area=kinds&clock=wall" +
    "&flow=all&color=name&ghost=off&lock=start&notes=1%7Ex&later=2";
  const place = parsePlace(text);
  assert.deepEqual(place.pin, ["a", "b"]);
  assert.deepEqual(place.w, { from: -5, to: 2 });
  assert.equal(
    formatPlace(place),
    text.replace("%2Fa%2F", "/a/").replace("t=1+2", "t=1%2B2").replace("w=-5+7", "w=-5%2B7"),
  );
  assert.equal(parsePlace("#/trace?lock=nothing").lock, "");
});
