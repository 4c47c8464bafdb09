// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CellPacket } from "../api/packets.ts";
import { firstChild, neighbour } from "./event_keys.ts";

/** Two lanes: 10 [0, 9), 11 [10, 20); below 12 [2, 3), 13 [12, 13). */
const CELLS = [
  [0, 9, 10, 0, 1],
  [10, 10, 11, 0, 1],
  [2, 1, 12, 0, 1],
  [12, 1, 13, 0, 1],
];
const words = Uint32Array.from(CELLS.flat());
const packet: CellPacket = {
  head: { isExact: true, isCut: false, t0: 0, width: 20, unit: 1, quantum: 1, request: 0 },
  lanes: [
    { track: 3, depth: 0, overlaps: false, first: 0, count: 2 },
    { track: 3, depth: 1, overlaps: false, first: 2, count: 2 },
  ],
  n: 4,
  words,
  signed: new Int32Array(words.buffer),
};

test("neighbours are in the same lane", () => {
  assert.equal(neighbour(packet, 10, 1), 11);
  assert.equal(neighbour(packet, 11, -1), 10);
  assert.equal(neighbour(packet, 11, 1), null);
  assert.equal(neighbour(packet, 10, -1), null);
  assert.equal(neighbour(packet, 99, 1), null);
  assert.equal(neighbour(null, 10, 1), null);
});

test("a child is in the next lane and begins within", () => {
  assert.equal(firstChild(packet, 10), 12);
  assert.equal(firstChild(packet, 11), 13);
  assert.equal(firstChild(packet, 12), null);
});
