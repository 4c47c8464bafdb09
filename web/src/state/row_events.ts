// SPDX-License-Identifier: Apache-2.0
// Which events, or which time, a row of a table is about: of a sum all that it counts.

import type { Window } from "../api/api.ts";
import type { ColumnOf, TableName, TextsOf } from "../api/tables.ts";
import { quote } from "../model/expr.ts";
import { countsSteps } from "../model/names.ts";
import type { RowHere } from "./session.ts";

/** Of a row of T and the column that is meant: EXPR for its events. */
type Rule<T extends TableName> = (values: TextsOf<T>, column: string) => string;
/** Some columns of a row; of other tables these are the same. */
type Values<C extends string> = { readonly [K in C]?: string };
type EventColumn = ColumnOf<"events">;

/** In names of kernels of libraries for communication. */
const COMMUNICATION =
  "lower(name) regexp '[nrmhbc]ccl|hcom_|shmem|all[-_]?(reduce|gather)|reduce[-_]?scatter|all[-_]?to[-_]?all'";
/** Events of the parts of a step. */
const PARTS: Readonly<Record<string, string>> = {
  kernel: `kind = 'kernel' AND NOT ${COMMUNICATION}`,
  memcpy: "kind = 'memcpy'",
  memset: "kind = 'memset'",
  communication: `(kind = 'communication' OR (kind = 'kernel' AND ${COMMUNICATION}))`,
  runtime: "kind in ('runtime', 'driver')",
  dataloader: "kind = 'dataloader'",
  cpu_exec: "kind in ('operator', 'annotation', 'optimizer', 'python')",
  step: "kind = 'step'",
};

/** EXPR for what communicates. */
export const COMMUNICATES = PARTS.communication!;

function all(...terms: readonly string[]): string {
  return terms.filter((term) => term !== "").join(" AND ");
}

/** COLUMN is as in VALUES; "": it is not known. */
function same<C extends EventColumn>(values: Values<C>, column: C): string {
  const value = values[column];
  return value === undefined ? "" : `${column} = ${quote(value)}`;
}

/** The names that the name of a row of `ranges` or `durations` stands for. */
function ofName(values: Values<"kind" | "name">): string {
  return countsSteps(values.kind, values.name)
    ? `(name = ${quote(values.name!)} OR name regexp '^ProfilerStep#')`
    : same(values, "name");
}

function number<C extends EventColumn>(values: Values<C>, column: C): string {
  return numberAs(column, values[column]);
}

/** The same of a VALUE that its row has by another name. */
function numberAs(column: EventColumn, value: string | undefined): string {
  return value === undefined ? "" : `${column} = ${value}`;
}

/** Both, but nothing if the first one is not known. */
function within(first: string, ...more: readonly string[]): string {
  return first === "" ? "" : all(first, ...more);
}

/** Calls with inputs of SHAPE, as column input_shape has it, by the sizes in their arguments. */
export function isOfShape(shape: string): string {
  const [dims, old] = ["Dims", "dims"].map((word) => `json_extract(args, '$."Input ${word}"')`);
  const text = `replace(coalesce(${dims}, ${old}, '[]'), ' ', '')`;
  return `${text} = ${quote(shape.replaceAll(" ", ""))}`;
}

const rankOf = (values: Values<"rank">) => number(values, "rank");

/** The one event that started at START. */
const one = (start: string | undefined, v: Values<"rank">, ...words: readonly string[]) =>
  within(numberAs("start_ns", start), rankOf(v), ...words);

const named = (v: Values<"kind" | "name">) => within(ofName(v), same(v, "kind"));
const operator = (v: Values<"name" | "input_shape">) =>
  within(
    same(v, "name"),
    "kind = 'operator'",
    v.input_shape === undefined ? "" : isOfShape(v.input_shape),
  );
const ofPart = (v: Values<"rank">) => within(COMMUNICATES, rankOf(v));

