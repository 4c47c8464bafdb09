// SPDX-License-Identifier: Apache-2.0
// The keys of the field that searches the timeline.

import type { PartKey } from "../model/key_list.ts";

export const SEARCH_KEYS: readonly PartKey<{ go(delta: 1 | -1): void }>[] = [
  {
    keys: ["Enter"],
    does: "go to the next hit; Shift: to the one before",
    run: (on, { shiftKey }) => on.go(shiftKey ? -1 : 1),
  },
];
