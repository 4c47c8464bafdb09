// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { peakOwners } from "./peak.ts";
import { thin } from "./thin.ts";

test("a thin curve keeps its ends, its order, and the extremes of each part", () => {
  const n = 10_000;
  const x = Float64Array.from({ length: n }, (_, i) => i);
  const y = Float64Array.from({ length: n }, (_, i) => (i * 7919) % 1009);
  y[5003] = 1e6;
  y[77] = -1e6;
  const t = thin({ x, y }, 100);
  assert.ok(t.x.length <= 4 * 101 && t.x.length > 100);
  assert.deepEqual([t.x[0], t.x[t.x.length - 1]], [0, n - 1]);
  assert.ok(t.x.every((v, i) => i === 0 || v > t.x[i - 1]!));
  assert.equal(t.y[t.x.indexOf(5003)], 1e6);
  assert.equal(t.y[t.x.indexOf(77)], -1e6);
  for (let part = 0; part < 99; part++) {
    const all = y.slice(part * 100, part * 100 + 99);
    const here = t.y.filter((_, i) => t.x[i]! >= part * 100 && t.x[i]! < part * 100 + 100);
    assert.ok(Math.max(...here) >= Math.max(...all));
  }
});

test("a curve of few points, or at one time, stays", () => {
  const curve = { x: Float64Array.of(1, 2, 3), y: Float64Array.of(5, 4, 3) };
  assert.equal(thin(curve, 100), curve);
  const same = { x: new Float64Array(1000).fill(7), y: new Float64Array(1000) };
  assert.ok(thin(same, 10).x.length <= 4);
});

test("the owners of a peak are read, and what is none is left out", () => {
  assert.deepEqual(peakOwners('[{"operator": "a", "bytes": 5, "count": 1}, {"x": 1}]'), [
    { operator: "a", bytes: 5, count: 1 },
  ]);
  assert.deepEqual(peakOwners(""), []);
  assert.deepEqual(peakOwners("{}"), []);
});
