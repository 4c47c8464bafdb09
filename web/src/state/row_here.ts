// SPDX-License-Identifier: Apache-2.0
// From the row of a table that the keys are in to its events, and to the longest of them in time.

import { showInTrace, showTime } from "./in_trace.ts";
import { traceOfLate } from "./late_rank.ts";
import { selectionOptions } from "./options.ts";
import { blockAtPeak } from "./peak_block.ts";
import { eventsOf, isOneEvent, timeOf } from "./row_events.ts";
import type { PageState, RowHere } from "./session.ts";
import { FRESH } from "./url.ts";

const ONE = { offset: 0, limit: 1 };
const NO_CALL = "no collective of this row has ranks whose clocks can be compared";
const NOTHING = "this row names no events";

/** Whether ROW has a place in time. */
export function timeOfRow(row: RowHere): boolean {
  const isOfRanks = row.table === "stragglers" || row.table === "collective_calls";
  return isOfRanks || timeOf(row) !== null || eventsOf(row) !== "";
}

/** Show all events of ROW as rows. */
export function rowsOfRow(page: PageState, row: RowHere): void {
  const where = eventsOf(row);
  if (where === "") page.notice.value = NOTHING;
  else page.go({ ...FRESH, view: "tables", table: "events", where });
}

/** Go to the time of ROW, or to the longest of its events with all of them marked as what is
 * searched; of two runs to both timelines. */
export async function traceOfRow(page: PageState, row: RowHere): Promise<void> {
  if (row.table.startsWith("diff_")) {
    page.go({ ...FRESH, view: "trace" });
    return;
  }
  if (row.table === "stragglers" || row.table === "collective_calls") {
    if (!(await traceOfLate(page, row))) page.notice.value = NO_CALL;
    return;
  }
  if (row.table === "memory") {
    const block = await blockAtPeak(page, row);
    if (block !== null) {
      await traceOfRow(page, block);
      return;
    }
  }
  const time = timeOf(row);
  if (time !== null) {
    await showTime(page, time, row.values.rank);
    return;
  }
  const where = eventsOf(row);
  if (where === "") {
    page.notice.value = NOTHING;
    return;
  }
  const options = { ...selectionOptions(page.place.value), where, sort: "-dur_ns" };
  const frame = await page.api.table("events", options, ONE);
  if (frame.n === 0) page.notice.value = "no event of this row is in the selection";
  else await showInTrace(page, frame, 0, isOneEvent(row) ? "" : `=${where}`);
}
