// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { both, compareNumber, compareText } from "./funnel.ts";
import { unitFor } from "./units.ts";

test("numbers are in the unit of the column", () => {
  assert.equal(compareNumber("dur_ns", ">=", "1.5", unitFor("ns", true, 2e6)), "dur_ns >= ms(1.5)");
  assert.equal(compareNumber("dur_ns", "<=", "7", unitFor("ns", true, 7)), "dur_ns <= 7");
  assert.equal(compareNumber("x", "=", "2", unitFor("bytes", true, 2 ** 21)), "x = mib(2)");
  assert.equal(compareNumber("r", ">=", "50", unitFor("ratio", false, 1)), "r >= 50 / 100.0");
  assert.equal(compareNumber("calls", ">=", "many", unitFor(null, true, 3)), "");
});

test("texts are contained, matched or whole", () => {
  assert.equal(compareText("name", "it's", false), "name like '%it''s%'");
  assert.equal(compareText("name", "/^a|b$/", false), "name regexp '^a|b$'");
  assert.equal(compareText("name", "add_", false), "name like '%add\\_%' escape '\\'");
  assert.equal(compareText("name", "mm", true), "name = 'mm'");
  assert.equal(compareText("name", "", true), "");
});

test("a filter more narrows what is there", () => {
  assert.equal(both("", "a = 1"), "a = 1");
  assert.equal(both("a = 1 or b", "c"), "(a = 1 or b) and c");
});
