// SPDX-License-Identifier: Apache-2.0
// From one hit of the search in the timeline to the next one, wherever it is.

import type { Timeline, TraceOfRun } from "../api/api.ts";
import { isExpression, whereOf } from "../model/expr.ts";
import { matcher } from "../model/pattern.ts";
import { allTimeOptions } from "./options.ts";
import type { PageState } from "./session.ts";

const ONE = { offset: 0, limit: 1 };
/** So many traces are searched. */
const MOST_TRACES = 64;

interface Hit {
  readonly at: number;
  readonly event: number;
}

/** Whether an event called NAME can be a hit of TEXT, which is searched: of =EXPR only the server knows. */
export function mayBeHit(text: string, name: string): boolean {
  return isExpression(text) || matcher(text)(name);
}

/** The hit in TRACE that starts next after FROM ns, or before it; null: there is none. */
async function hitOf(
  page: PageState,
  { fingerprint: fp }: Timeline,
  trace: TraceOfRun,
  from: number,
  delta: 1 | -1,
): Promise<Hit | null> {
  const place = page.place.value;
  const [is, order] = delta > 0 ? [">", ":asc"] : ["<", ""];
  const options = {
    ...{ ...allTimeOptions(place), fp },
    rank: String(trace.rank),
    span: String(trace.span),
    where: `(${whereOf("name", place.q)}) AND start_ns ${is} ${from}`,
    sort: `start_ns${order}`,
  };
  const frame = await page.api.table("events", options, ONE);
  if (frame.n === 0) return null;
  return { at: frame.at(0, "start_ns") ?? 0, event: trace.first_event + (frame.at(0, "id") ?? 0) };
}

/** Whether LIST, such as "0,2-5", has VALUE; "" has all. */
function has(list: string, value: number): boolean {
  return (
    list === "" ||
    list.split(",").some((word) => {
      const [first, last = first] = word.split("-").map(Number);
      return first! <= value && value <= last!;
    })
  );
}

async function hitBeside(
  page: PageState,
  timeline: Timeline,
  from: number,
  delta: 1 | -1,
): Promise<number | null> {
  const { rank, span } = page.place.value;
  const traces = timeline.traces
    .filter((trace) => has(rank, trace.rank) && has(span, trace.span))
    .slice(0, MOST_TRACES);
  const hits = await Promise.all(traces.map((trace) => hitOf(page, timeline, trace, from, delta)));
  let best: Hit | null = null;
  for (const hit of hits)
    if (hit !== null && (best === null || delta * (hit.at - best.at) < 0)) best = hit;
  return best === null ? null : best.event;
}

/** Select the hit after, or before, the selected event; without one the next after FROM ns. */
export async function goToHit(
  page: PageState,
  timeline: Timeline,
  from: number,
  delta: 1 | -1,
): Promise<void> {
  if (page.place.value.q === "") {
    page.notice.value = "nothing is searched: press / and write a name";
    return;
  }
  const event = await hitBeside(page, timeline, from, delta);
  if (event === null) page.notice.value = delta > 0 ? "no hit after it" : "no hit before it";
  else page.go({ sel: `ev:${event}` });
}
