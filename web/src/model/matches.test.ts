// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { matches, nextOutlier, stepBeside } from "./matches.ts";

const steps = ["5", "6", "7", "8"].map((word) => ({
  word,
  isOutlier: word === "6" || word === "8",
}));

test("words match in any order and case", () => {
  assert.ok(matches("table memory_peaks", "PEAK tab"));
  assert.ok(matches("anything", ""));
  assert.ok(!matches("table memory_peaks", "peak step"));
});

test("steps have neighbours, and stop at the ends", () => {
  assert.equal(stepBeside(steps, "6", 1), "7");
  assert.equal(stepBeside(steps, "5", -1), "5");
  assert.equal(stepBeside(steps, "", 1), "5");
  assert.equal(stepBeside(steps, "", -1), "8");
  assert.equal(stepBeside([], "5", 1), "");
});

test("outliers go round", () => {
  assert.equal(nextOutlier(steps, ""), "6");
  assert.equal(nextOutlier(steps, "6"), "8");
  assert.equal(nextOutlier(steps, "8"), "6");
  assert.equal(nextOutlier([{ word: "1", isOutlier: false }], ""), "");
});
