// SPDX-License-Identifier: Apache-2.0
// Packets of cells for unit tests.

import type { CellPacket } from "./packets.ts";

/** A cell: start and length in ns, event, name, and count | busy << 16 | kind << 24. */
export type FixtureCell = readonly [number, number, number, number, number];

/** An exact packet of WIDTH ns from 0 on; LANES are those of TRACK, each with its cells. */
export function packetOf(
  lanes: readonly (readonly FixtureCell[])[],
  width: number,
  track: number,
): CellPacket {
  const words = Uint32Array.from(lanes.flat(2));
  let first = 0;
  return {
    head: { isExact: true, isCut: false, t0: 0, width, unit: 1, quantum: 1, request: 0 },
    lanes: lanes.map((cells, depth) => {
      first += cells.length;
      return { track, depth, overlaps: false, first: first - cells.length, count: cells.length };
    }),
    n: first,
    words,
    signed: new Int32Array(words.buffer),
    durations: new Map(),
  };
}
