// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { Viewport } from "./viewport.ts";

const DAY = 86_400_000_000_000;

test("zooming keeps the time under the pointer", () => {
  let v = Viewport.fit(0, 1e9, 1000);
  const t = v.time(300);
  for (let i = 0; i < 90; i++) v = v.zoom(300, 1.3);
  assert.equal(v.nsPerPx, 1 / 64);
  assert.ok(Math.abs(v.x(t) - 300) <= 64);
  for (let i = 0; i < 90; i++) v = v.zoom(300, 1 / 1.3);
  assert.ok(Math.abs(v.x(t) - 300) < 1);
});

test("the closest zoom is steady a hundred days after the origin", () => {
  const t0 = 100 * DAY + 12345;
  let v = new Viewport(t0, 0, 1 / 64);
  assert.equal(v.x(t0 + 3), 192);
  for (let i = 0; i < 64; i++) v = v.pan(1);
  assert.equal(v.t0, t0 + 1);
  assert.equal(v.frac, 0);
});

test("a window that was fitted is that window", () => {
  for (const width of [3, 777, 1060])
    for (const to of [100, 23_123_101, 9_007_199_254])
      assert.deepEqual(Viewport.fit(7, to, width).window(width, 0), { from: 7, to });
  assert.deepEqual(Viewport.fit(0, 100, 10).pan(0.25).window(10, 0), { from: 2, to: 103 });
});

test("the viewport stays at the trace", () => {
  const v = Viewport.fit(0, 1000, 100).zoom(50, 0.001).clamp(0, 1000, 100);
  assert.equal(v.nsPerPx, 20);
  const far = Viewport.fit(0, 1000, 100).pan(1e6).clamp(0, 1000, 100);
  assert.ok(far.x(1000) >= 0 && far.x(0) <= 100);
});
