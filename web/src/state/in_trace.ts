// SPDX-License-Identifier: Apache-2.0
// From a row of the table `events` to that event in the trace.

import type { TraceOfRun } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import type { PageState } from "./session.ts";
import { FRESH, formatRange } from "./url.ts";

/** Of the window the event takes a third, but no window is shorter. */
const LEAST_NS = 3000;

/** The number in the timeline of the event of ROW of FRAME; null: rows do not say of which of
 * several traces of its rank it is. */
export function numberOf(traces: readonly TraceOfRun[], frame: Frame, row: number): number | null {
  const of = { rank: frame.at(row, "rank"), span: frame.at(row, "span") };
  const found = traces.filter(
    (trace) =>
      traces.length === 1 ||
      (trace.rank === of.rank && (of.span === null || trace.span === of.span)),
  );
  const id = frame.at(row, "id");
  return found.length === 1 && id !== null ? found[0]!.first_event + id : null;
}

/** Go to the event of ROW of FRAME. Of several traces its rank is shown. */
export async function showInTrace(page: PageState, frame: Frame, row: number): Promise<void> {
  const start = frame.at(row, "start_ns") ?? 0;
  const dur = frame.at(row, "dur_ns") ?? 0;
  const margin = Math.max(dur, Math.ceil((LEAST_NS - dur) / 2));
  const window = { from: Math.floor(start - margin), to: Math.ceil(start + dur + margin) };
  const { traces } = await page.api.timeline(page.run.value);
  const event = numberOf(traces, frame, row);
  page.go({
    ...FRESH,
    view: "trace",
    w: formatRange(window),
    ...(traces.length > 1 && { rank: frame.text(row, "rank") }),
    ...(event !== null && { sel: `ev:${event}` }),
  });
}
