// SPDX-License-Identifier: Apache-2.0
// Keys about the selected event, about hits of the search, and about windows that were shown.

import type { Window } from "../api/api.ts";
import { CELL, type CellPacket, type LaneCells } from "../api/packets.ts";
import type { KeyBinding } from "../model/key_list.ts";
import type { Way } from "./neighbours.ts";
import type { TimelineState } from "./timeline_state.ts";

/** What keys do to the page. */
export interface EventDeeds {
  select(event: number): void;
  range(range: Window): void;
  /** Select what lies WAY of the selected event. */
  beside(way: Way): void;
  /** Show Python frames, or leave them out. */
  toggleFrames(): void;
  /** Go to the next hit of the search (1), or to the one before (-1). */
  hit(delta: 1 | -1): void;
  /** Show the window before (-1) or after (1) the one that is shown; false: there is none. */
  window(delta: 1 | -1): boolean;
}

interface Found {
  readonly packet: CellPacket;
  readonly lane: LaneCells;
  /** The cell of the event. */
  readonly i: number;
}

function find(packet: CellPacket | null, event: number): Found | null {
  if (packet === null) return null;
  for (const lane of packet.lanes)
    for (let i = lane.first; i < lane.first + lane.count; i++)
      if (packet.words[i * CELL.words + CELL.event] === event) return { packet, lane, i };
  return null;
}

/** The event DELTA beside EVENT in its lane; null: it is not at hand, or merged with others. */
export function neighbour(packet: CellPacket | null, event: number, delta: 1 | -1): number | null {
  const found = find(packet, event);
  if (found === null) return null;
  const i = found.i + delta;
  const { first, count } = found.lane;
  return i < first || i >= first + count ? null : alone(found.packet.words, i);
}

/** The event that is all of cell I; null: several are. */
function alone(words: Uint32Array, i: number): number | null {
  const at = i * CELL.words;
  return (words[at + CELL.rest]! & 0xffff) === 1 ? words[at + CELL.event]! : null;
}

/** The first event below EVENT, in the next lane of its track; null: there is none at hand. */
export function firstChild(packet: CellPacket | null, event: number): number | null {
  const found = find(packet, event);
  if (found === null) return null;
  const { words, signed, lanes } = found.packet;
  const below = lanes.find(
    (lane) => lane.track === found.lane.track && lane.depth === found.lane.depth + 1,
  );
  if (below === undefined) return null;
  const from = signed[found.i * CELL.words]!;
  const to = from + words[found.i * CELL.words + CELL.length]!;
  for (let i = below.first; i < below.first + below.count; i++) {
    const start = signed[i * CELL.words]!;
    if (start >= to) return null;
    if (start >= from) return alone(words, i);
  }
  return null;
}

function selectIf(event: number | null | undefined, deeds: EventDeeds): boolean {
  if (event === null || event === undefined) return false;
  deeds.select(event);
  return true;
}

function linked(state: TimelineState, ...relations: readonly string[]): number | undefined {
  return state.selected.peek()?.links.find((link) => relations.includes(link.relation))?.event;
}

type EventKey = KeyBinding<{ readonly state: TimelineState; readonly deeds: EventDeeds }>;

/** Select what lies WAY: the cells at hand tell it at once, or else the server. */
function beside(way: Way): EventKey["run"] {
  return ({ state, deeds }) => {
    const selected = state.selected.peek();
    if (selected === null) return false;
    const { cells } = state.fetcher;
    const { event } = selected;
    const found = way === "inside" ? firstChild(cells, event) : neighbour(cells, event, way);
    if (!selectIf(found, deeds)) deeds.beside(way);
    return true;
  };
}

/** Make the time of what is selected the range. */
function commit({ state, deeds }: Parameters<EventKey["run"]>[0]): boolean {
  const selected = state.selected.peek();
  if (selected === null) return false;
  const { from, to } = selected;
  deeds.range({ from, to: Math.max(to, from + 1) });
  return true;
}

function goTo(delta: 1 | -1): EventKey["run"] {
  return ({ deeds }) => deeds.window(delta);
}

function hit(delta: 1 | -1): EventKey["run"] {
  return ({ deeds }) => {
    deeds.hit(delta);
    return true;
  };
}

export const EVENT_KEYS: readonly EventKey[] = [
  { keys: ["ArrowLeft"], does: "select what is before it", run: beside(-1) },
  { keys: ["ArrowRight"], does: "select what is after it", run: beside(1) },
  {
    ...{ keys: ["ArrowUp"], does: "select what is around it" },
    run: ({ state, deeds }) => selectIf(linked(state, "parent"), deeds),
  },
  { keys: ["ArrowDown"], does: "select the first thing in it", run: beside("inside") },
  {
    ...{ keys: ["l"], does: "follow the arrow: from the launch to its work, or back" },
    run: ({ state, deeds }) =>
      selectIf(
        linked(state, "launched", "launched_by", "forward", "leads_to", "comes_from"),
        deeds,
      ),
  },
  { keys: ["m"], does: "make the time of the selection the range", run: commit },
  {
    ...{ keys: ["Enter"], does: "fit the range to the window; without one, that of the selection" },
    run: (on) => {
      const { window, area, selected } = on.state;
      const range = area.peek() ?? selected.peek();
      if (range === null) return false;
      if (area.peek() === null) commit(on);
      window.fit(range.from, range.to);
      return true;
    },
  },
  {
    ...{ keys: ["Shift+Y"], does: "leave Python frames out, or show them again" },
    run: ({ deeds }) => deeds.toggleFrames(),
  },
  { keys: ["h"], does: "dim all that has another name", run: ({ state }) => state.dim() },
  { keys: ["n"], does: "go to the next hit of the search", run: hit(1) },
  { keys: ["Shift+N"], does: "go to the hit before", run: hit(-1) },
  // Where the letter z is at the place of w, as on AZERTY, it zooms.
  { keys: ["z", "Backspace"], does: "go back to the window before", run: goTo(-1) },
  { keys: ["Shift+Z", "Shift+Backspace"], does: "go forward again", run: goTo(1) },
];
