// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Series } from "../api/api.ts";
import { decodeValues, type ValuePacket } from "../api/packets.ts";
import { Viewport } from "../model/viewport.ts";
import { drawValues, freeTop, rangesLeftOf, stepsOf } from "./curves.ts";
import { type SeriesRow, seriesTitle } from "./layout.ts";

type Sample = [at: number, least: number, most: number, value: number];

/** The bytes of one series from T0 on, in units of 2 ns, as the server packs them. */
function packetOf(t0: number, width: number, samples: readonly Sample[]): ValuePacket {
  const view = new DataView(new ArrayBuffer(48 + 16 + 16 * samples.length));
  view.setUint32(0, 0x5643534f, true);
  view.setUint16(4, 1, true);
  view.setBigInt64(8, BigInt(t0), true);
  view.setUint8(16, 1);
  view.setUint32(20, 1, true);
  view.setUint32(24, samples.length, true);
  view.setBigInt64(32, BigInt(width), true);
  view.setUint32(48, 7, true);
  view.setUint32(60, samples.length, true);
  for (const [i, [at, ...values]] of samples.entries()) {
    view.setInt32(64 + 16 * i, at, true);
    for (const [k, value] of values.entries()) view.setFloat32(68 + 16 * i + 4 * k, value, true);
  }
  return decodeValues(view.buffer as ArrayBuffer);
}

const packet = packetOf(1000, 200, [
  [0, 0, 0, 0],
  [10, 0, 1, 0.25],
  [20, 1, 1, 1],
]);

test("a mean holds until the next one, and to the end of the packet", () => {
  const view = { viewport: Viewport.fit(1000, 1400, 400), width: 400 };
  assert.deepEqual(stepsOf(packet, packet.series[0]!, view), [
    { from: 0, to: 20, value: 0 },
    { from: 20, to: 40, value: 0.25 },
    { from: 40, to: 200, value: 1 },
  ]);
});

test("means that are out of sight are left out", () => {
  const view = { viewport: Viewport.fit(1030, 1060, 300), width: 300 };
  assert.deepEqual(stepsOf(packet, packet.series[0]!, view), [
    { from: 0, to: 100, value: 0.25 },
    { from: 100, to: 300, value: 1 },
  ]);
});

test("a text stands where its curve is not, if there is such a place", () => {
  const series = packet.series[0]!;
  const at = (ns: number) => (i: number) => [0, 20, 40][i]! - ns;
  const y = (value: number) => 30 - 27 * value; // in a row 36 high
  const ranges = (ns: number, right: number) =>
    rangesLeftOf(packet, series, right, { x: at(ns), y });
  assert.deepEqual(ranges(0, 15), [
    [30, 30],
    [30, 30],
  ]);
  // From the first sample on it is at 0, then jumps to 1 and ends at 0.25.
  assert.deepEqual(ranges(0, 30), [
    [30, 30],
    [30, 30],
    [3, 30],
    [23.25, 23.25],
  ]);
  // What is left of the edge is not there.
  assert.deepEqual(ranges(45, 30), [[3, 3]]);
  const tops = [2, 13, 23] as const;
  const top = (ns: number, right: number) => freeTop([...tops], ranges(ns, right));
  assert.equal(top(0, 15), 2);
  assert.equal(top(45, 30), 13);
  assert.equal(top(0, 30), 2);
  const two = [3, 15].map((y) => [y, y] as const);
  assert.equal(freeTop([...tops], two), 23);
});

/** A context that notes with which corners and how wide each line was drawn. */
function notingContext() {
  let state = { lineJoin: "miter", lineWidth: 1 };
  const kept: (typeof state)[] = [];
  const lines: (typeof state)[] = [];
  const does: Record<string, unknown> = {
    save: () => kept.push({ ...state }),
    restore: () => {
      state = kept.pop()!;
    },
    stroke: () => lines.push({ ...state }),
    measureText: () => ({ width: 20 }),
  };
  const context = new Proxy({} as CanvasRenderingContext2D, {
    get: (_, name) => does[String(name)] ?? (() => {}),
    set: (_, name, value) => {
      Object.assign(state, { [name]: value });
      return true;
    },
  });
  return { context, lines };
}

test("a curve is drawn alike the first time and each time after", () => {
  const { context, lines } = notingContext();
  const series = { id: 7, sort: "allocated", capacity_bytes: null } as unknown as Series;
  const row = { kind: "series", series, y: 0, height: 30 } as unknown as SeriesRow;
  const view = { viewport: Viewport.fit(1000, 1400, 400), width: 400 };
  const colours = { line: "blue", text: "black", muted: "grey", ground: "white" };
  for (let i = 0; i < 2; i++) drawValues(context, packet, row, 0, view, colours);
  assert.equal(lines.length, 2);
  assert.deepEqual(lines[1], lines[0]);
});

test("values of a device are called after it", () => {
  const series = (sort: Series["sort"], device: string | null): Series => ({
    ...{ id: 0, trace: 0, process: "1", name: "queue", key: "depth", capacity_bytes: null },
    sort,
    device,
  });
  assert.equal(seriesTitle(series("utilization", "cuda:0")), "utilization of cuda:0");
  assert.equal(seriesTitle(series("sm_efficiency", "cuda:1")), "SM efficiency of cuda:1");
  assert.equal(seriesTitle(series("allocated", "cuda:0")), "memory of cuda:0");
  assert.equal(seriesTitle(series("counter", null)), "queue: depth");
});
