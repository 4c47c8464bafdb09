// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CellPacket } from "../api/packets.ts";
import { makePalette } from "../model/colour.ts";
import { Viewport } from "../model/viewport.ts";
import { cellAt, paint } from "./painter.ts";

type Cell = [start: number, length: number, count: number, busy: number];

function packetOf(cells: readonly Cell[], unit = 1): CellPacket {
  const words = new Uint32Array(cells.length * 5);
  for (const [i, [start, length, count, busy]] of cells.entries())
    words.set([start >>> 0, length, i, 0, (count | (busy << 16) | (1 << 24)) >>> 0], i * 5);
  return {
    head: { isExact: true, isCut: false, t0: 0, width: 0, unit, quantum: 1, request: 0 },
    lanes: [{ track: 0, depth: 0, overlaps: false, first: 0, count: cells.length }],
    n: cells.length,
    words,
    signed: new Int32Array(words.buffer),
    durations: new Map(),
  };
}

const palette = makePalette(["", "kernel"], (name) => (name === "bg" ? "#ffffff" : "#000000"));

function paintCells(cells: readonly Cell[], viewport: Viewport, width = 20, ratio = 1): number[] {
  const packet = packetOf(cells);
  const pixels = new Uint32Array(width * 4);
  const lane = { y: 0, height: 4, packet, lane: packet.lanes[0]! };
  paint({ pixels, width, height: 4, ratio }, viewport, [lane], palette, () => 0);
  assert.deepEqual(pixels.subarray(0, width), pixels.subarray(width, 2 * width));
  return Array.from(pixels.subarray(0, width), (p) => 255 - (p & 255));
}

test("lines of the grid are behind the cells, not over them", () => {
  const packet = packetOf([[2, 6, 1, 255]]);
  const lane = { y: 1, height: 3, packet, lane: packet.lanes[0]! };
  for (const ratio of [1, 2]) {
    const width = 20 * ratio;
    const paintOn = (grid: readonly number[]) => {
      const pixels = new Uint32Array(width * 4);
      const surface = { pixels, width, height: 4, ratio, grid };
      paint(surface, new Viewport(0, 0, 1), [lane], palette, () => 0);
      return pixels;
    };
    const [with_, without] = [paintOn([5, 12.2]), paintOn([])];
    for (const [i, pixel] of with_.entries()) {
      const x = Math.floor((i % width) / ratio);
      const isLine = without[i] === palette.ground && (x === 5 || x === 12);
      assert.equal(pixel, isLine ? palette.grid : without[i], `${i} at a ratio of ${ratio}`);
    }
    assert.equal(with_[5 * ratio], palette.grid, "above the cell there is a line");
    assert.notEqual(with_[width + 5 * ratio], palette.grid, "it does not cross the cell");
  }
});

test("a range covers its pixels, and at least one", () => {
  const ink = paintCells(
    [
      [2, 2, 1, 255],
      [10, 0, 1, 255],
    ],
    new Viewport(0, 0, 1),
  );
  assert.deepEqual(
    ink.map((v) => v > 0),
    Array.from({ length: 20 }, (_, x) => x === 2 || x === 3 || x === 10),
  );
});

test("with two pixels for one of the page all is twice as wide, also what is narrower than one", () => {
  const cells: Cell[] = [
    [1, 6, 1, 255],
    [7, 2, 1, 255],
    [10, 0, 1, 255],
  ];
  const view = new Viewport(0, 0, 1);
  const ink = paintCells(cells, view);
  assert.deepEqual(
    paintCells(cells, view, 40, 2),
    ink.flatMap((v) => [v, v]),
  );
});

test("merged cells are pale, but never invisible", () => {
  const ink = paintCells(
    [
      [0, 1, 9, 0],
      [5, 1, 9, 200],
      [9, 1, 1, 0],
    ],
    new Viewport(0, 0, 1),
  );
  assert.ok(ink[0]! > 60 && ink[0]! < 120);
  assert.ok(ink[5]! > ink[0]! && ink[5]! < 255);
  assert.equal(ink[9], 255);
});

test("what is outside is cut", () => {
  const ink = paintCells(
    [
      [-5, 8, 1, 255],
      [18, 50, 1, 255],
    ],
    new Viewport(0, 0, 1),
  );
  assert.ok(ink[0]! > 0 && ink[1]! > 0 && ink[4] === 0 && ink[18]! > 0);
  assert.ok(paintCells([[0, 5, 1, 255]], new Viewport(100, 0, 1)).every((v) => v === 0));
});

test("a cell is found where it is drawn", () => {
  const packet = packetOf([
    [0, 10, 1, 255],
    [12, 0, 1, 255],
    [20, 5, 1, 255],
  ]);
  const lane = packet.lanes[0]!;
  assert.equal(cellAt(packet, lane, 5, 1), 0);
  assert.equal(cellAt(packet, lane, 12, 1), 1);
  assert.equal(cellAt(packet, lane, 15, 1), -1);
  assert.equal(cellAt(packet, lane, 22, 1), 2);
  assert.equal(cellAt(packet, lane, 40, 1), -1);
});
