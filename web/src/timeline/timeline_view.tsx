// SPDX-License-Identifier: Apache-2.0
// The timeline: titles on the left, two canvases on the right, the ruler above.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Timeline, Window } from "../api/api.ts";
import { format, formatTime } from "../model/units.ts";
import { usePage } from "../state/session.ts";
import { formatRange, parseRange } from "../state/url.ts";
import type { Selected } from "./arrows.ts";
import { Corner } from "./corner.tsx";
import type { GhostOf } from "./ghost.ts";
import { Heads } from "./heads.tsx";
import { listen, pressKey, pressTrackKey } from "./input.ts";
import { layOut } from "./layout.ts";
import type { Lock, Side } from "./lock.ts";
import { type Hit, Screen } from "./screen.ts";
import { firstWindow } from "./spans.ts";
import { Viewport } from "./viewport.ts";

const REPLACE_MS = 250;

function toggled(text: string, key: string): string {
  const words = new Set(text === "" ? [] : text.split(","));
  if (!words.delete(key)) words.add(key);
  return [...words].join(",");
}

function words(text: string): Set<string> {
  return new Set(text === "" ? [] : text.split(","));
}

/** What is under the pointer. */
function Popover({ hit, at, name }: { hit: Hit; at: { x: number; y: number }; name: string }) {
  return (
    <div class="tl-popover" style={{ left: `${at.x + 12}px`, top: `${at.y + 12}px` }}>
      <strong>{name}</strong>
      <span>
        {hit.count > 1
          ? `${format(hit.count, null)} ranges in ${formatTime(hit.end - hit.start)}; the longest has this name`
          : formatTime(hit.end - hit.start)}
      </span>
    </div>
  );
}

/** The screen, made when there are canvases, and what it needs to know of the page. */
function useScreen({ timeline, run, side, lock }: TimelineViewProps) {
  const page = usePage();
  const base = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const ruler = useRef<HTMLCanvasElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const [screen, setScreen] = useState<Screen | null>(null);

  useEffect(() => {
    const parts = { base: base.current!, overlay: overlay.current!, ruler: ruler.current! };
    let timer: ReturnType<typeof setTimeout> | undefined;
    let leave = () => {};
    const moved = (viewport: Viewport) => {
      lock.moved(side, viewport);
      if (side === "base") return;
      clearTimeout(timer);
      timer = setTimeout(() => {
        const { from, to } = viewport.window(made.pixels, 0);
        page.go({ w: formatRange({ from, to }) }, "replace");
      }, REPLACE_MS);
    };
    const first = firstWindow(timeline, page.place.peek().span);
    const made = new Screen(page.api, run, { timeline, first }, parts, moved);
    const watch = new ResizeObserver(() => {
      // The last call may come when the elements are gone.
      const width = overlay.current?.parentElement?.clientWidth;
      if (width === undefined || body.current === null) return;
      const isFirst = made.pixels === 0;
      made.resize(width, body.current.clientHeight, window.devicePixelRatio || 1);
      const shown = parseRange(page.place.peek().w);
      if (isFirst && side === "run" && shown !== null)
        made.show(Viewport.fit(shown.from, shown.to, width));
      if (isFirst) leave = lock.join(side, made);
    });
    watch.observe(body.current!);
    setScreen(made);
    return () => {
      clearTimeout(timer);
      watch.disconnect();
      leave();
      made.close();
    };
  }, [page, run, timeline, side, lock]);
  useEffect(() => screen?.recolour(), [screen, page.theme.value]);
  return { base, overlay, ruler, body, screen };
}

interface TimelineViewProps {
  readonly timeline: Timeline;
  readonly onSelect: (event: number) => void;
  /** The event that is selected elsewhere, and its time; it is brought into sight. */
  readonly selected: Selected | null;
  /** What stands below the ranges that are shown. */
  readonly ghost: GhostOf | null;
  /** What is brought into sight when it changes; at first only if no window is chosen. */
  readonly focus: Window | null;
  /** The run whose timeline it is, and the other one that moves with it. */
  readonly run: string;
  readonly side: Side;
  readonly lock: Lock;
}

