// SPDX-License-Identifier: Apache-2.0
// The keys of parts that take them while they have the focus, for `?`: the lists that the parts
// themselves ask.

import { HEAT_KEYS } from "../chart/heat_keys.ts";
import { FLAME_KEYS } from "../flame/flame_keys.ts";
import { GRID_KEYS } from "../grid/grid_keys.ts";
import { shownKeys } from "../model/key_list.ts";
import { SEARCH_KEYS } from "../views/search_keys.ts";
import { STRIP_KEYS } from "./strip_keys.ts";

interface Listed {
  readonly keys: readonly string[];
  readonly does: string;
}

const PARTS: readonly (readonly [title: string, keys: readonly Listed[]])[] = [
  ["In tables", GRID_KEYS],
  ["In flame graphs", FLAME_KEYS],
  ["In the steps", STRIP_KEYS],
  ["In the map of ranks", HEAT_KEYS],
  ["In the search of the timeline", SEARCH_KEYS],
];

export const PART_KEYS = PARTS.map(([title, list]) => ({
  title,
  keys: list.map(({ keys, does }) => ({ keys: shownKeys(keys), does })),
}));
