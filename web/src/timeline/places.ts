// SPDX-License-Identifier: Apache-2.0
// Where the lanes of rows are, and what is there. Of a folded track the first lane is lower, and
// the next three are lines; of a folded group the first lanes of its first tracks are lines.

import { CELL, type CellPacket, durationOf } from "../api/packets.ts";
import type { Viewport } from "../model/viewport.ts";
import { LANE_HEIGHT, type Row, type TrackRow } from "./layout.ts";
import { cellAt, type PaintedLane } from "./painter.ts";

/** Between lanes, in CSS pixels as all here. */
const GAP = 2;
const FOLDED_HEIGHT = 10;
const LINE_HEIGHT = 3;

export interface LanePlace {
  readonly track: number;
  readonly depth: number;
  readonly top: number;
  readonly height: number;
  readonly row: Row;
}

/** A cell under the pointer. */
export interface Hit {
  readonly event: number;
  readonly name: number;
  readonly count: number;
  /** How much of it is busy, from 0 to 1. */
  readonly busy: number;
  readonly start: number;
  readonly end: number;
  /** Of a single range how long it is; null: not known. */
  readonly ns: number | null;
  readonly row: TrackRow;
  readonly depth: number;
}

function placesOf(row: Row): LanePlace[] {
  if (row.kind === "series") return [];
  const top = row.y + GAP;
  if (row.kind === "group")
    return row.tracks.map((track, i) => ({
      ...{ track: track.id, depth: 0, row },
      ...{ top: top + i * LINE_HEIGHT, height: LINE_HEIGHT },
    }));
  return Array.from({ length: row.lanes }, (_, depth) => {
    const place = { track: row.track.id, depth, row };
    if (!row.isFolded)
      return { ...place, top: top + depth * LANE_HEIGHT, height: LANE_HEIGHT - GAP };
    if (depth === 0) return { ...place, top, height: FOLDED_HEIGHT };
    return {
      ...place,
      top: top + FOLDED_HEIGHT + (depth - 1) * LINE_HEIGHT,
      height: LINE_HEIGHT,
    };
  });
}

/** The places of all lanes of ROWS. */
export function lanePlaces(rows: readonly Row[]): LanePlace[] {
  return rows.flatMap(placesOf);
}

/** How many lanes of which tracks ROWS show. */
export function lanesOf(rows: readonly Row[]): (readonly [id: number, lanes: number])[] {
  return rows.flatMap((row) => {
    if (row.kind === "track") return [[row.track.id, row.lanes] as const];
    return row.kind === "group" ? row.tracks.map(({ id }) => [id, 1] as const) : [];
  });
}

/** The lanes of PACKET that are at PLACES, SCROLLED down, by RATIO device pixels a pixel. */
export function paintedLanes(
  packet: CellPacket | null,
  places: readonly LanePlace[],
  scrolled: number,
  ratio: number,
  most = LANE_HEIGHT,
): PaintedLane[] {
  if (packet === null) return [];
  const keyOf = ({ track, depth }: { track: number; depth: number }) => track * 1024 + depth;
  const lanes = new Map(packet.lanes.map((lane) => [keyOf(lane), lane]));
  return places.flatMap((place) => {
    const lane = lanes.get(keyOf(place));
    const height = Math.min(most, place.height);
    const y = Math.round((place.top + place.height - height - scrolled) * ratio);
    return lane ? [{ y, height: Math.round(height * ratio), packet, lane }] : [];
  });
}

/** What of PACKET is at pixel X of VIEWPORT and Y of all rows, in ROW. */
export function hitIn(
  packet: CellPacket | null,
  row: Row | undefined,
  viewport: Viewport,
  x: number,
  y: number,
): Hit | null {
  if (packet === null || row?.kind !== "track") return null;
  const place = placesOf(row)
    .filter((one) => one.top <= y)
    .at(-1);
  const lane = packet.lanes.find(
    (l) => place !== undefined && l.track === place.track && l.depth === place.depth,
  );
  if (!lane) return null;
  const t = viewport.t0 + viewport.frac + x * viewport.nsPerPx;
  const i = cellAt(packet, lane, t, viewport.nsPerPx);
  if (i < 0) return null;
  const at = i * CELL.words;
  const start = packet.head.t0 + packet.signed[at]! * packet.head.unit;
  const rest = packet.words[at + CELL.rest]!;
  return {
    event: packet.words[at + CELL.event]!,
    name: packet.words[at + CELL.name]!,
    count: rest & 0xffff,
    busy: ((rest >>> 16) & 255) / 255,
    start,
    end: start + packet.words[at + CELL.length]! * packet.head.unit,
    ns: durationOf(packet, i),
    row,
    depth: lane.depth,
  };
}
