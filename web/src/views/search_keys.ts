// SPDX-License-Identifier: Apache-2.0
// The keys of the field that searches the timeline.

import type { KeyBinding } from "../model/key_list.ts";

export const SEARCH_KEYS: readonly KeyBinding<{ go(delta: 1 | -1): void }>[] = [
  {
    keys: ["Enter"],
    does: "go to the next hit; Shift: to the one before",
    run: (on, { shiftKey }) => on.go(shiftKey ? -1 : 1),
  },
];
