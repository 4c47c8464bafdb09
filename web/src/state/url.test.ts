// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formatBase,
  formatPlace,
  formatRange,
  HOME,
  parseBase,
  parsePlace,
  parseRange,
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
