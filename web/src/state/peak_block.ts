// SPDX-License-Identifier: Apache-2.0
// From an operator of the table `memory` to what it holds when memory is highest.

import { quote } from "../model/expr.ts";
import { selectionOptions } from "./options.ts";
import type { PageState, RowHere } from "./session.ts";

const PEAKS = { offset: 0, limit: 1000 };
const ONE = { offset: 0, limit: 1 };

/** The largest block of the operator of ROW that is alive at the peak of its device, as a row of
 * `memory_events`; null: there is none. */
export async function blockAtPeak(page: PageState, row: RowHere): Promise<RowHere | null> {
  const { name, device } = row.values;
  if (name === undefined || device === undefined) return null;
  const options = selectionOptions(page.place.value);
  const where = `device = ${quote(device)}`;
  const peaks = await page.api.table(
    "memory_peaks",
    { ...options, where, sort: "-peak_bytes" },
    PEAKS,
  );
  let highest = -1;
  for (let i = 0; i < peaks.n; i++)
    if (highest < 0 || (peaks.at(i, "peak_bytes") ?? 0) > (peaks.at(highest, "peak_bytes") ?? 0))
      highest = i;
  const at = highest < 0 ? null : peaks.at(highest, "peak_ns");
  if (at === null) return null;
  const rank = peaks.text(highest, "rank");
  const blocks = await page.api.table(
    "memory_events",
    {
      ...options,
      ...(rank !== "" && { rank }),
      at: `${at}ns`,
      where: `${where} and operator = ${quote(name)}`,
      sort: "-bytes",
    },
    ONE,
  );
  const alloc = blocks.n === 0 ? "" : blocks.text(0, "alloc_ns");
  if (alloc === "") return null;
  return {
    table: "memory_events",
    values: { alloc_ns: alloc, device, ...(rank !== "" && { rank }) },
  };
}
