// SPDX-License-Identifier: Apache-2.0
// Which rows a timeline has: what is folded, pinned and hidden is in the address.

import { useMemo, useState } from "preact/hooks";
import type { Timeline } from "../api/api.ts";
import { useTable } from "../state/answers.ts";
import { allTimeOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { layOut, trackKey } from "./layout.ts";
import { formatOrder, parseOrder, withMove } from "./order.ts";

function words(text: string): Set<string> {
  return new Set(text === "" ? [] : text.split(","));
}

function toggled(text: string, key: string): string {
  const set = words(text);
  if (!set.delete(key)) set.add(key);
  return [...set].join(",");
}

const ROWS = { offset: 0, limit: 10000 };

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
      busy.set(trackKey(track), found.get(name(parent, track.thread, rank)) ?? 0);
    }
    return busy;
  }, [frame, timeline]);
}

export function useLayout(timeline: Timeline) {
  const page = usePage();
  const { fold, hide, pin, only, order: wish } = page.place.value;
  const busy = useBusy(timeline, /^busy/.test(wish));
  const order = useMemo(() => parseOrder(wish, busy), [wish, busy]);
  const [opened, setOpened] = useState("");
  const layout = useMemo(
    () =>
      layOut(timeline, {
        folded: words(fold),
        hidden: words(hide),
        opened: words(opened),
        pinned: words(pin),
        filter: only,
        order,
      }),
    [timeline, fold, hide, pin, only, opened, order],
  );
  return {
    layout,
    pinned: words(pin),
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
      open: (key: string) => setOpened(toggled(opened, key)),
    },
  };
}
