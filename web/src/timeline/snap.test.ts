// SPDX-License-Identifier: Apache-2.0
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { CELL, type CellPacket } from "../api/packets.ts";
import { Viewport } from "../model/viewport.ts";
import { edgeNear } from "./snap.ts";

/** A packet of one lane a track, with cells from start to end. */
function packetOf(tracks: ReadonlyArray<ReadonlyArray<readonly [number, number]>>): CellPacket {
  const cells = tracks.flat();
  const words = new Uint32Array(cells.length * CELL.words);
  for (const [i, [from, to]] of cells.entries()) {
    words[i * CELL.words] = from;
    words[i * CELL.words + CELL.length] = to - from;
  }
  let first = 0;
  const lanes = tracks.map((some, track) => {
    const lane = { track, depth: 0, overlaps: false, first, count: some.length };
    first += some.length;
    return lane;
  });
  const head = { t0: 1000, unit: 1, width: 1000, quantum: 1, isExact: true, isCut: false };
  return { head, lanes, n: cells.length, words, signed: new Int32Array(words.buffer) } as never;
}

test("the nearest edge within six pixels is taken, of one track or of all", () => {
  const packet = packetOf([
    [
      [0, 100],
      [200, 300],
    ],
    [[103, 150]],
  ]);
  const viewport = new Viewport(1000, 0, 1);
  const near = (x: number, track: number | null) => edgeNear(packet, viewport, x, track);
  deepEqual(
    [near(98, 0), near(105, 0), near(107, 0), near(102, null), near(206, 0), near(207, 0)],
    [1100, 1100, null, 1103, 1200, null],
  );
});
