// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { packetOf } from "../api/packets_fixture.ts";
import { firstChild, neighbour } from "./event_keys.ts";

/** Two lanes: 10 [0, 9), 11 [10, 20); below 12 [2, 3), 13 [12, 13). */
const packet = packetOf(
  [
    [
      [0, 9, 10, 0, 1],
      [10, 10, 11, 0, 1],
    ],
    [
      [2, 1, 12, 0, 1],
      [12, 1, 13, 0, 1],
    ],
  ],
  20,
  3,
);

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
