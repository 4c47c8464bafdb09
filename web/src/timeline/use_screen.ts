// SPDX-License-Identifier: Apache-2.0
// The screen of a timeline: made when there are canvases, and told what it is to show.

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Timeline, Track, Window } from "../api/api.ts";
import { watchSize } from "../model/device_pixels.ts";
import { useTable } from "../state/answers.ts";
import { formatRange } from "../state/codec.ts";
import { allTimeOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import type { Selected } from "./arrows.ts";
import type { GhostOf } from "./ghost.ts";
import type { WindowHistory } from "./history.ts";
import type { Layout } from "./layout.ts";
import type { Lock, Side } from "./lock.ts";
import { Screen } from "./screen.ts";
import { firstWindow } from "./spans.ts";
import type { Hits } from "./use_hits.ts";
import type { Viewport } from "./viewport.ts";

const REPLACE_MS = 250;

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

/** The screen, made when there are canvases, and what it needs to know of the page. */
export function useScreen({ timeline, run, side, lock, history }: TimelineViewProps) {
  const page = usePage();
  const base = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const ruler = useRef<HTMLCanvasElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const [screen, setScreen] = useState<Screen | null>(null);
  const viewport = useSignal<Viewport | null>(null);
  /** The window of the address that the screen knows of. */
  const known = useRef(formatRange(page.place.peek().w));

  useEffect(() => {
    const parts = { base: base.current!, overlay: overlay.current!, ruler: ruler.current! };
    let timer: ReturnType<typeof setTimeout> | undefined;
    let leave = () => {};
    const moved = (shown: Viewport) => {
      viewport.value = shown;
      lock.moved(side, shown);
      if (side === "base") return;
      clearTimeout(timer);
      timer = setTimeout(() => {
        known.current = formatRange(made.window);
        page.go({ w: made.window }, "replace");
        history.rest(known.current);
      }, REPLACE_MS);
    };
    const first = firstWindow(timeline, page.place.peek().span);
    const made = new Screen(page.api, run, { timeline, first }, parts, moved);
    const unwatch = watchSize(body.current!, (ratio) => {
      // The last call may come when the elements are gone.
      const width = overlay.current?.parentElement?.clientWidth;
      if (width === undefined || body.current === null) return;
      const isFirst = made.pixels === 0;
      made.resize(width, body.current.clientHeight, ratio);
      const shown = page.place.peek().w;
      if (isFirst && side === "run" && shown !== null) made.showWindow(shown);
      viewport.value = made.viewport;
      if (!isFirst) return;
      leave = lock.join(side, made);
      if (side === "run") history.rest(formatRange(made.window));
    });
    setScreen(made);
    return () => {
      clearTimeout(timer);
      unwatch();
      leave();
      made.close();
    };
  }, [page, run, timeline, side, lock, history]);
  const { w } = page.place.value;
  useEffect(() => {
    // Another state of the history, or a link that was opened here.
    if (screen === null || side === "base" || formatRange(w) === known.current) return;
    known.current = formatRange(w);
    screen.showWindow(w);
  }, [screen, side, w]);
  useEffect(() => screen?.recolour(), [screen, page.theme.value]);
  return { base, overlay, ruler, body, screen, viewport };
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

/** Let SCREEN show what PROPS, the address and LAYOUT say. */
export function useShown(screen: Screen | null, props: TimelineViewProps, layout: Layout): void {
  const { timeline, selected, ghost, focus, searched } = props;
  const page = usePage();
  const { t, flow, color } = page.place.value;
  const medians = useMedians(color === "duration");
  useEffect(() => screen?.setLayout(layout), [screen, layout]);
  useEffect(() => screen?.haunt(ghost), [screen, ghost]);
  useEffect(() => screen?.showFlows(flow), [screen, flow]);
  useEffect(() => screen?.colourBy(color, medians), [screen, color, medians]);
  const focused = useRef("");
  // A link with a window shows that one, wherever its event is; and an event is brought into sight
  // when it is selected, not whenever more of a recording comes.
  const { sel, w } = page.place.peek();
  const linked = useRef(w === null ? "" : sel);
  const revealed = useRef(-1);
  useEffect(() => {
    const key = formatRange(focus);
    if (screen === null || focus === null || key === focused.current) return;
    const isChosen = focused.current === "" && page.place.peek().w !== null;
    focused.current = key;
    if (!isChosen) screen.fit(focus.from, focus.to);
  }, [screen, focus]);
  useEffect(() => {
    void screen?.fetcher.search(searched, timeline.names);
  }, [screen, searched, timeline]);
  useEffect(() => {
    if (screen === null) return;
    screen.area = t;
    screen.draw();
  }, [screen, t]);
  useEffect(() => {
    if (screen === null) return;
    screen.selected = selected;
    if (selected !== null) {
      const { event, from, to } = selected;
      const isOfLink = linked.current === `ev:${event}`;
      const isRenumbered = event === page.renumbered;
      const isSame = event === revealed.current || isRenumbered;
      const isPointed = event === screen.pointed;
      if (!isOfLink && !isSame && !isPointed) screen.reveal(from, to);
      if (isRenumbered || !isSame) page.renumbered = -1;
      linked.current = "";
      screen.pointed = -1;
      revealed.current = event;
    } else if (page.place.peek().sel === "") screen.pointed = revealed.current = -1;
    screen.draw();
  }, [screen, selected]);
}