/** The part COLUMN of the step of a row of `steps`, or all of it. */
const step: Rule<"steps"> = (v, column) => {
  const from = Number(v.start_ns);
  const to = from + Number(v.total_ns);
  const part = PARTS[column.replace(/_ns$/, "")] ?? "";
  const time = `start_ns >= ${from} AND start_ns < ${to}`;
  return Number.isSafeInteger(to) ? all(part, time, rankOf(v)) : "";
};

const RANGE_COLUMNS = ["kind", "category", "process", "thread", "device"] as const;

const RULES: { readonly [T in TableName]?: Rule<T> } = {
  events: (v) =>
    within(number(v, "start_ns"), number(v, "id"), rankOf(v), same(v, "kind"), same(v, "thread")),
  siblings: (v) => within(number(v, "start_ns"), number(v, "id"), rankOf(v), same(v, "thread")),
  memory_events: (v) => one(v.alloc_ns, v, "kind = 'alloc'"),
  memory_live: (v) => one(v.oldest_ns, v, "kind = 'alloc'"),
  memory_peaks: (v) => one(v.peak_ns, v, "kind in ('alloc', 'free')"),
  memory_curve: (v) => one(v.time_ns, v, "kind in ('alloc', 'free')"),
  memory: operator,
  operators: operator,
  diff_operators: operator,
  diff_inside: operator,
  modules: (v) =>
    v.name === undefined ? "" : `name in (${quote(`nn.Module: ${v.name}`)}, ${quote(v.name)})`,
  ranges: (v) =>
    all(ofName(v), ...RANGE_COLUMNS.map((word) => same(v, word)), number(v, "step"), rankOf(v)),
  durations: (v) =>
    within(
      named(v),
      v.from_ns === undefined ? "" : `dur_ns >= ${v.from_ns}`,
      v.to_ns === undefined ? "" : `dur_ns < ${v.to_ns}`,
    ),
  step_explain: (v) => within(named(v), number(v, "step"), rankOf(v)),
  steps: step,
  overview: (v) => PARTS[v.category ?? ""] ?? "",
  diff_steps: () => "",
  devices: (v) => within(same(v, "device"), rankOf(v)),
  threads: (v) => within(same(v, "process"), same(v, "thread"), rankOf(v)),
  flows: (v) => within(numberAs("id", v.from_id), rankOf(v)),
  collectives: (v) => within(same(v, "name"), rankOf(v)),
  rank_wait: ofPart,
  stragglers: ofPart,
  rank_overlap: ofPart,
  ranks: (v) => within("kind = 'step'", rankOf(v)),
};

/** EXPR for the events that ROW counts, in its column if that is a part; "": its values tell none. */
export function eventsOf({ table, values, column = "" }: RowHere): string {
  // Which table it is of, is known only now.
  const rule = (RULES as Readonly<Record<string, Rule<never> | undefined>>)[table] ?? named;
  return rule(values, column);
}

/** Tables whose rows are about a time, in which there may be no event. */
const TIMES: { readonly [T in TableName]?: readonly [from: ColumnOf<T>, dur: ColumnOf<T> | ""] } = {
  steps: ["start_ns", "total_ns"],
  utilization: ["start_ns", "dur_ns"],
  quality: ["first_ns", ""],
};

/** The time that ROW is about; null: it is about events. */
export function timeOf({ table, values, column = "" }: RowHere): Window | null {
  const times: Readonly<Record<string, readonly [string, string] | undefined>> = TIMES;
  const [from, dur] = times[table] ?? [];
  if (from === undefined || values[from] === undefined) return null;
  if (table === "steps" && PARTS[column.replace(/_ns$/, "")] !== undefined) return null;
  const start = Number(values[from]);
  const end = start + Math.max(1, Number(values[dur ?? ""] ?? 1));
  return Number.isSafeInteger(end) ? { from: start, to: end } : null;
}

const ONE_EVENT: readonly string[] = [
  "events",
  "siblings",
  "flows",
  "memory_events",
  "memory_peaks",
  "memory_curve",
  "memory_live",
] satisfies TableName[];

/** Whether ROW stands for one event, so that there are no others to mark. */
export function isOneEvent({ table }: RowHere): boolean {
  return ONE_EVENT.includes(table);
}
