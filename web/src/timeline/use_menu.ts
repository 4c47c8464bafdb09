// SPDX-License-Identifier: Apache-2.0
// What the menu of a place in the timeline offers: of the range there, the time, and the track.

import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import { quote } from "../model/expr.ts";
import { shownKeys } from "../model/key_list.ts";
import { type PageState, usePage } from "../state/session.ts";
import { FRESH } from "../state/url.ts";
import type { Row, TrackRow } from "./layout.ts";
import type { MenuItem } from "./menu.tsx";
import type { Hit } from "./places.ts";
import { ALL_TIME, FOLD, HIDE, NOTE, PIN, type TrackKeys } from "./timeline_keys.ts";
import type { TimelineState } from "./timeline_state.ts";

interface Place {
  readonly hit: Hit | null;
  /** The time there. */
  readonly time: number;
  readonly row: Row | undefined;
}

interface Deeds {
  readonly change: TrackKeys & { move(key: string, above: string): void };
  readonly rows: readonly Row[];
  note(where: { from: number; to: number; event: number | null }): void;
}

async function copy(page: PageState): Promise<void> {
  await navigator.clipboard?.writeText(page.command.value);
  page.notice.value = "copied";
}

function itemsOfRange(page: PageState, state: TimelineState, hit: Hit): MenuItem[] {
  const name = state.fetcher.name(hit.name)?.[0];
  const items = [{ text: "fit it", key: "", run: () => state.window.fit(hit.start, hit.end) }];
  if (name !== undefined)
    items.push({
      ...{ text: "rows of its name", key: "" },
      run: () =>
        page.go({ ...FRESH, view: "tables", table: "events", where: `name = ${quote(name)}` }),
    });
  return items;
}

function itemsOfRow(row: Row, change: TrackKeys): MenuItem[] {
  const items: MenuItem[] = [];
  const { key } = row;
  if (row.kind === "track")
    items.push({
      text: "pin or unpin the track",
      key: shownKeys(PIN.keys),
      run: () => change.pin(key),
    });
  if (row.kind !== "series")
    items.push({
      ...{ text: row.isFolded ? "unfold it" : "fold it", key: shownKeys(FOLD.keys) },
      run: () => change.fold(key),
    });
  if (row.kind !== "group")
    items.push({ text: "hide the track", key: shownKeys(HIDE.keys), run: () => change.hide(key) });
  return items;
}

/** What a drag of its title does, too. */
function itemsOfOrder(row: TrackRow, { rows, change }: Deeds): MenuItem[] {
  const near = rows.filter(
    (one): one is TrackRow =>
      one.kind === "track" &&
      one.track.trace === row.track.trace &&
      one.track.process === row.track.process,
  );
  const at = near.findIndex((one) => one.key === row.key);
  const [above, below] = [near[at - 1], near[at + 1]];
  return [
    ...(above ? [{ text: "move it up", key: "", run: () => change.move(row.key, above.key) }] : []),
    ...(below
      ? [{ text: "move it down", key: "", run: () => change.move(below.key, row.key) }]
      : []),
  ];
}

function itemsOf(page: PageState, state: TimelineState, place: Place, deeds: Deeds): MenuItem[] {
  const { hit, time, row } = place;
  const where =
    hit !== null && hit.count === 1
      ? { from: hit.start, to: hit.end, event: hit.event }
      : { from: time, to: time, event: null };
  return [
    ...(hit === null ? [] : itemsOfRange(page, state, hit)),
    { text: "all of the time", key: shownKeys(ALL_TIME.keys), run: () => state.window.fitAll() },
    { text: "note here", key: shownKeys(NOTE.keys), run: () => deeds.note(where) },
    { text: "copy the command", key: "y", run: () => void copy(page) },
    ...(row?.kind === "track" ? itemsOfOrder(row, deeds) : []),
    ...(row === undefined ? [] : itemsOfRow(row, deeds.change)),
  ];
}

/** The menu that is open, and what opens it; POINTER is where the pointer was last on CANVAS. */
export function useMenu(
  state: TimelineState | null,
  canvas: RefObject<HTMLCanvasElement | null>,
  pointer: RefObject<{ x: number; y: number } | null>,
  deeds: Deeds,
) {
  const page = usePage();
  const [menu, setMenu] = useState<{ items: MenuItem[]; x: number; y: number } | null>(null);
  const open = (event: MouseEvent) => {
    const box = canvas.current?.getBoundingClientRect();
    const around = canvas.current?.closest(".tl")?.getBoundingClientRect();
    if (state === null || box === undefined || around === undefined) return;
    if (event.target instanceof Element && event.target.closest("input, select, .notes")) return;
    event.preventDefault();
    const isTouch = event instanceof PointerEvent && event.pointerType === "touch";
    if (isTouch) return; // a long press is an area
    // The key of the menu has no place: that of the pointer is taken.
    const isKey = event.button !== 2;
    const { x, y } = isKey
      ? (pointer.current ?? { x: 0, y: 0 })
      : { x: event.clientX - box.left, y: event.clientY - box.top };
    const place = {
      hit: state.hit(x, y),
      time: state.window.viewport.time(x),
      row: state.rowAt(y),
    };
    setMenu({
      items: itemsOf(page, state, place, deeds),
      x: Math.min(x + box.left - around.left, around.width - 220),
      y: Math.max(0, Math.min(y + box.top - around.top, around.height - 230)),
    });
  };
  return { menu, open, close: () => setMenu(null) };
}
