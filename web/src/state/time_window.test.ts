// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { LedWindow, Lock } from "./lock.ts";
import { TimeWindow } from "./time_window.ts";

const whole = { from: 0, to: 1_000_000 };
const first = { from: 0, to: 500_000 };
const at = (from: number, to: number) => ({ from, to });

function made(start: { from: number; to: number } | null = null, hasStep = false): TimeWindow {
  return new TimeWindow(whole, first, start, hasStep);
}

test("what is shown at first is no window of the address, whatever the width", () => {
  const window = made();
  assert.equal(window.window, null);
  for (const width of [1000, 700, 1300]) {
    window.resize(width);
    assert.equal(window.window, null);
    assert.deepEqual(window.viewport.window(width, 0), first);
  }
  window.pan(100);
  assert.notEqual(window.window, null);
  window.showWindow(null);
  assert.equal(window.window, null);
});

test("a window stays what it is when the width changes, a fitted one with its margin", () => {
  const window = made(at(100, 300));
  window.resize(1000);
  window.resize(500);
  assert.deepEqual(window.window, at(100, 300));
  window.fit(1000, 3000);
  assert.deepEqual(window.window, at(900, 3100));
  window.resize(1000);
  assert.deepEqual(window.window, at(900, 3100));
  window.pan(10);
  const panned = window.window;
  window.resize(400);
  assert.deepEqual(window.window, panned);
});

test("what is asked for before there is a screen is shown as soon as there is one", () => {
  const window = made();
  window.fit(1000, 3000);
  window.resize(1000);
  assert.deepEqual(window.window, at(900, 3100));
  const other = made();
  other.reveal(700_000, 700_100);
  other.resize(1000);
  const { from, to } = other.window!;
  assert.ok(from < 700_000 && to > 700_100);
});

test("what is in sight and wide enough stays where it is", () => {
  const window = made();
  window.resize(1000);
  window.reveal(1000, 2000);
  assert.equal(window.window, null);
  window.reveal(1000, 1010); // less than a pixel
  assert.equal(window.window!.to - window.window!.from, 3000);
});

test("a step is brought into sight when it changes; the window of a link wins over its step", () => {
  const window = made(at(5, 10_005), true);
  window.resize(1000);
  window.bring(null);
  window.bring(at(2000, 4000));
  assert.deepEqual(window.window, at(5, 10_005));
  window.bring(at(20_000, 40_000));
  assert.deepEqual(window.window, at(19_000, 41_000));
  window.pan(300);
  const panned = window.window;
  window.bring(at(20_000, 40_000)); // more of a recording came, the step is the same
  assert.deepEqual(window.window, panned);
});

test("a step that is selected later is brought into sight, whatever was looked at before", () => {
  const window = made(at(5, 10_005));
  window.resize(1000);
  window.bring(null);
  window.bring(at(20_000, 40_000));
  assert.deepEqual(window.window, at(19_000, 41_000));
});

test("two timelines have one window, which both move", () => {
  const lock = new Lock();
  const base = new LedWindow({ from: 0, to: 1_000_000 }, first, lock);
  base.resize(1000);
  const run = made(at(1000, 3000));
  lock.leader.value = run;
  run.resize(1000);
  lock.gap.value = 500;
  assert.deepEqual(base.viewport.window(1000, 0), at(1500, 3500));
  base.pan(100);
  assert.deepEqual(run.window, at(1200, 3200));
  assert.deepEqual(base.viewport.window(1000, 0), at(1700, 3700));
  base.resize(800); // a size is no move
  assert.deepEqual(run.window, at(1200, 3200));
});
