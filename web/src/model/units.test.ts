// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { format, formatIn, unitFor } from "./units.ts";

test("a column has the unit of its largest value", () => {
  assert.equal(unitFor("ns", true, 142_461_000).label, "ms");
  assert.equal(formatIn(401, unitFor("ns", true, 142_461_000)), "0.000");
  assert.equal(formatIn(22_804_123, unitFor("ns", true, 142_461_000)), "22.804");
  assert.equal(unitFor("ns", true, 999).label, "ns");
  assert.equal(unitFor("bytes", true, 2 ** 20).label, "MiB");
});

test("digits are grouped, and minus is a minus", () => {
  assert.equal(format(12346, null), "12\u202f346");
  assert.equal(format(-21_200_000, "ns"), "\u221221.200\u00a0ms");
  assert.equal(format(-0.00001, null, false), "0.000");
  assert.equal(format(0.4417, "ratio", false), "44.2\u00a0%");
});
