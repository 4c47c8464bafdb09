// SPDX-License-Identifier: Apache-2.0
// Edges of events near a pixel: a range that is dragged begins and ends with events, not beside them.

import { CELL, type CellPacket } from "../api/packets.ts";
import type { Viewport } from "../model/viewport.ts";

/** Edges are taken from so many pixels away. */
export const SNAP_PIXELS = 6;

/**
 * The start or end of a cell of PACKET that is nearest to pixel X, of TRACK or, without, of all;
 * null: none is within SNAP_PIXELS.
 */
export function edgeNear(
  packet: CellPacket,
  viewport: Viewport,
  x: number,
  track: number | null,
): number | null {
  let found: number | null = null;
  let least = SNAP_PIXELS;
  const { t0, unit } = packet.head;
  const take = (time: number) => {
    const away = Math.abs(viewport.x(time) - x);
    if (away > least || (away === least && found !== null)) return;
    found = time;
    least = away;
  };
  for (const lane of packet.lanes) {
    if (track !== null && lane.track !== track) continue;
    for (let i = lane.first; i < lane.first + lane.count; i++) {
      const at = i * CELL.words;
      const start = t0 + packet.signed[at]! * unit;
      take(start);
      take(start + packet.words[at + CELL.length]! * unit);
    }
  }
  return found;
}
