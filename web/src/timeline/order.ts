// SPDX-License-Identifier: Apache-2.0
// In which order a process has its tracks: as given, by busy time or by name, and then what was
// moved. In the address: the word of the order and moves KEY<KEY (one track above another), with
// commas between them.

import type { Track } from "../api/api.ts";

export type OrderWord = "" | "busy" | "name";

export interface Order {
  readonly word: OrderWord;
  readonly moves: ReadonlyArray<readonly [key: string, above: string]>;
  /** By key of a track: how long it was busy, in ns. */
  readonly busy: ReadonlyMap<string, number>;
}

export function parseOrder(text: string, busy: ReadonlyMap<string, number>): Order {
  const words = text === "" ? [] : text.split(",");
  const word = words.find((one): one is OrderWord => one === "busy" || one === "name") ?? "";
  const moves = words.flatMap((one) => {
    const cut = one.indexOf("<");
    return cut > 0 ? [[one.slice(0, cut), one.slice(cut + 1)] as const] : [];
  });
  return { word, moves, busy };
}

export function formatOrder({ word, moves }: Pick<Order, "word" | "moves">): string {
  const words = moves.map(([key, above]) => `${key}<${above}`);
  return (word === "" ? words : [word, ...words]).join(",");
}

/** MOVES and then KEY above ABOVE; earlier moves of KEY count no more. */
export function withMove(moves: Order["moves"], key: string, above: string): Order["moves"] {
  return key === above ? moves : [...moves.filter(([moved]) => moved !== key), [key, above]];
}

/** Queues of devices first, then threads as they come. */
function isHost(track: Track): number {
  return track.sort === "queue" ? 0 : 1;
}

/** TRACKS, which are of one process, by ORDER; KEYOF and TITLEOF tell of one. */
export function sortTracks(
  tracks: readonly Track[],
  order: Order,
  keyOf: (track: Track) => string,
  titleOf: (track: Track) => string,
): Track[] {
  const busy = (track: Track) => order.busy.get(keyOf(track)) ?? -1;
  const sorted = [...tracks].sort((a, b) => {
    if (order.word === "busy") return busy(b) - busy(a);
    if (order.word === "name") return titleOf(a).localeCompare(titleOf(b), "en", { numeric: true });
    return isHost(a) - isHost(b);
  });
  for (const [key, above] of order.moves) {
    const from = sorted.findIndex((track) => keyOf(track) === key);
    if (from < 0 || !sorted.some((track) => keyOf(track) === above)) continue;
    const [moved] = sorted.splice(from, 1);
    sorted.splice(
      sorted.findIndex((track) => keyOf(track) === above),
      0,
      moved!,
    );
  }
  return sorted;
}
