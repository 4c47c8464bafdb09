// SPDX-License-Identifier: Apache-2.0
// What keys about events do to the page.

import type { Timeline, Window } from "../api/api.ts";
import { formatRange, parseRange } from "../state/codec.ts";
import { goToHit } from "../state/hits.ts";
import type { Lock } from "../state/lock.ts";
import { type PageState, usePage } from "../state/session.ts";
import type { TimeWindow } from "../state/time_window.ts";
import type { WindowHistory } from "../state/window_history.ts";
import type { EventDeeds } from "./event_keys.ts";
import type { Layout } from "./layout.ts";
import { findBeside, tracksOf, type Way } from "./neighbours.ts";
import { otherFrames } from "./python_frames.ts";
import type { TimelineState } from "./timeline_state.ts";

const WORDS = { "-1": "before it", "1": "after it", inside: "in it" };

async function goBeside(
  page: PageState,
  run: string,
  { timeline, layout }: { timeline: Timeline; layout: Layout },
  state: TimelineState,
  way: Way,
): Promise<number | null> {
  const selected = state.selected.peek();
  const track = timeline.tracks.find((one) => one.id === selected?.track);
  if (selected === null || track === undefined) return null;
  const { fingerprint, from_ns: from, to_ns: to } = timeline;
  const tracks = tracksOf(layout.rows, track);
  const search = { api: page.api, run, fingerprint, whole: { from, to }, tracks };
  const event = await findBeside(search, selected, way);
  if (state.selected.peek() !== selected) return null;
  if (event === null) page.notice.value = `nothing is ${WORDS[way]} on its level`;
  return event;
}

/** Let WINDOW be that of HISTORY that is DELTA from it; false: there is none. */
function showBeside(history: WindowHistory, window: TimeWindow | null, delta: 1 | -1): boolean {
  if (window === null) return false;
  // What is left at once was shown, too.
  history.rest(formatRange(window.window));
  const found = history.go(delta);
  if (found === null) return false;
  window.showWindow(parseRange(found));
  history.arrive(formatRange(window.window));
  return true;
}

interface Shown {
  readonly run: string;
  readonly timeline: Timeline;
  readonly layout: Layout;
  readonly lock: Lock;
  readonly history: WindowHistory;
}

/** The deeds for RUN, whose STATE shows LAYOUT of TIMELINE. */
export function useDeeds(
  shown: Shown,
  state: TimelineState | null,
  select: (event: number) => void,
): EventDeeds {
  const page = usePage();
  const told = (cause: unknown) => {
    page.notice.value = String(cause);
  };
  return {
    select,
    range: (range: Window) => page.go({ t: range }),
    beside: (way: Way) => {
      if (state === null) return;
      goBeside(page, shown.run, shown, state, way).then(
        (event) => event !== null && select(event),
        told,
      );
    },
    toggleFrames: () => {
      page.go({ python: otherFrames(shown.timeline, page.place.value.python) });
    },
    hit: (delta: 1 | -1) => {
      // What starts with the window is in it.
      const start = Math.ceil(state?.window.viewport.t0 ?? 0) - (delta > 0 ? 1 : 0);
      const from = state?.selected.peek()?.from ?? start;
      goToHit(page, shown.timeline, from, delta).catch(told);
    },
    window: (delta: 1 | -1) => showBeside(shown.history, shown.lock.leader.peek(), delta),
  };
}
