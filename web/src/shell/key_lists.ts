// SPDX-License-Identifier: Apache-2.0
// All keys of the page, for `?`: the lists that those who take them ask.

import { HEAT_KEYS } from "../chart/heat_keys.ts";
import { FLAME_KEYS } from "../flame/flame_keys.ts";
import { GRID_KEYS } from "../grid/grid_keys.ts";
import type { ListedKeys } from "../model/key_list.ts";
import { TIMELINE_KEYS } from "../timeline/timeline_keys.ts";
import { SEARCH_KEYS } from "../views/search_keys.ts";
import { KEYS } from "./keys.ts";
import { STRIP_KEYS } from "./strip_keys.ts";

export const KEY_LISTS: ReadonlyArray<readonly [title: string, keys: readonly ListedKeys[]]> = [
  ["Keys", KEYS],
  ["In the timeline", TIMELINE_KEYS],
  ["In tables", GRID_KEYS],
  ["In flame graphs", FLAME_KEYS],
  ["In the steps", STRIP_KEYS],
  ["In the map of ranks", HEAT_KEYS],
  ["In the search of the timeline", SEARCH_KEYS],
];
