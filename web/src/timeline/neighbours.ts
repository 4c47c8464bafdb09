// SPDX-License-Identifier: Apache-2.0
// The event beside another one in its lane, or the first one in it, wherever it is: asked of the
// server where the cells at hand do not have it.

import type { Api, Track, Window } from "../api/api.ts";
import { CELL, type CellPacket, type LaneCells } from "../api/packets.ts";
import type { Selected } from "./arrows.ts";
import type { Row } from "./layout.ts";

/** The way to go: before, after, or inside. */
export type Way = -1 | 1 | "inside";

const PIXELS = 1000;
/** A window grows so many times until something is in it. */
const GROWTH = 16;
/** So often a merged cell is looked into; each time it is a thousandth as wide. */
const MOST_LOOKS = 8;

type Tracks = ReadonlyArray<readonly [id: number, lanes: number]>;

export interface Search {
  readonly api: Api;
  readonly run: string;
  /** Of the timeline that has the tracks. */
  readonly fingerprint: string;
  /** All of the time. */
  readonly whole: Window;
  /** The tracks in which the event can be. */
  readonly tracks: Tracks;
}

/** Whether an event of TRACK can be in ONE, too. */
export function canHave(one: Track, track: Track): boolean {
  const isHere = one.trace === track.trace && one.process === track.process;
  return isHere && (one.thread === track.thread || one.of === "packed");
}

/** The tracks of ROWS in which an event of TRACK can be. */
export function tracksOf(rows: readonly Row[], track: Track): Tracks {
  return rows.flatMap((row) =>
    row.kind === "track" && canHave(row.track, track)
      ? [[row.track.id, row.track.lanes] as const]
      : [],
  );
}

function ask(search: Search, tracks: Tracks, window: Window, pixels: number): Promise<CellPacket> {
  const { fingerprint } = search;
  const question = { fingerprint, window, pixels, isExact: true, request: 0 };
  return search.api.cells(search.run, tracks, question);
}

interface Cell {
  readonly event: number;
  readonly count: number;
  readonly from: number;
  readonly to: number;
}

function cellsOf(packet: CellPacket, lane: LaneCells | undefined): Cell[] {
  const { words, signed, head } = packet;
  return Array.from({ length: lane?.count ?? 0 }, (_, k) => {
    const at = (lane!.first + k) * CELL.words;
    const from = head.t0 + signed[at]! * head.unit;
    const to = from + words[at + CELL.length]! * head.unit;
    return { event: words[at + CELL.event]!, count: words[at + CELL.rest]! & 0xffff, from, to };
  });
}

/** The lanes of the selected event: a track may have a second one, without Python frames. */
export async function lanesWith(
  search: Search,
  { event, from }: Pick<Selected, "event" | "from">,
): Promise<LaneCells[]> {
  const packet = await ask(search, search.tracks, { from, to: from + 1 }, 1);
  return packet.lanes.filter((lane) => cellsOf(packet, lane).some((cell) => cell.event === event));
}

/** The first event in WINDOW of a lane, or with isLast the last one, but for SELECTED. */
async function nearest(
  search: Search,
  lane: { track: number; depth: number },
  window: Window,
  selected: Selected,
  isLast: boolean,
): Promise<number | null> {
  const tracks = [[lane.track, lane.depth + 1]] as const;
  let found: Cell | undefined;
  for (let look = 0; look < MOST_LOOKS; look++) {
    const packet = await ask(search, tracks, window, PIXELS);
    const here = packet.lanes.find((one) => one.depth === lane.depth);
    const others = cellsOf(packet, here).filter((cell) => cell.event !== selected.event);
    const cell = others.at(isLast ? -1 : 0);
    if (cell === undefined) break;
    found = cell;
    if (cell.count === 1 || window.to - window.from <= 1) break;
    window = { from: cell.from, to: Math.max(cell.to, cell.from) + packet.head.unit };
  }
  return found?.event ?? null;
}

/** The event that lies WAY of the selected one; null: there is none. */
export async function findBeside(
  search: Search,
  selected: Selected,
  way: Way,
): Promise<number | null> {
  const [lane] = await lanesWith(search, selected);
  const { from, to } = selected;
  if (lane === undefined) return null;
  if (way === "inside") {
    const below = { track: lane.track, depth: lane.depth + 1 };
    return to > from ? nearest(search, below, { from, to }, selected, false) : null;
  }
  const end = way > 0 ? search.whole.to + 1 : search.whole.from;
  for (let width = Math.max(PIXELS, to - from); ; width *= GROWTH) {
    const window =
      way > 0
        ? { from: from + 1, to: Math.min(end, from + 1 + width) }
        : { from: Math.max(end, from - width), to: from };
    if (window.to <= window.from) return null;
    const event = await nearest(search, lane, window, selected, way < 0);
    if (event !== null || window.to === end || window.from === end) return event;
  }
}
