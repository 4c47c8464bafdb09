// SPDX-License-Identifier: Apache-2.0
// What colours of ranges mean, other than their kind: name, rank, queue, or how long a range took
// against the median of its name.

import type { Timeline } from "../api/api.ts";
import { CELL, type CellPacket } from "../api/packets.ts";
import { blend, parseHex, pixelOf, STEPS } from "../model/colour.ts";

export const MODES = [
  { name: "", title: "kind", legend: "" },
  { name: "name", title: "name", legend: "one colour for each name; some share one" },
  { name: "rank", title: "rank", legend: "one colour for each rank; some share one" },
  { name: "queue", title: "track", legend: "one colour for each track; some share one" },
  {
    name: "duration",
    title: "duration",
    legend: "against the median of the name: grey as long, brown 4 times as long, teal a quarter",
  },
] as const;

/** The pixel colour of the cell at word AT of PACKET on TRACK; null: that of its kind. */
export type Pick = (packet: CellPacket, track: number, at: number) => number | null;

/** What one needs to know of names. */
export interface Names {
  /** The median duration of the name with NUMBER, in ns; null: not known. */
  median(number: number): number | null;
  /** A number from its text; null: it is not there yet. */
  hash(number: number): number | null;
}

const HUES = [
  "kernel",
  "memcpy",
  "memset",
  "communication",
  "runtime",
  "dataloader",
  "cpu_exec",
  "optimizer",
  "module",
  "python",
  "label",
] as const;
/** So many times the median is the full colour, on a logarithmic scale. */
const FULL = 4;

/** -1: a FULLth of the median or less; 0: the median; 1: FULL times or more. */
export function excess(ns: number, median: number): number {
  if (median <= 0 || ns <= 0) return 0;
  return Math.max(-1, Math.min(1, Math.log(ns / median) / Math.log(FULL)));
}

/** How MODE colours cells of TIMELINE; null: by kind. */
export function pickerOf(
  mode: string,
  timeline: Timeline,
  names: Names,
  token: (name: string) => string,
): Pick | null {
  const hues = HUES.map((name) => pixelOf(parseHex(token(name))));
  const hue = (i: number) => hues[i % hues.length]!;
  if (mode === "name")
    return (packet, _, at) => {
      const hash = names.hash(packet.words[at + CELL.name]!);
      return hash === null ? null : hue(Math.floor(hash / STEPS));
    };
  if (mode === "queue") return (_, track) => hue(track);
  if (mode === "rank") {
    const ranks = new Map(
      timeline.tracks.map((track) => [track.id, timeline.traces[track.trace]?.rank ?? 0]),
    );
    return (_, track) => hue(ranks.get(track) ?? 0);
  }
  if (mode !== "duration") return null;
  const [slower, faster, same] = ["slower", "faster", "text-3"].map((name) =>
    pixelOf(parseHex(token(name))),
  );
  return (packet, _, at) => {
    const median = names.median(packet.words[at + CELL.name]!);
    if (median === null || (packet.words[at + CELL.rest]! & 0xffff) > 1) return same!;
    const more = excess(packet.words[at + CELL.length]! * packet.head.unit, median);
    return blend(more > 0 ? slower! : faster!, same!, Math.round(Math.abs(more) * 255));
  };
}
