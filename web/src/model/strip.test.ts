// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../api/cols_fixture.ts";
import {
  countSteps,
  fullHeight,
  hasSteps,
  selectedBars,
  stepBars,
  stepSpans,
  stepsBetween,
  useBars,
} from "./strip.ts";

const steps = frameOf([
  { name: "rank", type: "integer", values: [0n, 0n, 0n, 1n, 1n, 1n] },
  { name: "step", type: "integer", values: [0n, 1n, 2n, 0n, 1n, 2n] },
  { name: "label", type: "string", values: ["5", "6", "7", "5", "6", "7"] },
  { name: "total_ns", type: "integer", unit: "ns", values: [10n, 11n, 12n, 20n, 5n, 6n] },
  { name: "kernel_ns", type: "integer", unit: "ns", values: [1n, 2n, 3n, 4n, 5n, 6n] },
  { name: "outlier", type: "boolean", values: [false, false, false, false, false, true] },
]);

test("a step of several ranks is one bar: that of the rank on which it took longest", () => {
  const bars = stepBars(steps, 10);
  assert.deepEqual(
    bars.map((bar) => [bar.title, bar.height, bar.parts[0]?.size]),
    [
      ["rank 1, step 5: 20\u00a0ns", 20, 4],
      ["rank 0, step 6: 11\u00a0ns", 11, 2],
      ["rank 0, step 7: 12\u00a0ns, an outlier", 12, 3],
    ],
  );
  assert.deepEqual(
    bars.map((bar) => bar.isMarked),
    [false, false, true],
  );
  assert.equal(countSteps(steps), 3);
});

test("spans of steps reach to the last one, however many there are", () => {
  const values = Array.from({ length: 1000 }, (_, i) => BigInt(10 * i));
  const many = frameOf([
    { name: "start_ns", type: "integer", unit: "ns", values },
    { name: "total_ns", type: "integer", unit: "ns", values: values.map(() => 8n) },
  ]);
  const spans = stepSpans(many, 400);
  assert.ok(spans.length <= 400 && spans.length > 300);
  assert.deepEqual(spans[0], { from: 0, to: 28 });
  assert.equal(spans.at(-1)?.to, 9998);
});

test("neighbours share a bar where there are more steps than bars", () => {
  const bars = stepBars(steps, 2);
  assert.deepEqual(
    bars.map((bar) => [bar.first, bar.last, bar.height]),
    [
      ["5", "6", 20],
      ["7", "7", 12],
    ],
  );
  assert.match(bars[0]!.title, /^steps 5 to 6, the longest rank 1, step 5/);
});

test("what --steps selects is shown", () => {
  const bars = stepBars(steps, 10);
  assert.deepEqual(selectedBars(bars, ""), [false, false, false]);
  assert.deepEqual(selectedBars(bars, "6-7"), [false, true, true]);
  assert.deepEqual(selectedBars(bars, "5,7"), [true, false, true]);
  assert.deepEqual(selectedBars(bars, "@0"), [false, false, false]);
  assert.deepEqual(selectedBars(bars, "4"), [false, false, false]);
  assert.deepEqual(selectedBars(stepBars(steps, 2), "6"), [true, false]);
});

test("a trace without steps counts as one", () => {
  const whole = (thread: string | null) =>
    frameOf([
      { name: "step", type: "integer", values: [0n] },
      { name: "thread", type: "string", values: [thread] },
    ]);
  assert.equal(hasSteps(whole(null)), false);
  assert.equal(hasSteps(whole("7")), true);
  assert.equal(hasSteps(steps), true);
});

test("one long step leaves the others to be seen", () => {
  const bars = (heights: number[]) =>
    heights.map((height) => ({ ...stepBars(steps, 10)[0]!, height }));
  assert.equal(fullHeight(bars([1, 1, 100])), 3);
  assert.equal(fullHeight(bars([2, 3, 4])), 4);
  assert.equal(fullHeight(bars([0, 0, 4])), 4);
  assert.equal(fullHeight([]), 1);
});

test("from one step to another is a word of --steps", () => {
  assert.equal(stepsBetween("5", "5"), "5");
  assert.equal(stepsBetween("@1", "@3"), "@1-@3");
});

test("without steps, the use of all devices over time", () => {
  const use = frameOf([
    { name: "device", type: "string", values: ["cuda:0", "cuda:0", "cuda:1"] },
    { name: "start_ns", type: "integer", unit: "ns", values: [0n, 100n, 0n] },
    { name: "dur_ns", type: "integer", unit: "ns", values: [100n, 50n, 100n] },
    { name: "utilization_ratio", type: "number", unit: "ratio", values: [1, 0.25, 0.5] },
  ]);
  assert.deepEqual(
    useBars(use, 10).map((bar) => [bar.first, bar.last, bar.height]),
    [
      ["0", "100", 0.75],
      ["100", "150", 0.25],
    ],
  );
  assert.equal(useBars(use, 1)[0]?.last, "150");
});
