// SPDX-License-Identifier: Apache-2.0
// The rows that an answer in the page's file has for a question: filtered, sorted and cut here.

import type { CatalogTable, Options, Rows } from "./api.ts";
import type { Frame } from "./cols.ts";
import { type Stored, sortRows } from "./pick.ts";
import { parseWhere, type Term } from "./where.ts";

/** Options that chose the stored answer, or that are answered here. */
const KNOWN = new Set(["run", "group-by", "merge", "sort", "where", "rank", "span"]);

/** Of each list one must be true. */
type Terms = readonly (readonly Term[])[];

/** The terms of OPTIONS; null: they say more than the page can answer. */
function termsOf(stored: Stored, table: CatalogTable, options: Options): Terms | null {
  const terms: (readonly Term[])[] = [];
  for (const name of ["rank", "span"] as const) {
    const value = options[name];
    if (value === undefined) continue;
    // The table may compare ranks, or have them summed.
    if (table.joins_ranks || options.merge !== undefined) return null;
    if (typeof value !== "string" || !/^\d+$/.test(value)) return null;
    if (stored.frame.find(name) < 0) return null;
    terms.push([{ column: name, type: "integer", test: (text) => text === value }]);
  }
  if (typeof options.where === "string") {
    const parsed = parseWhere(options.where);
    if (parsed === null) return null;
    for (const { column, type } of parsed.flat())
      if (stored.frame.columns[stored.frame.find(column)]?.type !== type) return null;
    terms.push(...parsed);
  }
  return terms;
}

function filterRows(stored: Stored, terms: Terms): number[] {
  const { frame } = stored;
  const tests = terms.map((any) =>
    any.map(({ column, test }) => ({ column: frame.find(column), test })),
  );
  const rows: number[] = [];
  for (let row = 0; row < frame.n; row++) {
    const isTaken = tests.every((any) =>
      any.some(({ column, test }) => {
        const value = frame.value(row, column);
        return test(value === null ? null : String(value));
      }),
    );
    if (isTaken) rows.push(row);
  }
  return rows;
}

function sorted(stored: Stored, table: CatalogTable, rows: readonly number[], sort: string) {
  const match = /^(-?)(\w+)(:asc|:desc)?$/.exec(sort);
  const column = match ? stored.frame.find(match[2]!) : -1;
  if (column < 0) return null;
  const of = (["rank", "span"] as const).map((name) => stored.frame.index(name));
  const block = (row: number) =>
    table.joins_ranks ? "" : of.map((c) => (c < 0 ? "" : stored.frame.value(row, c))).join();
  return sortRows(stored, rows, column, match![3] === ":asc", block);
}

/** Whether all ROWS are of one span. */
function isOneSpan(stored: Stored, rows: readonly number[]): boolean {
  const column = stored.frame.index("span");
  return column < 0 || new Set(rows.map((row) => stored.frame.value(row, column))).size <= 1;
}

/** The columns of STORED with their sums over ROWS; null: not all rows are there. */
function withSums(stored: Stored, rows: readonly number[] | null) {
  return stored.head.columns.map((column, index) => {
    const { type } = stored.frame.columns[index]!;
    if (rows === null || (type !== "integer" && type !== "number")) return { ...column, sum: null };
    let whole = 0n;
    let sum = 0;
    for (const row of rows) {
      const value = stored.frame.value(row, index);
      if (typeof value === "bigint") whole += value;
      else if (typeof value === "number") sum += value;
    }
    return { ...column, sum: String(type === "integer" ? whole : sum) };
  });
}

/** Rows ROWS of what STORED answers to OPTIONS, which PRINT makes a command; null: it has not all of
 * them. If IS_ALONE, OPTIONS name a rank, whose rows are asked for as their own sum. */
export function answerRows(
  stored: Stored,
  table: CatalogTable,
  options: Options,
  { offset, limit, sums }: Rows,
  print: (options: Options) => string,
  isAlone = false,
): Frame | null {
  const { frame } = stored;
  const { run: _, ...asked } = options;
  const { "group-by": __, merge: ___, ...more } = asked;
  if (Object.keys(options).some((name) => !KNOWN.has(name))) return null;
  const isWhole = frame.n === frame.rows;
  if (!isWhole && Object.keys(more).length > 0) return null;
  if (!isWhole && offset >= frame.n && limit > 0) return null;
  const terms = termsOf(stored, table, options);
  if (terms === null) return null;
  let rows: readonly number[] | null = filterRows(stored, terms);
  if (typeof options.sort === "string") rows = sorted(stored, table, rows, options.sort);
  if (rows === null) return null;
  if (isAlone && !isOneSpan(stored, rows)) return null;
  const columns = sums ? withSums(stored, isWhole ? rows : null) : stored.head.columns;
  return stored.pick(rows.slice(offset, offset + limit), {
    command: print(isAlone ? { ...asked, merge: true } : asked),
    rows: isWhole ? rows.length : frame.rows,
    offset,
    columns: isAlone ? columns.filter(({ name }) => name !== "rank" && name !== "span") : columns,
  });
}
