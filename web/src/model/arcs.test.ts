// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { arcsOf } from "./arcs.ts";

test("parts of a ring are as large as their values", () => {
  const arcs = arcsOf([1, 0, 3]);
  assert.deepEqual(
    arcs.map((arc) => arc.share),
    [0.25, 0, 0.75],
  );
  assert.ok(arcs[0]!.x > 0 && arcs[0]!.y < 0, "the first is at the right, above");
  assert.ok(arcs[2]!.path.includes(" 0 1 1 "), "more than half is the long way round");
  assert.ok(arcs[0]!.path.startsWith("M0.00000 -1.00000A1 1 0 0 1 1.00000"));
});

test("one part is a ring, and nothing is nothing", () => {
  assert.equal(arcsOf([5])[0]!.share, 1);
  assert.ok(!arcsOf([5])[0]!.path.includes("NaN"));
  assert.ok(!arcsOf([0, 0])[0]!.path.includes("NaN"));
});