export function TimelineView(props: TimelineViewProps) {
  const { timeline, onSelect, selected, ghost, focus } = props;
  const page = usePage();
  const { fold, hide, pin, only, q, t } = page.place.value;
  const { base, overlay, ruler, body, screen } = useScreen(props);
  const [scroll, setScroll] = useState({ top: 0, height: 600 });
  const [opened, setOpened] = useState("");
  const [hover, setHover] = useState<{ hit: Hit; x: number; y: number } | null>(null);
  const pointer = useRef({ x: 0, y: 0 });
  const keep = {
    fold: (key: string) => page.go({ fold: toggled(fold, key) }, "replace"),
    pin: (key: string) => page.go({ pin: toggled(pin, key) }, "replace"),
    hide: (key: string) => page.go({ hide: toggled(hide, key) }, "replace"),
  };
  const layout = useMemo(
    () =>
      layOut(timeline, {
        folded: words(fold),
        hidden: words(hide),
        opened: words(opened),
        pinned: words(pin),
        filter: only,
      }),
    [timeline, fold, hide, pin, only, opened],
  );
  useEffect(() => screen?.setLayout(layout), [screen, layout]);
  useEffect(() => screen?.haunt(ghost), [screen, ghost]);
  const focused = useRef("");
  useEffect(() => {
    const key = formatRange(focus);
    if (screen === null || focus === null || key === focused.current) return;
    const isChosen = focused.current === "" && page.place.peek().w !== "";
    focused.current = key;
    if (!isChosen) screen.fit(focus.from, focus.to);
  }, [screen, focus]);
  useEffect(() => {
    void screen?.fetcher.search(q, timeline.names);
  }, [screen, q, timeline]);
  useEffect(() => {
    if (screen === null) return;
    screen.area = parseRange(t);
    screen.draw();
  }, [screen, t]);
  useEffect(() => {
    if (screen === null) return;
    screen.selected = selected;
    if (selected !== null) screen.reveal(selected.from, selected.to);
    screen.draw();
  }, [screen, selected]);
  useEffect(() => {
    if (screen === null) return;
    return listen(screen, overlay.current!, {
      hover: (hit, x, y) => {
        pointer.current = { x, y };
        setHover(hit === null ? null : { hit, x, y });
      },
      select: (hit) => {
        onSelect(hit?.event ?? -1);
      },
      open: (hit) => screen.fit(hit.start, hit.end),
      area: (area) => page.go({ t: formatRange(area) }),
    });
  }, [screen, page, onSelect, overlay]);
  const press = (event: KeyboardEvent) => {
    if (screen === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const { x, y } = pointer.current;
    if (!pressKey(screen, event, x) && !pressTrackKey(screen.rowAt(y), event.key, keep)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const name = hover === null ? null : (screen?.fetcher.name(hover.hit.name)?.[1] ?? "…");
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: an application takes the keys
    <div class="tl" tabIndex={0} role="application" aria-label="Timeline" onKeyDown={press}>
      <Corner />
      <canvas ref={ruler} class="tl-ruler" />
      <div
        ref={body}
        class="tl-body"
        onScroll={(event) => {
          const { scrollTop, clientHeight } = event.currentTarget;
          setScroll({ top: scrollTop, height: clientHeight });
          screen?.scroll(scrollTop);
        }}
      >
        <div class="tl-content" style={{ height: `${layout.height}px` }}>
          <div class="tl-canvases">
            <canvas ref={base} />
            <canvas ref={overlay} />
            {hover !== null && <Popover hit={hover.hit} at={hover} name={name ?? ""} />}
          </div>
          <Heads
            layout={layout}
            top={scroll.top}
            height={scroll.height}
            pinned={words(pin)}
            onFold={keep.fold}
            onPin={keep.pin}
            onHide={keep.hide}
            onOpen={(key) => setOpened(toggled(opened, key))}
          />
        </div>
      </div>
    </div>
  );
}
