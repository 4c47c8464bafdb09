// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../api/cols_fixture.ts";
import { besideMedian } from "./median_step.ts";

const frame = frameOf([
  { name: "rank", type: "integer", values: [0n, 0n, 0n, 0n, 1n] },
  { name: "step", type: "integer", values: [0n, 1n, 2n, 3n, 0n] },
  { name: "label", type: "string", values: ["5", "6", "7", "8", "5"] },
  { name: "start_ns", type: "integer", values: [0n, 10n, 21n, 50n, 3n] },
  { name: "total_ns", type: "integer", values: [10n, 11n, 29n, 1n, 500n] },
  { name: "kept", type: "boolean", values: [true, true, true, false, true] },
]);

test("the median is a kept step of the same rank", () => {
  assert.deepEqual(besideMedian(frame, "7"), {
    step: { word: "7", from: 21, to: 50 },
    median: { word: "6", from: 10, to: 21 },
  });
});

test("the median step has no ghost, nor has what is no step", () => {
  assert.deepEqual(besideMedian(frame, "6"), {
    step: { word: "6", from: 10, to: 21 },
    median: null,
  });
  assert.equal(besideMedian(frame, "9"), null);
});
