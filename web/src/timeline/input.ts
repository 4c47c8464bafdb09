// SPDX-License-Identifier: Apache-2.0
// Keys of the timeline. w a s d go by their place on the keyboard, others by letter.

import { EVENT_KEYS } from "./event_keys.ts";
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

interface ScreenKey {
  readonly keys: string;
  readonly does: string;
  /** By its place on the keyboard, or by its letter. */
  readonly code?: string;
  /** POINTER is a pixel; FAST how many times as far. False: there is nothing to do. */
  readonly run: (state: TimelineState, pointer: number, fast: number) => boolean;
}

function zoom({ window }: TimelineState, pointer: number, factor: number): boolean {
  window.zoom(pointer, factor);
  return true;
}

function pan({ window }: TimelineState, share: number): boolean {
  window.pan(window.width * Math.max(-0.9, Math.min(0.9, share)));
  return true;
}

const SCREEN_KEYS: readonly ScreenKey[] = [
  {
    ...{ keys: "w", code: "KeyW", does: "zoom in at the pointer; Shift: far" },
    run: (state, pointer, fast) => zoom(state, pointer, ZOOM ** fast),
  },
  {
    ...{ keys: "s", code: "KeyS", does: "zoom out; Shift: far" },
    run: (state, pointer, fast) => zoom(state, pointer, 1 / ZOOM ** fast),
  },
  {
    ...{ keys: "a", code: "KeyA", does: "pan to the left; Shift: far" },
    run: (state, _, fast) => pan(state, -PAN * fast),
  },
  {
    ...{ keys: "d", code: "KeyD", does: "pan to the right; Shift: far" },
    run: (state, _, fast) => pan(state, PAN * fast),
  },
  {
    ...{ keys: "0", does: "show all of the time" },
    run: ({ window }) => {
      window.fitAll();
      return true;
    },
  },
  {
    ...{ keys: "f", does: "fit what is selected" },
    run: ({ window, selected, area }) => {
      const shown = selected.peek() ?? area.peek();
      if (shown !== null) window.fit(shown.from, shown.to);
      return shown !== null;
    },
  },
];

/** Handle a key; whether it was one of ours. */
export function pressKey(state: TimelineState, event: KeyboardEvent, pointer: number): boolean {
  const key = SCREEN_KEYS.find((k) => (k.code ? k.code === event.code : k.keys === event.key));
  return key?.run(state, pointer, event.shiftKey ? FAST : 1) === true;
}

export interface TrackKeys {
  fold(key: string): void;
  pin(key: string): void;
  hide(key: string): void;
}

const TRACK_KEYS = [
  { key: "p", does: "pin the track under the pointer, or take it from the top", change: "pin" },
  { key: "c", does: "fold or unfold it", change: "fold" },
  { key: "x", does: "hide it", change: "hide" },
] as const;

/** Handle a key about ROW, which is under the pointer; whether it was one. */
export function pressTrackKey(row: Row | undefined, key: string, does: TrackKeys): boolean {
  const found = TRACK_KEYS.find((k) => k.key === key);
  if (row === undefined || found === undefined) return false;
  if (found.change === "pin" && row.kind !== "track") return false;
  if (found.change === "hide" && row.kind === "group") return false;
  does[found.change](row.key);
  return true;
}

/** The key that writes a note, and what it does. */
export const NOTE_KEY = {
  key: "M",
  keys: "Shift+M",
  does: "write a note on the event, area or time",
} as const;

/** All keys that only the timeline has. */
export const TIMELINE_KEYS: readonly { readonly keys: string; readonly does: string }[] = [
  ...SCREEN_KEYS,
  ...EVENT_KEYS.map(({ keys, shown, does }) => ({ keys: shown ?? keys, does })),
  ...TRACK_KEYS.map(({ key, does }) => ({ keys: key, does })),
  NOTE_KEY,
];
