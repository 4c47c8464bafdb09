// SPDX-License-Identifier: Apache-2.0
// From a question to the place that shows its rows. Options that no view has are kept as they are, for
// the view of all tables.

import type { Question } from "../api/question.ts";
import { isMoreOption } from "./more_options.ts";
import { FRESH, type Place } from "./url.ts";

type Key =
  | "sort"
  | "where"
  | "by"
  | "cols"
  | "rank"
  | "span"
  | "process"
  | "steps"
  | "priority"
  | "length";
const KEYS: Readonly<Record<string, Key>> = {
  sort: "sort",
  where: "where",
  "group-by": "by",
  columns: "cols",
  rank: "rank",
  process: "process",
  span: "span",
  steps: "steps",
  priority: "priority",
  "step-length": "length",
};
/** Words without a value, and what they change. */
const SWITCHES: Readonly<Record<string, Partial<Place>>> = {
  merge: { merge: "on" },
  "all-steps": { kept: "all" },
};

type Draft = { -readonly [K in keyof Omit<Place, "other">]?: Place[K] };

/** A time of an option, in ns; null: it has another unit. */
function timeOf(value: string | true | undefined): number | null {
  const match = /^(-?\d+)(?:ns)?$/.exec(String(value));
  return match ? Number(match[1]) : null;
}

/** What to change to come to the rows of QUESTION, of the run that is shown; null: no place shows just
 * them. */
export function placeOfQuestion({ table, options }: Question): Partial<Place> | null {
  // What a question does not say it does not select.
  const all = { rank: "", span: "", process: "", steps: "", t: null, thread: "" };
  const place: Draft = { ...FRESH, ...all, view: "tables", table };
  const more: Record<string, string | true> = {};
  for (const [name, value] of Object.entries(options)) {
    const key = KEYS[name];
    if (name === "run" || name === "fp") continue;
    if (value === true && SWITCHES[name] !== undefined) Object.assign(place, SWITCHES[name]);
    else if (key !== undefined && value !== true) place[key] = value;
    else if (isMoreOption(name)) more[name] = value;
    else return null;
  }
  // A range of which both ends are known is one of all views; else the table has its end.
  const [from, to] = [timeOf(more.from), timeOf(more.to)];
  if (from !== null && to !== null) {
    place.t = { from, to };
    delete more.from;
    delete more.to;
  }
  return { ...place, opts: more };
}
