// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { Viewport } from "../model/viewport.ts";
import { cutTo } from "./labels.ts";
import { tickStep, ticks, wallTime } from "./ruler.ts";

test("marks are at round times and far enough from each other", () => {
  for (const nsPerPx of [1 / 64, 0.3, 1, 17, 4321, 1e6]) {
    const step = tickStep(nsPerPx);
    assert.ok(step / nsPerPx >= 90 && step >= 1, `${nsPerPx}: ${step}`);
    assert.match(String(step), /^[125]0*$/);
  }
});

test("far from the origin the labels are differences", () => {
  const far = ticks(new Viewport(8_640_000_000_000, 0, 10), 1000);
  assert.match(far[1]!.label, /^\+/);
  assert.doesNotMatch(ticks(new Viewport(0, 0, 10), 1000)[1]!.label, /^\+/);
});

test("no two marks read alike", () => {
  for (const [t0, nsPerPx] of [
    [4_539_000_123, 900],
    [0, 1 / 64],
    [86_400_000_000_000, 2e6],
  ] as const) {
    const labels = ticks(new Viewport(t0, 0, nsPerPx), 1000).map((tick) => tick.label);
    assert.equal(new Set(labels).size, labels.length, labels.join(" "));
  }
});

test("texts are cut at their end", () => {
  const measure = (text: string) => text.length;
  assert.equal(cutTo("aten::add", 9, measure), "aten::add");
  assert.equal(cutTo("aten::add", 5, measure), "aten…");
  assert.equal(cutTo("aten::add", 1, measure), "");
});

test("marks count from a step or are those of the wall clock", () => {
  const view = new Viewport(1_000_000, 0, 1000);
  const step = ticks(view, 1000, { origin: 1_030_000, unix: null });
  assert.deepEqual([step[0]!.time, step[0]!.label], [1_030_000, "0\u00a0ns"]);
  const unix = 1_700_000_000_000_000_123n;
  const wall = ticks(view, 1000, { origin: 0, unix });
  assert.equal(wall[0]!.label, "22:13:20.0011");
  assert.equal((unix + BigInt(wall[0]!.time)) % 100_000n, 0n);
  assert.equal(wallTime(unix, 5_000_000_000, 1e9), "22:13:25");
  assert.equal(wallTime(unix, 0, 1), "22:13:20.000000123");
});
