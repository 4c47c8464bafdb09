// SPDX-License-Identifier: Apache-2.0
// The keys of the map of ranks that has the focus.

import type { KeyBinding } from "../model/key_list.ts";

export interface HeatCursor {
  /** Go to the cell beside by an arrow. */
  go(key: string): void;
  open(): void;
}

export const HEAT_KEYS: readonly KeyBinding<HeatCursor>[] = [
  {
    keys: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"],
    does: "go to a rank and a step",
    run: (at, { key }) => at.go(key),
  },
  { keys: ["Enter"], does: "say what happened there", run: (at) => at.open() },
];
