// SPDX-License-Identifier: Apache-2.0
// The keys of a flame graph that has the focus.

import type { KeyBinding } from "../model/key_list.ts";

export interface FlameCursor {
  /** Go from the chosen frame by an arrow, Home or End. */
  go(key: string): void;
  /** Zoom to the chosen frame; false: there is none. */
  open(): boolean;
  leave(): void;
}

export const FLAME_KEYS: readonly KeyBinding<FlameCursor>[] = [
  {
    keys: ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"],
    does: "go to a frame",
    run: (at, { key }) => at.go(key),
  },
  { keys: ["Enter"], does: "zoom to the frame", run: (at) => at.open() },
  { keys: ["Backspace"], does: "zoom out", run: (at) => at.leave() },
];
