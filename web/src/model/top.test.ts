// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../api/cols_fixture.ts";
import { rowOfLargest, scaleOf, sumOf, sumsBy, topOf } from "./top.ts";

const frame = frameOf([
  { name: "name", type: "string", values: ["a", "b", "c", "d"] },
  { name: "ns", type: "integer", unit: "ns", values: [2n ** 60n, 5n, null, 2n ** 60n + 1n] },
  { name: "mean", type: "number", values: [0.5, 4, null, 1] },
  { name: "tc", type: "boolean", values: [true, false, null, true] },
]);

test("a frame has what was put into it", () => {
  assert.equal(frame.text(2, "name"), "c");
  assert.equal(frame.value(3, frame.index("ns")), 2n ** 60n + 1n);
  assert.equal(frame.value(2, frame.index("mean")), null);
  assert.equal(frame.value(1, frame.index("tc")), false);
});

test("sums of integers are exact, and leave out what is missing", () => {
  assert.equal(sumOf(frame, "ns"), 2n ** 61n + 6n);
  assert.equal(sumOf(frame, "ns", 1, 3), 5n);
  assert.equal(sumOf(frame, "mean"), 5.5);
});

test("what is not shown is summed as other", () => {
  const top = topOf(frame, ["ns", "absent", "mean"], 2);
  assert.deepEqual([top.n, top.nOther, top.sums.length], [2, 2, 2]);
  assert.equal(top.sums[0]?.other, 2n ** 60n + 1n);
  assert.equal(top.sums[1]?.other, 1);
  assert.equal(top.sums[1]?.largest, 4);
  assert.equal(topOf(frame, ["ns"], 10).sums[0]?.other, 0n);
});

test("words have sums, the missing one too", () => {
  const sums = sumsBy(frame, "mean", "tc");
  assert.deepEqual(
    [...sums],
    [
      ["true", 1.5],
      ["false", 4],
    ],
  );
  assert.equal(sumsBy(frame, "ns", "tc").get("true"), 2n ** 61n + 1n);
});

test("the largest value has a row", () => {
  assert.equal(rowOfLargest(frame, "mean"), 1);
  assert.equal(rowOfLargest(frame, "absent"), -1);
});

test("other sets the scale while rows can be seen beside it", () => {
  const sums = (largest: number, largestRow: number) => ({
    ...{ column: "ns", unit: "ns", total: 0n, other: 0n },
    ...{ largest, largestRow },
  });
  assert.equal(scaleOf(sums(150, 100)), 150);
  assert.equal(scaleOf(sums(25_453, 441)), 441);
  assert.equal(scaleOf(sums(150, 100), true), 100);
  assert.equal(scaleOf(sums(150, 0)), 150);
});
