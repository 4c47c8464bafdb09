// SPDX-License-Identifier: Apache-2.0
// From a row of the table `events` to that event in the trace.

import type { Options, Timeline, TraceOfRun, Window } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import { quote } from "../model/expr.ts";
import { formatRange } from "./codec.ts";
import { allTimeOptions } from "./options.ts";
import type { PageState } from "./session.ts";
import { FRESH } from "./url.ts";

/** Rows that are events. */
type EventRows = Frame<"events">;

/** Of the window the event takes a third, but no window is shorter. */
const LEAST_NS = 3000;
const ONE = { offset: 0, limit: 1 };

/** The number in the timeline of the event of ROW of FRAME; null: rows do not say of which of
 * several traces of its rank it is. */
export function numberOf(
  traces: readonly TraceOfRun[],
  frame: EventRows,
  row: number,
): number | null {
  const of = { rank: frame.at(row, "rank"), span: frame.at(row, "span") };
  const found = traces.filter(
    (trace) =>
      traces.length === 1 ||
      (trace.rank === of.rank && (of.span === null || trace.span === of.span)),
  );
  const id = frame.at(row, "id");
  return found.length === 1 && id !== null ? found[0]!.first_event + id : null;
}

/** Which options name the trace and the event of ROW of FRAME, in all of its time. */
function optionsOfRow(page: PageState, frame: EventRows, row: number): Options {
  const words = (["name", "process", "thread"] as const)
    .filter((column) => frame.value(row, frame.index(column)) !== null)
    .map((column) => `${column} = ${quote(frame.text(row, column))}`);
  const times = (["start_ns", "dur_ns"] as const)
    .filter((column) => frame.at(row, column) !== null)
    .map((column) => `${column} = ${frame.text(row, column)}`);
  return {
    ...allTimeOptions({ ...page.place.value, rank: frame.text(row, "rank") }),
    where: [...times, ...words].join(" AND "),
  };
}

/** The number of the event of ROW in the timeline of TRACES; null: it is not known. In rows of a
 * part of the time ids count within it, so that the event is looked up in all of it. */
async function findEvent(
  page: PageState,
  { fingerprint: fp, traces }: Timeline,
  frame: EventRows,
  row: number,
): Promise<number | null> {
  const { steps, t } = page.place.value;
  const fixed = page.session.value?.fixed;
  if (steps === (fixed?.steps ?? "") && formatRange(t) === (fixed?.t ?? ""))
    return numberOf(traces, frame, row);
  const options = { ...optionsOfRow(page, frame, row), fp };
  const found = await page.api.table("events", options, ONE);
  return found.n === 0 ? null : numberOf(traces, found, 0);
}

/** Show the time WINDOW of RANK; undefined: of all. */
export async function showTime(
  page: PageState,
  window: Window,
  rank: string | undefined,
): Promise<void> {
  const { traces } = await page.api.timeline(page.run.value);
  page.go({
    ...FRESH,
    view: "trace",
    w: window,
    ...(traces.length > 1 && rank !== undefined && { rank }),
  });
}

/** Go to the event of ROW of FRAME, and search Q. Of several traces its rank is shown. */
export async function showInTrace(
  page: PageState,
  frame: EventRows,
  row: number,
  q = "",
): Promise<void> {
  const start = frame.at(row, "start_ns") ?? 0;
  const dur = frame.at(row, "dur_ns") ?? 0;
  const margin = Math.max(dur, Math.ceil((LEAST_NS - dur) / 2));
  const window = { from: Math.floor(start - margin), to: Math.ceil(start + dur + margin) };
  const timeline = await page.api.timeline(page.run.value);
  const { traces } = timeline;
  // The row is of the files that the page knows.
  const isKnown = timeline.fingerprint === page.fingerprint.value;
  const event = isKnown ? await findEvent(page, timeline, frame, row) : null;
  page.go({
    ...FRESH,
    view: "trace",
    w: window,
    q,
    ...(traces.length > 1 && { rank: frame.text(row, "rank") }),
    ...(event !== null && { sel: `ev:${event}` }),
  });
}
