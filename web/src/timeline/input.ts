// SPDX-License-Identifier: Apache-2.0
// Keys of the timeline. w a s d go by their place on the keyboard, others by letter.

import { EVENT_KEYS } from "./event_keys.ts";
import type { Row } from "./layout.ts";
import type { Screen } from "./screen.ts";

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
  readonly run: (screen: Screen, pointer: number, fast: number) => boolean;
}

function zoom(screen: Screen, pointer: number, factor: number): boolean {
  screen.show(screen.viewport.zoom(pointer, factor));
  return true;
}

function pan(screen: Screen, share: number): boolean {
  screen.show(screen.viewport.pan(screen.pixels * Math.max(-0.9, Math.min(0.9, share))));
  return true;
}

const SCREEN_KEYS: readonly ScreenKey[] = [
  {
    ...{ keys: "w", code: "KeyW", does: "zoom in at the pointer; Shift: far" },
    run: (screen, pointer, fast) => zoom(screen, pointer, ZOOM ** fast),
  },
  {
    ...{ keys: "s", code: "KeyS", does: "zoom out; Shift: far" },
    run: (screen, pointer, fast) => zoom(screen, pointer, 1 / ZOOM ** fast),
  },
  {
    ...{ keys: "a", code: "KeyA", does: "pan to the left; Shift: far" },
    run: (screen, _, fast) => pan(screen, -PAN * fast),
  },
  {
    ...{ keys: "d", code: "KeyD", does: "pan to the right; Shift: far" },
    run: (screen, _, fast) => pan(screen, PAN * fast),
  },
  {
    ...{ keys: "0", does: "show all of the time" },
    run: (screen) => {
      screen.fitAll();
      return true;
    },
  },
  {
    ...{ keys: "f", does: "fit what is selected" },
    run: (screen) => {
      const shown = screen.selected ?? screen.area;
      if (shown !== null) screen.fit(shown.from, shown.to);
      return shown !== null;
    },
  },
];

/** Handle a key; whether it was one of ours. */
export function pressKey(screen: Screen, event: KeyboardEvent, pointer: number): boolean {
  const key = SCREEN_KEYS.find((k) => (k.code ? k.code === event.code : k.keys === event.key));
  return key?.run(screen, pointer, event.shiftKey ? FAST : 1) === true;
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
