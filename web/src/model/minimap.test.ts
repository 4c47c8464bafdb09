// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../api/cols_fixture.ts";
import { deviceLanes } from "./minimap.ts";

/** A row for each of N devices in each of M parts of the time; device I is I / N busy. */
function utilization(n: number, m: number) {
  const rows = Array.from({ length: n * m }, (_, i) => ({
    device: i % n,
    part: Math.floor(i / n),
  }));
  return frameOf([
    { name: "device", type: "string", values: rows.map(({ device }) => `cuda:${device}`) },
    { name: "start_ns", type: "integer", values: rows.map(({ part }) => part * 10) },
    { name: "dur_ns", type: "integer", values: rows.map(() => 10) },
    { name: "utilization_ratio", type: "number", values: rows.map(({ device }) => device / n) },
  ]);
}

test("each device has a lane, and all of the time is there", () => {
  const lanes = deviceLanes(utilization(2, 10), 8, 4);
  assert.equal(lanes.length, 2);
  assert.deepEqual(
    lanes.map((bars) => [bars[0]?.from, bars.at(-1)?.to, bars.length, bars[0]?.use]),
    [
      [0, 100, 4, 0],
      [0, 100, 4, 0.5],
    ],
  );
});

test("of many devices neighbours share a lane", () => {
  const lanes = deviceLanes(utilization(16, 1), 8, 4);
  assert.equal(lanes.length, 8);
  assert.equal(lanes[7]?.[0]?.use, (14 + 15) / 2 / 16);
  assert.deepEqual(deviceLanes(utilization(1, 0), 8, 4), []);
});
