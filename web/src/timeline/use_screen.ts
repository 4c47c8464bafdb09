// SPDX-License-Identifier: Apache-2.0
// The state of a timeline and the screen that draws it: made when there are canvases, and told what
// they are to show.

import { effect } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Timeline, Track, Window } from "../api/api.ts";
import { watchSize } from "../model/device_pixels.ts";
import { useTable } from "../state/answers.ts";
import { selectedEvent } from "../state/explain.ts";
import { LedWindow, type Lock, type Side } from "../state/lock.ts";
import { allTimeOptions } from "../state/options.ts";
import { type PageState, usePage } from "../state/session.ts";
import { TimeWindow } from "../state/time_window.ts";
import type { WindowHistory } from "../state/window_history.ts";
import { linkWindow } from "../state/window_link.ts";
import type { Selected, Tag } from "./arrows.ts";
import type { GhostOf } from "./ghost.ts";
import type { Layout } from "./layout.ts";
import { Screen } from "./screen.ts";
import { firstWindow } from "./spans.ts";
import { TimelineState } from "./timeline_state.ts";
import type { Hits } from "./use_hits.ts";

export interface TimelineViewProps {
  readonly timeline: Timeline;
  readonly onSelect: (event: number) => void;
  /** The event that is selected elsewhere, and its time; it is brought into sight. */
  readonly selected: Selected | null;
  /** The track of what is selected, in this timeline or the other one; null: it has none. */
  readonly track: Track | null;
  /** The hits of the search, which are marked. */
  readonly hits: Hits;
  /** What is searched: other names are dimmed. */
  readonly searched: string;
  /** What stands below the ranges that are shown. */
  readonly ghost: GhostOf | null;
  /** What is brought into sight when it changes; at first only if no window is chosen. */
  readonly focus: Window | null;
  /** The run whose timeline it is, and the other one that moves with it. */
  readonly run: string;
  readonly side: Side;
  readonly lock: Lock;
  /** The windows of the run that were shown. */
  readonly history: WindowHistory;
}

/** What shows TIMELINE: the window of the address, or for the base that of the run. */
function windowOf(page: PageState, { timeline, side, lock }: TimelineViewProps): TimeWindow {
  const { span, w, steps } = page.place.peek();
  const whole = { from: timeline.from_ns, to: timeline.to_ns };
  const first = firstWindow(timeline, span);
  if (side === "base") return new LedWindow(whole, first, lock);
  return new TimeWindow(whole, first, w, steps !== "");
}

/** Draw what STATE shows on SCREEN, once before the next picture of the browser, and only if it has
 * changed; the result ends it. NOW draws at once. */
function drawLoop(state: TimelineState, screen: Screen): { now: () => void; stop: () => void } {
  let frame = 0;
  let said = "";
  const now = () => {
    cancelAnimationFrame(frame);
    const tags: readonly Tag[] | null = screen.draw(state.scene.peek());
    const text = JSON.stringify(tags ?? []);
    if (tags === null || text === said) return;
    said = text;
    state.tags.value = tags;
  };
  const end = effect(() => {
    state.news.value;
    state.scene.value;
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(now);
  });
  const stop = () => {
    end();
    cancelAnimationFrame(frame);
  };
  return { now, stop };
}

/** The state of a timeline, made when there are canvases, and the places of these. */
export function useScreen(props: TimelineViewProps) {
  const { timeline, run, side, lock, history } = props;
  const page = usePage();
  const base = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const ruler = useRef<HTMLCanvasElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<TimelineState | null>(null);
  // A link with a window shows that one, wherever its event is.
  useEffect(() => {
    const place = page.place.peek();
    if (side === "run") page.inSight = place.w === null ? -1 : (selectedEvent(place) ?? -1);
  }, [page, side]);
  useEffect(() => {
    const parts = { base: base.current!, overlay: overlay.current!, ruler: ruler.current! };
    const window = windowOf(page, props);
    const made = new TimelineState(page.api, { run, timeline }, window, page.theme);
    made.top.value = body.current!.scrollTop;
    const screen = new Screen(made, parts);
    const loop = drawLoop(made, screen);
    const unlink = side === "run" ? linkWindow(page, window, history) : () => {};
    if (side === "run") lock.leader.value = window;
    const unwatch = watchSize(body.current!, (ratio) => {
      // The last call may come when the elements are gone.
      const width = overlay.current?.parentElement?.clientWidth;
      if (width === undefined || body.current === null) return;
      const height = body.current.clientHeight;
      made.resize(width, height, ratio);
      // What was resized is empty: it is drawn before anybody sees it.
      if (screen.resize(width, height, ratio)) loop.now();
    });
    setState(made);
    return () => {
      unlink();
      unwatch();
      loop.stop();
      made.close();
      if (lock.leader.peek() === window) lock.leader.value = null;
    };
  }, [page, run, timeline, side, lock, history]);
  return { base, overlay, ruler, body, state };
}

const MEDIANS = { offset: 0, limit: 100_000 };

/** The median duration of each name, if ISWANTED: of its largest group where a name has several. */
function useMedians(isWanted: boolean): ReadonlyMap<string, number> | null {
  const { place } = usePage();
  const options = { ...allTimeOptions(place.value), merge: true as const };
  const { frame } = useTable(isWanted ? "ranges" : null, options, MEDIANS);
  return useMemo(() => {
    if (frame === null) return null;
    const found = new Map<string, { calls: number; median: number }>();
    for (let row = 0; row < frame.n; row++) {
      const calls = frame.at(row, "calls") ?? 0;
      const name = frame.text(row, "name");
      if (calls > (found.get(name)?.calls ?? 0))
        found.set(name, { calls, median: frame.at(row, "median_ns") ?? 0 });
    }
    return new Map([...found].map(([name, { median }]) => [name, median]));
  }, [frame]);
}

/** Tell STATE, once it is there, when one of OF has changed. */
function usePut(
  state: TimelineState | null,
  tell: (state: TimelineState) => void,
  of: readonly unknown[],
): void {
  useEffect(() => {
    if (state !== null) tell(state);
  }, [state, ...of]);
}

/** Let STATE show what PROPS, the address and LAYOUT say. */
export function useShown(
  state: TimelineState | null,
  props: TimelineViewProps,
  layout: Layout,
): void {
  const { timeline, selected, ghost, focus, searched, side } = props;
  const page = usePage();
  const { t, flow, color, sel } = page.place.value;
  const medians = useMedians(color === "duration");
  usePut(
    state,
    (shown) => {
      shown.layout.value = layout;
    },
    [layout],
  );
  usePut(
    state,
    (shown) => {
      shown.ghost.value = ghost;
    },
    [ghost],
  );
  usePut(
    state,
    (shown) => {
      shown.flow.value = flow;
    },
    [flow],
  );
  usePut(state, (shown) => shown.colourBy(color, medians), [color, medians]);
  usePut(state, (shown) => void shown.fetcher.search(searched, timeline.names), [
    searched,
    timeline,
  ]);
  usePut(
    state,
    (shown) => {
      shown.area.value = t;
    },
    [t],
  );
  usePut(state, (shown) => shown.window.bring(focus), [focus]);
  usePut(
    state,
    (shown) => {
      shown.selected.value = selected;
      if (side === "base") return;
      if (selected === null) {
        if (sel === "") page.inSight = -1;
        return;
      }
      const { event, from, to } = selected;
      if (event !== page.inSight) shown.window.reveal(from, to);
      page.inSight = event;
    },
    [selected],
  );
}
