// SPDX-License-Identifier: Apache-2.0
// How the columns of a table are shown: one unit each, from its largest value.

import type { CatalogTable } from "../api/api.ts";
import type { Column, Frame, Value } from "../api/cols.ts";
import { labelsOf, shorten } from "../model/names.ts";
import { sumAt } from "../model/top.ts";
import { formatIn, type Unit, unitFor } from "../model/units.ts";

export interface ShownColumn extends Column {
  readonly index: number;
  readonly isNumber: boolean;
  /** It is a place in time, not a length of it, and has no bars. */
  readonly isMoment: boolean;
  readonly shownUnit: Unit;
  readonly largest: number;
  readonly width: number;
  /** Of names that are longer than the column is wide: what each looks like in it. */
  readonly labels: ReadonlyMap<string, string> | null;
  /** The same for another width. */
  relabel(width: number): ReadonlyMap<string, string> | null;
  /** So many characters of a name fit. */
  readonly most: number;
}

const MIN_WIDTH = 56;
const MAX_WIDTH = 420;
const MAX_BESIDE = 280;
const CHARACTER = 7.5;
const PADDING = 18;
/** Of names that are cut: most of their letters are narrow. */
const MOST_CHARACTERS = 54;
/** How wide those are on average. */
const OF_NAMES = (MAX_WIDTH - PADDING) / MOST_CHARACTERS;
/** Columns of names that are no kernels. */
const NAMES = new Set(["name", "operator", "parent", "module"]);
/** What stands beside the title of a column: its sort, help and funnel. */
const HEAD_TOOLS = 38;

/** How the names of column INDEX look in MOST characters, so that different ones look different. */
function labelsIn(frame: Frame, index: number, most: number): ReadonlyMap<string, string> {
  const names = new Set<string>();
  for (let row = 0; row < frame.n; row++) names.add(String(frame.value(row, index) ?? ""));
  const all = [...names];
  const labels = labelsOf(
    all.map((name) => frame.label(name, index)),
    most,
  );
  return new Map(all.map((name, i) => [name, labels[i]!]));
}

/** How many characters of names fit WIDTH. */
export function charactersIn(width: number): number {
  return Math.max(1, Math.floor((width - PADDING) / OF_NAMES));
}

/** The columns of FRAME, whose rows decide units and widths; TABLE is what the catalog says. */
export function showColumns(frame: Frame, table: CatalogTable | undefined): ShownColumn[] {
  const symbols = new Set(table?.columns.filter((c) => c.symbol).map((c) => c.name));
  const moments = new Set(table?.columns.filter((c) => c.moment).map((c) => c.name));
  const isName = (name: string) => symbols.has(name) || NAMES.has(name);
  // Beside other names there must be room for numbers.
  const most = frame.columns.filter((c) => isName(c.name)).length > 1 ? MAX_BESIDE : MAX_WIDTH;
  return frame.columns.map((column, index) => {
    const isNumber = column.type === "integer" || column.type === "number";
    let largest = 0;
    let longest = 0;
    const hasNames = isName(column.name);
    for (let row = 0; row < frame.n; row++) {
      if (isNumber) largest = Math.max(largest, Math.abs(frame.number(row, index) ?? 0));
      else {
        const text = String(frame.value(row, index) ?? "");
        longest = Math.max(longest, (hasNames ? frame.label(text, index) : text).length);
      }
    }
    const shownUnit = unitFor(column.unit, column.type === "integer", largest);
    if (isNumber) longest = formatIn(largest, shownUnit).length + 1;
    const head = titleOf({ ...column, shownUnit }).length * CHARACTER + HEAD_TOOLS;
    const width = Math.round(Math.max(longest * CHARACTER, head) + PADDING);
    const relabel = (room: number) =>
      hasNames ? labelsIn(frame, index, charactersIn(room)) : null;
    const shownWidth = Math.min(hasNames ? most : MAX_WIDTH, Math.max(MIN_WIDTH, width));
    return {
      ...column,
      index,
      isNumber,
      isMoment: moments.has(column.name),
      shownUnit,
      largest,
      labels: hasNames
        ? labelsIn(frame, index, width > shownWidth ? charactersIn(shownWidth) : longest)
        : null,
      relabel,
      most: hasNames ? charactersIn(shownWidth) : Number.POSITIVE_INFINITY,
      width: shownWidth,
    };
  });
}

/** The name of a column without the unit that is in it, and the unit that is shown. */
export function titleOf(column: { name: string; unit: string | null; shownUnit: Unit }): string {
  const name = column.name.replace(/_(ns|bytes|ratio)$/, "").replaceAll("_", " ");
  return column.unit === null || column.shownUnit.label === ""
    ? name
    : `${name}, ${column.shownUnit.label}`;
}

export function textOf(value: Value, column: ShownColumn): string {
  if (value === null) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : formatIn(Number(value), column.shownUnit);
}

/** What stands in a cell of FRAME; its title is the whole text. */
export function labelOf(value: Value, column: ShownColumn, frame: Frame): string {
  const text = textOf(value, column);
  if (typeof value !== "string") return text;
  return column.labels?.get(text) ?? shorten(frame.label(text, column.index), column.most);
}

/** The length of the bar behind a value: a share is one of the whole, other values are shares of the
 * largest; 0: there is none. */
export function shareOf(value: Value | undefined, column: ShownColumn): number {
  if (value === undefined || value === null || !column.isNumber) return 0;
  if (column.unit === null || column.largest <= 0 || column.isMoment) return 0;
  const v = Math.max(0, Number(value));
  return column.unit === "ratio" && column.largest <= 1 ? v : v / column.largest;
}

const OF_DEVICES = /^tc_|(^|_)device(_|$)/;
const isTime = (unit: string | null) => unit === "ns" || unit === "ratio";

/** The columns of FRAME that count work of devices, if no row of the answer has any. */
export function emptyColumns(frame: Frame): ReadonlySet<string> {
  const sum = (name: string) => {
    const index = frame.find(name);
    return frame.sum(index) ?? (frame.n === frame.rows ? sumAt(frame, index) : null);
  };
  const of = frame.columns.filter((c) => OF_DEVICES.test(c.name));
  const times = of.filter((c) => c.type === "integer" && c.unit === "ns");
  if (times.length === 0 || times.some((c) => Number(sum(c.name) ?? 1) !== 0)) return new Set();
  return new Set(of.filter((c) => isTime(c.unit) || c.type === "boolean").map((c) => c.name));
}
