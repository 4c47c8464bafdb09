// SPDX-License-Identifier: Apache-2.0
// The filter of a column, as an EXPR of --where that one can read and change.

import { quote, whereOf } from "./expr.ts";
import type { Unit } from "./units.ts";

export const COMPARISONS = [">=", "<=", "=", "<>"] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** The functions of --where that make a number of a unit one of the column. */
const FUNCTIONS: Readonly<Record<string, string>> = {
  s: "s",
  ms: "ms",
  us: "us",
  KiB: "kib",
  MiB: "mib",
  GiB: "gib",
};

/** COLUMN compared with TEXT, a number in UNIT; "": TEXT is no number. */
export function compareNumber(column: string, how: Comparison, text: string, unit: Unit): string {
  const number = text.trim().replace(",", ".");
  if (!/^-?\d+(\.\d+)?$/.test(number)) return "";
  const called = FUNCTIONS[unit.label];
  if (called !== undefined) return `${column} ${how} ${called}(${number})`;
  if (unit.label === "%") return `${column} ${how} ${number} / 100.0`;
  return `${column} ${how} ${number}`;
}

/** COLUMN, which has texts, contains or matches TEXT, or is it if IS_WHOLE. */
export function compareText(column: string, text: string, isWhole: boolean): string {
  if (text === "") return "";
  return isWhole ? `${column} = ${quote(text)}` : whereOf(column, text);
}

/** Both EXPR. */
export function both(a: string, b: string): string {
  if (a === "" || b === "") return a || b;
  const wrap = (expr: string) => (/\bor\b/i.test(expr) ? `(${expr})` : expr);
  return `${wrap(a)} and ${wrap(b)}`;
}
