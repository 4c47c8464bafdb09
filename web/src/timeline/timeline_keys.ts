// SPDX-License-Identifier: Apache-2.0
// Keys of the timeline. w a s d go by their place on the keyboard, others by letter.

import type { KeyBinding } from "../model/key_list.ts";
import { EVENT_KEYS, type EventDeeds } from "./event_keys.ts";
import type { Row } from "./layout.ts";
import type { TimelineState } from "./timeline_state.ts";

const PAN = 0.15;
const ZOOM = 1.4;
const WHEEL = 240;
const FAST = 5;

/** How many times as wide a nanosecond becomes by a wheel that turns by DELTAY. */
export function wheelZoom(deltaY: number): number {
  return 2 ** (-deltaY / WHEEL);
}

export interface TrackKeys {
  fold(key: string): void;
  pin(key: string): void;
  hide(key: string): void;
}

/** What keys of the timeline are about. */
export interface TimelineKeysOn {
  readonly state: TimelineState;
  readonly deeds: EventDeeds;
  /** The pixel of the pointer, or in the middle. */
  readonly x: number;
  /** What is under the pointer. */
  readonly row: Row | undefined;
  readonly change: TrackKeys;
  /** Write a note on the event, area or time. */
  note(): void;
}

type TimelineKey = KeyBinding<TimelineKeysOn>;

/** Zoom by FACTOR at the pointer, with Shift far. */
function zoom(factor: number): TimelineKey["run"] {
  return ({ state, x }, { shiftKey }) => state.window.zoom(x, shiftKey ? factor ** FAST : factor);
}

/** Pan by SHARE of the width, with Shift far. */
function pan(share: number): TimelineKey["run"] {
  return ({ state: { window } }, { shiftKey }) => {
    const far = share * (shiftKey ? FAST : 1);
    window.pan(window.width * Math.max(-0.9, Math.min(0.9, far)));
  };
}

/** Change the track under the pointer as WHAT says, if it is of one of KINDS. */
function track(what: keyof TrackKeys, ...kinds: readonly Row["kind"][]): TimelineKey["run"] {
  return ({ row, change }) => {
    if (row === undefined || !kinds.includes(row.kind)) return false;
    change[what](row.key);
    return true;
  };
}

export const NOTE: TimelineKey = {
  keys: ["Shift+M"],
  does: "write a note on the event, area or time",
  run: ({ note }) => note(),
};
export const ALL_TIME: TimelineKey = {
  keys: ["0"],
  does: "show all of the time",
  run: ({ state }) => state.window.fitAll(),
};
export const PIN: TimelineKey = {
  keys: ["p"],
  does: "pin the track under the pointer, or take it from the top",
  run: track("pin", "track"),
};
export const FOLD: TimelineKey = {
  keys: ["c"],
  does: "fold or unfold it",
  run: track("fold", "track", "group", "series"),
};
export const HIDE: TimelineKey = {
  keys: ["x"],
  does: "hide it",
  run: track("hide", "track", "series"),
};

/** All keys that only the timeline has. */
export const TIMELINE_KEYS: readonly TimelineKey[] = [
  {
    ...{ keys: ["w"], code: "KeyW", does: "zoom in at the pointer; Shift: far" },
    run: zoom(ZOOM),
  },
  { keys: ["s"], code: "KeyS", does: "zoom out; Shift: far", run: zoom(1 / ZOOM) },
  { keys: ["a"], code: "KeyA", does: "pan to the left; Shift: far", run: pan(-PAN) },
  { keys: ["d"], code: "KeyD", does: "pan to the right; Shift: far", run: pan(PAN) },
  ALL_TIME,
  {
    ...{ keys: ["f"], does: "fit what is selected" },
    run: ({ state: { window, selected, area } }) => {
      const shown = selected.peek() ?? area.peek();
      if (shown !== null) window.fit(shown.from, shown.to);
      return shown !== null;
    },
  },
  ...EVENT_KEYS,
  PIN,
  FOLD,
  HIDE,
  NOTE,
];
