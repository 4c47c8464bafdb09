// SPDX-License-Identifier: Apache-2.0
// Which rows a timeline has: what is folded, pinned and hidden is in the address.

import { useMemo } from "preact/hooks";
import type { Timeline, Track } from "../api/api.ts";
import { useTable } from "../state/answers.ts";
import { toggled, withCount } from "../state/codec.ts";
import type { Side } from "../state/lock.ts";
import { allTimeOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { parseBase } from "../state/url.ts";
import { layOut, trackKey } from "./layout.ts";
import { formatOrder, parseOrder, withMove } from "./order.ts";

const ROWS = { offset: 0, limit: 10000 };

/** Whether a track is one of the queues in PACKED. */
function isIn(packed: Track): (track: Track) => boolean {
  return ({ of, is_packed, sort, trace, process }) =>
    of === "all" &&
    is_packed &&
    sort === "queue" &&
    trace === packed.trace &&
    process === packed.process;
}

function sum(tracks: readonly Track[], busy: ReadonlyMap<string, number>): number {
  return tracks.reduce((ns, track) => ns + (busy.get(trackKey(track)) ?? 0), 0);
}

/** How long each track was busy, by the table of tracks, if ISWANTED. */
function useBusy(timeline: Timeline, isWanted: boolean): ReadonlyMap<string, number> {
  const { place } = usePage();
  const { frame } = useTable(isWanted ? "tracks" : null, allTimeOptions(place.value), ROWS);
  return useMemo(() => {
    const busy = new Map<string, number>();
    if (frame === null) return busy;
    const name = (process: string, thread: string, rank: string) => `${rank}/${process}/${thread}`;
    const found = new Map<string, number>();
    for (let row = 0; row < frame.n; row++) {
      const key = name(
        frame.text(row, "parent"),
        frame.text(row, "thread"),
        frame.text(row, "rank"),
      );
      found.set(key, frame.at(row, "busy_ns") ?? 0);
    }
    const hasRanks = frame.index("rank") >= 0;
    for (const track of timeline.tracks) {
      const rank = hasRanks ? String(timeline.traces[track.trace]?.rank ?? "") : "";
      const parent = track.device ?? track.process;
      const ns = found.get(name(parent, track.thread, rank)) ?? 0;
      if (track.of === "all" || track.of === "no_frames") busy.set(trackKey(track), ns);
    }
    for (const packed of timeline.tracks.filter((track) => track.of === "packed"))
      busy.set(trackKey(packed), sum(timeline.tracks.filter(isIn(packed)), busy));
    return busy;
  }, [frame, timeline]);
}

export function useLayout(timeline: Timeline, side: Side) {
  const page = usePage();
  const place = page.place.value;
  const { fold, hide, pin, only, python, unpack, depth, order: wish } = place;
  const { rank, span } = side === "run" ? place : parseBase(place.cmp);
  const busy = useBusy(timeline, /^busy/.test(wish));
  const order = useMemo(() => parseOrder(wish, busy), [wish, busy]);
  const layout = useMemo(
    () =>
      layOut(timeline, {
        folded: new Set(fold),
        hidden: new Set(hide),
        depths: depth,
        frames: python,
        unpacked: new Set(unpack),
        pinned: new Set(pin),
        filter: only,
        order,
        ranks: rank,
        spans: span,
      }),
    [timeline, fold, hide, pin, only, python, unpack, depth, order, rank, span],
  );
  return {
    layout,
    pinned: new Set(pin),
    change: {
      fold: (key: string) => page.go({ fold: toggled(fold, key) }, "replace"),
      pin: (key: string) => page.go({ pin: toggled(pin, key) }, "replace"),
      hide: (key: string) => page.go({ hide: toggled(hide, key) }, "replace"),
      /** Put the track KEY above another one. */
      move: (key: string, above: string) =>
        page.go(
          { order: formatOrder({ ...order, moves: withMove(order.moves, key, above) }) },
          "replace",
        ),
      /** Let the track KEY show N lanes, or with null as many as any. */
      crop: (key: string, n: number | null) =>
        page.go({ depth: withCount(depth, key, n) }, "replace"),
      showFrames: () => page.go({ python: "on" }, "replace"),
      /** Show the sparse queues of the process KEY one by one, or packed again. */
      unpack: (key: string) => page.go({ unpack: toggled(unpack, key) }, "replace"),
    },
  };
}
