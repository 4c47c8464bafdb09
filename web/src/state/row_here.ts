// SPDX-License-Identifier: Apache-2.0
// From the row of a table that the keys are in to its events, and to the longest of them in time.

import { showInTrace } from "./in_trace.ts";
import { quote, selectionOptions } from "./options.ts";
import type { PageState, RowHere } from "./session.ts";
import { FRESH } from "./url.ts";

const ONE = { offset: 0, limit: 1 };
/** Of these tables a row is one event: with this start, and this kind if it has one. */
const STARTS: Readonly<Record<string, readonly [column: string, kind: string]>> = {
  events: ["start_ns", ""],
  siblings: ["start_ns", ""],
  memory_events: ["alloc_ns", "alloc"],
};

function all(terms: readonly (string | null)[]): string {
  return terms.filter((term) => term !== null).join(" AND ");
}

/** EXPR for the events that ROW is about; "": it is about none that its values tell. */
export function eventsOf({ table, values }: RowHere): string {
  const { name, kind, thread, rank } = values;
  const word = (column: string, value: string | undefined) =>
    value === undefined ? null : `${column} = ${quote(value)}`;
  const start = STARTS[table];
  if (start !== undefined) {
    const [column, of] = start;
    const at = values[column];
    if (at === undefined) return "";
    const id = table === "events" || table === "siblings" ? values.id : undefined;
    return all([
      `start_ns = ${at}`,
      id === undefined ? null : `id = ${id}`,
      rank === undefined ? null : `rank = ${rank}`,
      word("kind", of || undefined),
      of === "" ? word("thread", thread) : null,
    ]);
  }
  if (name === undefined) return "";
  if (table === "modules") return `name in (${quote(`nn.Module: ${name}`)}, ${quote(name)})`;
  const isOperator = table === "operators" || table === "diff_operators" || table === "diff_inside";
  return all([word("name", name), word("kind", isOperator ? "operator" : kind)]);
}

const NOTHING = "this row names no events";

/** Show all events of ROW as rows. */
export function rowsOfRow(page: PageState, row: RowHere): void {
  const where = eventsOf(row);
  if (where === "") page.notice.value = NOTHING;
  else page.go({ ...FRESH, view: "tables", table: "events", where });
}

/** Go to the longest event of ROW in the trace; of two runs to both timelines. */
export async function traceOfRow(page: PageState, row: RowHere): Promise<void> {
  if (row.table.startsWith("diff_")) {
    page.go({ ...FRESH, view: "trace" });
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
  else await showInTrace(page, frame, 0);
}
