// SPDX-License-Identifier: Apache-2.0
// From a rank that let others wait, or a collective, to both timelines at that time: the rank that
// came last above the one that came at the median time, by the common clock.

import type { Timeline } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import { quote } from "../model/expr.ts";
import { allRanksOptions, allTimeOptions } from "./options.ts";
import { COMMUNICATES } from "./row_events.ts";
import type { PageState, RowHere } from "./session.ts";
import { FRESH, formatBase } from "./url.ts";

const ONE = { offset: 0, limit: 1 };
const ROWS = { offset: 0, limit: 10_000 };
/** Of more ranks these are asked when they came: a question has to fit into an address. */
const MOST_RANKS = 32;
/** Clocks may be wrong by that much, or by what the table says. */
const LEAST_ERROR_NS = 1000;

export interface Clock {
  readonly rank: string;
  readonly span: string;
  /** What its clock shows - what the median clock shows. */
  readonly offset: number;
  readonly error: number;
}

export interface Came {
  readonly rank: string;
  readonly span: string;
  /** By the common clock. */
  readonly at: number;
  /** Its row in the events. */
  readonly row: number;
}

/** The clocks of the rows of `ranks`. */
export function clocksOf(frame: Frame<"ranks">): Clock[] {
  return frame.map((row) => ({
    rank: frame.text(row, "rank"),
    span: frame.index("span") < 0 ? "" : frame.text(row, "span"),
    offset: frame.index("clock_offset_ns") < 0 ? 0 : (frame.at(row, "clock_offset_ns") ?? 0),
    error: frame.index("clock_error_ns") < 0 ? 0 : (frame.at(row, "clock_error_ns") ?? 0),
  }));
}

/** EXPR for what communicates on each of CLOCKS when the last rank came, AT by the common clock. */
export function whereOfCall(clocks: readonly Clock[], at: number): string {
  const each = clocks.map(({ rank, span, offset, error }) => {
    const then = Math.round(at + offset);
    const most = then + Math.max(LEAST_ERROR_NS, error);
    const of = span === "" ? `rank = ${rank}` : `rank = ${rank} AND span = ${span}`;
    return `(${of} AND start_ns <= ${most} AND start_ns + dur_ns > ${then})`;
  });
  return `${COMMUNICATES} AND (${each.join(" OR ")})`;
}

/** When each rank came, by EVENTS: of several the last one, and work of a device before the host's. */
export function cameOf(events: Frame<"events">, clocks: readonly Clock[]): Came[] {
  const found = new Map<string, Came & { readonly isKernel: boolean }>();
  for (let row = 0; row < events.n; row++) {
    const rank = events.text(row, "rank");
    const span = events.index("span") < 0 ? "" : events.text(row, "span");
    const clock = clocks.find((one) => one.rank === rank && (one.span === span || span === ""));
    const at = (events.at(row, "start_ns") ?? 0) - (clock?.offset ?? 0);
    const isKernel = events.text(row, "kind") === "kernel";
    const known = found.get(`${rank} ${span}`);
    const isBetter =
      known === undefined || (isKernel === known.isKernel ? at > known.at : isKernel);
    if (isBetter) found.set(`${rank} ${span}`, { rank, span, at, row, isKernel });
  }
  return [...found.values()].sort((a, b) => a.at - b.at);
}

/** Which of CAME, in order of time, came at the median time, and is not LATE; null: none is. */
export function medianOf(came: readonly Came[], late: string): Came | null {
  const others = came.filter((one) => one.rank !== late);
  return others[Math.floor((others.length - 1) / 2)] ?? null;
}

/** The row of `collective_calls` that ROW is about: itself, or the one its rank was latest for. */
async function callOf(
  page: PageState,
  { table, values }: RowHere,
): Promise<Frame<"collective_calls"> | null> {
  const { rank = "", step = "" } = values;
  if (table !== "collective_calls" && rank === "") return null;
  const place = page.place.value;
  const options = {
    ...allRanksOptions(step === "" || step === "all" ? place : { ...place, steps: step }),
    sort: "-skew_ns",
    where:
      table === "collective_calls"
        ? `name = ${quote(values.name ?? "")} AND start_ns = ${values.start_ns ?? -1}`
        : `last_rank = ${rank}`,
  };
  const calls = await page.api.table("collective_calls", options, ONE);
  return calls.n === 0 ? null : calls;
}

function numberOf(timeline: Timeline, events: Frame<"events">, came: Came): number | null {
  const trace = timeline.traces.find(
    (one) => String(one.rank) === came.rank && (came.span === "" || String(one.span) === came.span),
  );
  const id = events.at(came.row, "id");
  return trace === undefined || id === null ? null : trace.first_event + id;
}

/** Those of CLOCKS that are asked: the one of LATE, and as many others as may be. */
function askedOf(clocks: readonly Clock[], late: string): readonly Clock[] {
  const others = clocks.filter((clock) => clock.rank !== late);
  return [...clocks.filter((clock) => clock.rank === late), ...others].slice(0, MOST_RANKS);
}

/** Go to the call that ROW is about; false: it is about none whose ranks can be compared. */
export async function traceOfLate(page: PageState, row: RowHere): Promise<boolean> {
  const call = await callOf(page, row);
  const [start, skew] = [call?.at(0, "start_ns") ?? null, call?.at(0, "skew_ns") ?? null];
  if (call === null || start === null || skew === null) return false;
  const late = call.text(0, "last_rank");
  const everything = allRanksOptions({ ...page.place.value, steps: "", t: null });
  const [ranks, timeline] = await Promise.all([
    page.api.table("ranks", everything, ROWS),
    page.api.timeline(page.run.value),
  ]);
  const clocks = askedOf(clocksOf(ranks), late);
  const { rank: _, span: __, ...options } = allTimeOptions(page.place.value);
  const where = whereOfCall(clocks, start + skew);
  const events = await page.api.table(
    "events",
    { ...options, fp: timeline.fingerprint, where },
    ROWS,
  );
  const came = cameOf(events, clocks);
  const last = came.find((one) => one.rank === late);
  const median = medianOf(came, late);
  if (last === undefined || median === null) return false;
  const offset = clocks.find((clock) => clock.rank === late)?.offset ?? 0;
  const took = Math.max(1, skew + (call.at(0, "transfer_ns") ?? 0));
  const from = Math.round(start + offset - took / 4);
  const event = numberOf(timeline, events, last);
  page.go({
    ...FRESH,
    view: "trace",
    rank: last.rank,
    span: last.span,
    cmp: formatBase({ run: page.run.value, rank: median.rank, span: median.span }),
    lock: "clock",
    w: { from, to: from + Math.round(took * 1.5) },
    ...(event !== null && { sel: `ev:${event}` }),
  });
  return true;
}
