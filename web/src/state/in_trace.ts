// SPDX-License-Identifier: Apache-2.0
// From a row of the table `events` to that event in the trace.

import type { Frame } from "../api/cols.ts";
import type { PageState } from "./session.ts";
import { FRESH, formatRange } from "./url.ts";

/** Of the window the event takes a third, but no window is shorter. */
const LEAST_NS = 3000;

/** Go to the event of ROW of FRAME. Of several traces its rank is shown. */
export async function showInTrace(page: PageState, frame: Frame, row: number): Promise<void> {
  const start = frame.at(row, "start_ns") ?? 0;
  const dur = frame.at(row, "dur_ns") ?? 0;
  const margin = Math.max(dur, Math.ceil((LEAST_NS - dur) / 2));
  const window = { from: Math.floor(start - margin), to: Math.ceil(start + dur + margin) };
  const { traces } = await page.api.timeline(page.run.value);
  page.go({
    ...FRESH,
    view: "trace",
    w: formatRange(window),
    // Numbers of events are those of rows only in one trace.
    ...(traces.length === 1
      ? { sel: `ev:${frame.text(row, "id")}` }
      : { rank: frame.text(row, "rank") }),
  });
}
