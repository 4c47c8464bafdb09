// SPDX-License-Identifier: Apache-2.0
// Which columns a grid shows, in which order, how wide, and which stay at its left edge; as the
// address has it: cols=NAME[!][:WIDTH],... where ! pins. Without it all are shown.

import { charactersIn, type ShownColumn } from "./columns.ts";

export interface ColumnWish {
  readonly name: string;
  readonly isPinned: boolean;
  /** In pixels; 0: as wide as its values. */
  readonly width: number;
}

const LEAST_WIDTH = 40;
const MOST_WIDTH = 2000;

/** The columns that TEXT names; what is no column is left out. */
export function parseCols(text: string): ColumnWish[] {
  const wishes: ColumnWish[] = [];
  for (const word of text.split(",")) {
    const match = /^([a-z][a-z0-9_]*)(!?)(?::(\d{1,4}))?$/.exec(word);
    if (match === null || wishes.some((w) => w.name === match[1])) continue;
    const width = Number(match[3] ?? 0);
    wishes.push({
      name: match[1]!,
      isPinned: match[2] === "!",
      width: width === 0 ? 0 : Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, width)),
    });
  }
  return wishes;
}

export function formatCols(wishes: readonly ColumnWish[]): string {
  return wishes
    .map((w) => `${w.name}${w.isPinned ? "!" : ""}${w.width > 0 ? `:${w.width}` : ""}`)
    .join(",");
}

/** What --columns has for WISHES; null: the table's own. */
export function columnsOption(wishes: readonly ColumnWish[]): string | null {
  return wishes.length === 0 ? null : wishes.map((w) => w.name).join(",");
}

/** What a grid shows of the columns of its table when nothing was chosen. */
export interface Usual<C extends string = string> {
  /** Those that it leaves out. */
  readonly hidden?: readonly C[];
  /** Those that come behind all others. */
  readonly last?: readonly C[];
}

/** COLUMNS as USUAL has them, without those that are EMPTY; the menu of columns has all. */
export function usualColumns<C extends { readonly name: string }>(
  columns: readonly C[],
  { hidden = [], last = [] }: Usual,
  empty: ReadonlySet<string>,
): C[] {
  const shown = columns.filter((c) => !hidden.includes(c.name) && !empty.has(c.name));
  const isLast = (column: C) => last.includes(column.name);
  return [...shown.filter((c) => !isLast(c)), ...shown.filter(isLast)];
}

export interface PlacedColumn extends ShownColumn {
  readonly isPinned: boolean;
  /** The left edge of a pinned column. */
  readonly left: number;
}

/** COLUMNS as WISHES want them: pinned ones first. */
export function placeColumns(
  columns: readonly ShownColumn[],
  wishes: readonly ColumnWish[],
): PlacedColumn[] {
  const wishOf = (name: string) => wishes.find((w) => w.name === name);
  const placed = columns.map((column) => {
    const wish = wishOf(column.name);
    return {
      ...column,
      isPinned: wish?.isPinned ?? false,
      // Who chooses a width sees all that fits into it.
      ...(wish !== undefined &&
        wish.width > 0 && {
          width: wish.width,
          labels: column.relabel(wish.width),
          most: column.labels === null ? column.most : charactersIn(wish.width),
        }),
      left: 0,
    };
  });
  let left = 0;
  return [...placed.filter((c) => c.isPinned), ...placed.filter((c) => !c.isPinned)].map((c) => {
    const at = { ...c, left };
    left += c.isPinned ? c.width : 0;
    return at;
  });
}

/** WISHES, or those that say the same as NAMES, the columns that are shown without any. */
export function wishesOf(
  wishes: readonly ColumnWish[],
  names: readonly string[],
): readonly ColumnWish[] {
  return wishes.length > 0 ? wishes : names.map((name) => ({ name, isPinned: false, width: 0 }));
}

export function changed(
  wishes: readonly ColumnWish[],
  name: string,
  change: Partial<ColumnWish>,
): ColumnWish[] {
  return wishes.map((w) => (w.name === name ? { ...w, ...change } : w));
}

/** NAME one place further left (-1) or right (1). */
export function moved(wishes: readonly ColumnWish[], name: string, by: -1 | 1): ColumnWish[] {
  const at = wishes.findIndex((w) => w.name === name);
  const to = at + by;
  if (at < 0 || to < 0 || to >= wishes.length) return [...wishes];
  const next = [...wishes];
  [next[at], next[to]] = [next[to]!, next[at]!];
  return next;
}

/** NAME shown as the last, or not at all; one column always stays. */
export function toggled(wishes: readonly ColumnWish[], name: string): ColumnWish[] {
  const rest = wishes.filter((w) => w.name !== name);
  if (rest.length < wishes.length) return rest.length > 0 ? rest : [...wishes];
  return [...wishes, { name, isPinned: false, width: 0 }];
}
