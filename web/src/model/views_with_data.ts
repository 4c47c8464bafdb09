// SPDX-License-Identifier: Apache-2.0
// Which views have something to show, by the table `headlines`.

import type { Frame } from "../api/cols.ts";

/** Of each view that has a headline whether there are data for it. */
export function viewsWithData(headlines: Frame<"headlines">): ReadonlyMap<string, boolean> {
  const index = headlines.index("has_data");
  return new Map(
    headlines.map((row) => [headlines.text(row, "view"), headlines.value(row, index) !== false]),
  );
}

/** Where to begin: not with steps where there are none. */
export function firstView(data: ReadonlyMap<string, boolean>): string {
  return ["overview", "operators", "trace"].find((view) => data.get(view)) ?? "overview";
}
