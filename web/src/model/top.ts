// SPDX-License-Identifier: Apache-2.0
// The first rows of a table and the sum of all others: a chart of the top ten must not look as
// if they were all.

import type { Frame } from "../api/cols.ts";
import type { ColumnOf, NumberOf, TableName } from "../api/tables.ts";

/** Of one column: sums are exact for columns of integers. */
export interface Sums {
  readonly column: string;
  readonly unit: string | null;
  readonly total: number | bigint;
  /** Of the rows behind the first ones. */
  readonly other: number | bigint;
  /** The longest bar, that of "other" included. */
  readonly largest: number;
  /** The longest bar of a row that is shown. */
  readonly largestRow: number;
}

export interface Top {
  /** How many rows are shown one by one, from row 0 of the frame on. */
  readonly n: number;
  readonly nOther: number;
  readonly sums: readonly Sums[];
}

/** The sum of COLUMN over the rows [from, to) of FRAME, without missing ones. */
export function sumOf<T extends TableName>(
  frame: Frame<T>,
  column: NumberOf<T>,
  from = 0,
  to = frame.n,
): number | bigint {
  return sumAt(frame, frame.find(column), from, to);
}

/** The same of column INDEX. */
export function sumAt(frame: Frame, index: number, from = 0, to = frame.n): number | bigint {
  if (frame.columns[index]?.type === "integer") {
    let sum = 0n;
    for (let row = from; row < to; row++) {
      const v = frame.value(row, index);
      if (typeof v === "bigint") sum += v;
    }
    return sum;
  }
  let sum = 0;
  for (let row = from; row < to; row++) sum += frame.number(row, index) ?? 0;
  return sum;
}

/** The first N rows of FRAME by COLUMNS; columns that it does not have are left out. */
export function topOf<T extends TableName>(
  frame: Frame<T>,
  columns: readonly NumberOf<T>[],
  n: number,
): Top {
  const shown = Math.min(n, frame.n);
  const sums = columns
    .filter((column) => frame.find(column) >= 0)
    .map((column) => {
      const other = sumOf(frame, column, shown);
      let largestRow = 0;
      for (let row = 0; row < shown; row++)
        largestRow = Math.max(largestRow, frame.at(row, column) ?? 0);
      const unit = frame.columns[frame.find(column)]?.unit ?? null;
      return {
        column,
        unit,
        total: sumOf(frame, column),
        other,
        largest: Math.max(Number(other), largestRow),
        largestRow,
      };
    });
  return { n: shown, nOther: frame.n - shown, sums };
}

/** How many times as long as the longest row "other" may be drawn. */
const MOST_OTHER = 2;

/** What the longest bar of SUMS stands for: that of "other", unless rows would then hardly be seen
 * beside it. If rows nest, their sum is no time, and sets no scale. */
export function scaleOf({ largest, largestRow }: Sums, nests = false): number {
  const isTooLong = nests || largest > MOST_OTHER * largestRow;
  return isTooLong && largestRow > 0 ? largestRow : largest;
}

/** What tells ROW of FRAME from others of its name: the COLUMNS that it has, of stacks the first
 * line. */
export function tailOf<T extends TableName>(
  frame: Frame<T>,
  row: number,
  columns: readonly ColumnOf<T>[],
): string {
  const words = columns
    .filter((column) => frame.index(column) >= 0)
    .map((column) => frame.text(row, column).split(/[\n;]/, 1)[0] ?? "");
  return words.filter((word) => word !== "").join(" ");
}

/** The sums of COLUMN by the words of column BY, in order of their first row. */
export function sumsBy<T extends TableName>(
  frame: Frame<T>,
  column: NumberOf<T>,
  by: ColumnOf<T>,
): Map<string, number | bigint> {
  const sums = new Map<string, number | bigint>();
  const index = frame.find(column);
  const byIndex = frame.index(by);
  for (let row = 0; row < frame.n; row++) {
    const v = frame.value(row, index);
    const word = String(frame.value(row, byIndex));
    const old = sums.get(word);
    if (typeof v === "bigint") sums.set(word, BigInt(old ?? 0n) + v);
    else if (typeof v === "number") sums.set(word, Number(old ?? 0) + v);
  }
  return sums;
}

/** The row of FRAME with the largest value of COLUMN; -1: none has one. */
export function rowOfLargest<T extends TableName>(frame: Frame<T>, column: NumberOf<T>): number {
  let best = -1;
  for (let row = 0; row < frame.n; row++) {
    const v = frame.at(row, column);
    if (v !== null && (best < 0 || v > (frame.at(best, column) ?? 0))) best = row;
  }
  return best;
}

/** The first of COLUMNS of which FRAME has any time; null: none. */
export function firstWithTime<T extends TableName, C extends NumberOf<T>>(
  frame: Frame<T>,
  columns: readonly C[],
): C | null {
  return columns.find((column) => Number(sumOf(frame, column)) > 0) ?? null;
}
