// SPDX-License-Identifier: Apache-2.0
// Who let the others wait in which step: ranks by steps. Above 64 ranks, those that are alike
// share a row, and those that are like few others have their own.

import type { Frame } from "../api/cols.ts";
import type { NumberOf } from "../api/tables.ts";

export interface HeatRow {
  readonly label: string;
  /** Of the first member. */
  readonly rank: string;
  readonly span: string;
  /** How many ranks the row stands for. */
  readonly members: number;
  /** By step; the mean of the members. */
  readonly values: readonly number[];
}

export interface HeatMap {
  readonly steps: readonly string[];
  readonly rows: readonly HeatRow[];
  readonly most: number;
  /** The cell with the most; null: there is none. */
  readonly worst: { readonly row: number; readonly step: number } | null;
  readonly ranks: number;
}

export type HeatOrder = "late" | "rank" | "alike";

const MOST_ROWS = 64;
/** Ranks are alike if their steps differ by less than this part of the largest value. */
const LEAST_DISTANCE = 0.02;
/** Of so many ranks, one that is like fewer than one of them is shown alone. */
const FEW = 128;

export function compareLabels(a: string, b: string): number {
  const [x, y] = [Number(a), Number(b)];
  if (a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  return a < b ? -1 : a > b ? 1 : 0;
}

function sum(values: readonly number[]): number {
  return values.reduce((all, v) => all + v, 0);
}

/** Each rank and span of FRAME with its values of COLUMN by STEPS. */
function ranksOf(
  frame: Frame<"stragglers">,
  column: NumberOf<"stragglers">,
  steps: readonly string[],
): HeatRow[] {
  const at = new Map(steps.map((step, i) => [step, i]));
  const rows = new Map<string, { rank: string; span: string; values: number[] }>();
  for (let i = 0; i < frame.n; i++) {
    const [rank, span] = [frame.text(i, "rank"), frame.text(i, "span")];
    const key = `${rank} ${span}`;
    let row = rows.get(key);
    if (row === undefined) {
      row = { rank, span, values: new Array<number>(steps.length).fill(0) };
      rows.set(key, row);
    }
    row.values[at.get(frame.text(i, "step"))!]! += frame.at(i, column) ?? 0;
  }
  return [...rows.values()]
    .map((row) => ({
      ...row,
      label: row.span === "" ? `rank ${row.rank}` : `rank ${row.rank}, span ${row.span}`,
      members: 1,
    }))
    .sort((a, b) => compareLabels(a.rank, b.rank) || compareLabels(a.span, b.span));
}

/** The mean difference of two rows, of MOST. */
function distance(a: HeatRow, b: HeatRow, most: number): number {
  const all = a.values.reduce((d, v, i) => d + Math.abs(v - b.values[i]!), 0);
  return all / Math.max(1, a.values.length * most);
}

/** ROWS in groups, each of those that are near its first one. */
function group(rows: readonly HeatRow[], most: number, near: number): HeatRow[][] {
  const groups: HeatRow[][] = [];
  for (const row of rows) {
    const like = groups.find((g) => distance(g[0]!, row, most) < near);
    if (like !== undefined) like.push(row);
    else if (groups.push([row]) > 4 * MOST_ROWS) break;
  }
  return groups;
}

function joined(members: readonly HeatRow[]): HeatRow {
  const first = members[0]!;
  if (members.length === 1) return first;
  return {
    ...first,
    label: `${members.length} like ${first.label}`,
    members: members.length,
    values: first.values.map((_, i) => sum(members.map((m) => m.values[i]!)) / members.length),
  };
}

/** At most 64 rows: groups of those that are alike, and alone those that are like few. */
function condense(rows: readonly HeatRow[], most: number): HeatRow[] {
  for (let near = LEAST_DISTANCE; ; near *= 1.6) {
    const groups = group(rows, most, near);
    const few = Math.max(1, Math.floor(rows.length / FEW));
    const alone = groups.filter((g) => g.length <= few);
    const together = groups.filter((g) => g.length > few);
    const n = sum(alone.map((g) => g.length)) + together.length;
    const isWhole = sum(groups.map((g) => g.length)) === rows.length;
    if (isWhole && n <= MOST_ROWS) return [...together.map(joined), ...alone.flat()];
    if (isWhole && groups.length <= MOST_ROWS) return groups.map(joined);
    if (near > 2) return [joined(rows)];
  }
}

/** ROWS so that each stands beside one that is like it, the latest first. */
function alike(rows: readonly HeatRow[], most: number): HeatRow[] {
  const rest = [...rows].sort((a, b) => sum(b.values) - sum(a.values));
  const chain = rest.splice(0, 1);
  while (rest.length > 0) {
    const last = chain[chain.length - 1]!;
    let best = 0;
    for (let i = 1; i < rest.length; i++)
      if (distance(last, rest[i]!, most) < distance(last, rest[best]!, most)) best = i;
    chain.push(...rest.splice(best, 1));
  }
  return chain;
}

function sorted(rows: readonly HeatRow[], order: HeatOrder, most: number): HeatRow[] {
  if (order === "alike") return alike(rows, most);
  if (order === "late") return [...rows].sort((a, b) => sum(b.values) - sum(a.values));
  return [...rows].sort((a, b) => compareLabels(a.rank, b.rank) || compareLabels(a.span, b.span));
}

/** The map of COLUMN of FRAME, whose rows have rank and step. */
export function heatOf(
  frame: Frame<"stragglers">,
  column: NumberOf<"stragglers">,
  order: HeatOrder,
): HeatMap {
  const labels = new Set<string>();
  for (let i = 0; i < frame.n; i++) labels.add(frame.text(i, "step"));
  const steps = [...labels].sort(compareLabels);
  const all = ranksOf(frame, column, steps);
  const most = Math.max(0, ...all.map((row) => Math.max(...row.values)));
  const few = all.length > MOST_ROWS ? condense(all, most) : all;
  const rows = sorted(few, order, most);
  let worst: HeatMap["worst"] = null;
  for (const [row, { values }] of rows.entries())
    for (const [step, value] of values.entries())
      if (value > 0 && (worst === null || value > rows[worst.row]!.values[worst.step]!))
        worst = { row, step };
  return { steps, rows, most, worst, ranks: all.length };
}

/** Where a key goes from cell (ROW, STEP) of MAP. */
export function cellBeside(
  map: HeatMap,
  at: { readonly row: number; readonly step: number },
  key: string,
): { row: number; step: number } {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key] ?? 0;
  const row = { ArrowUp: -1, ArrowDown: 1 }[key] ?? 0;
  const within = (v: number, n: number) => Math.min(n - 1, Math.max(0, v));
  return {
    row: within(at.row + row, map.rows.length),
    step: within(at.step + step, map.steps.length),
  };
}
