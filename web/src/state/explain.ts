// SPDX-License-Identifier: Apache-2.0
// What explains a step or an event: which step is meant, and what the command is asked for it.

import type { Api, EventDetail, Options } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import { allTimeOptions } from "./options.ts";
import type { PageState } from "./session.ts";
import { FRESH, type Place } from "./url.ts";

const ONE = { offset: 0, limit: 1 };

/** The step that PLACE explains, as --steps has it; "": none. */
export function explainedStep(place: Place): string {
  return /^step:(@?\d+)$/.exec(place.sel)?.[1] ?? "";
}

/** The number of the event that PLACE selects; null: none. */
export function selectedEvent(place: Place): number | null {
  const match = /^ev:(\d+)$/.exec(place.sel);
  return match ? Number(match[1]) : null;
}

/** Options of `steps` for the step WORD, on the rank where it took longest first. */
export function stepOptions(place: Place, word: string): Options {
  return { ...allTimeOptions(place), steps: word, sort: "total_ns" };
}

/** The row of STEPS in which the step took longest; -1: there is none. */
function longest(steps: Frame<"steps">): number {
  let row = steps.n > 0 ? 0 : -1;
  for (let i = 1; i < steps.n; i++)
    if ((steps.at(i, "total_ns") ?? 0) > (steps.at(row, "total_ns") ?? 0)) row = i;
  return row;
}

/** Options of `step_explain` for the step in STEPS; null: there is none. */
export function explainOptions(place: Place, steps: Frame<"steps">): Options | null {
  const row = longest(steps);
  if (row < 0) return null;
  const rank = steps.index("rank") < 0 ? {} : { rank: steps.text(row, "rank") };
  const span = steps.index("span") < 0 ? {} : { span: steps.text(row, "span") };
  return { ...allTimeOptions(place), ...rank, ...span, where: `step = ${steps.text(row, "step")}` };
}

/** Options of `siblings` for the event of DETAIL. */
export function siblingOptions(place: Place, detail: EventDetail): Options {
  const { fingerprint: fp, rank, span, id } = detail;
  const of = { fp, rank: String(rank), span: String(span), event: String(id) };
  return { ...allTimeOptions(place), ...of };
}

/** Explain the selected step, or the step of the selected event. */
export async function explain(page: PageState): Promise<void> {
  const place = page.place.value;
  const event = selectedEvent(place);
  if (event === null) {
    const word = place.steps.split(",")[0]?.split("-")[0] ?? "";
    if (word !== "") page.go({ sel: `step:${word}` });
    else page.notice.value = "select a step or an event to have it explained";
    return;
  }
  const detail = await page.api.event(page.run.value, event, page.fingerprint.value);
  const options = { ...siblingOptions(place, detail), where: `id = ${detail.id}` };
  const frame = await page.api.table("siblings", options, ONE);
  const step = frame.n > 0 ? frame.text(0, "step") : "";
  if (step === "") page.notice.value = "the selected event is in no step";
  else page.go({ sel: `step:@${step}` });
}

/** Go to the time of the explained step in the trace. */
export async function traceOfStep(page: PageState): Promise<void> {
  const place = page.place.value;
  const word = explainedStep(place);
  if (word === "") return;
  const steps = await page.api.table("steps", stepOptions(place, word), { offset: 0, limit: 1000 });
  const row = longest(steps);
  if (row < 0) return;
  const from = steps.at(row, "start_ns") ?? 0;
  const to = from + Math.max(1, steps.at(row, "total_ns") ?? 1);
  page.go({ ...FRESH, view: "trace", w: { from, to }, sel: place.sel });
}

/** Show all rows that explain the step. */
export async function rowsOfStep(page: PageState): Promise<void> {
  const place = page.place.value;
  const word = explainedStep(place);
  if (word === "") return;
  const steps = await page.api.table("steps", stepOptions(place, word), { offset: 0, limit: 1000 });
  const options = explainOptions(place, steps);
  if (options === null) return;
  const { rank = place.rank, span = place.span, where = "" } = options as Record<string, string>;
  const shown = { view: "tables", table: "step_explain", rank, span, where } as const;
  page.go({ ...FRESH, ...shown, steps: "", t: null });
}

/** The sibling of DETAIL that follows it in time, or precedes it; null: there is none. */
async function siblingBeside(
  api: Api,
  place: Place,
  detail: EventDetail,
  delta: 1 | -1,
): Promise<number | null> {
  const [is, order] = delta > 0 ? [">", ":asc"] : ["<", ""];
  const { start_ns: at, id } = detail;
  const options = {
    ...siblingOptions(place, detail),
    where: `start_ns ${is} ${at} OR (start_ns = ${at} AND id ${is} ${id})`,
    sort: `start_ns${order}`,
  };
  const frame = await api.table("siblings", options, ONE);
  return frame.n > 0 ? frame.at(0, "id") : null;
}

/** Select the next (1) or previous (-1) event of the same name. */
export async function goToSibling(page: PageState, delta: 1 | -1): Promise<void> {
  const place = page.place.value;
  const event = selectedEvent(place);
  if (event === null) return;
  const detail = await page.api.event(page.run.value, event, page.fingerprint.value);
  const id = await siblingBeside(page.api, place, detail, delta);
  if (id === null) {
    page.notice.value = `there is no ${delta > 0 ? "later" : "earlier"} one of this name`;
    return;
  }
  const number = event - detail.id + id;
  page.go({ sel: `ev:${number}` });
}
