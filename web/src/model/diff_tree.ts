// SPDX-License-Identifier: Apache-2.0
// The tree of changes, one level at a time: what is inside a place, and which places are around it.

import type { Frame } from "../api/cols.ts";
import type { NumberOf } from "../api/tables.ts";
import { quote } from "./expr.ts";

/** EXPR for the place PATH and those around it, of the table `diff_tree`. */
export function aroundOf(path: string): string {
  const text = quote(path);
  return `path = ${text} or substr(${text}, 1, length(path) + 1) = path || '/'`;
}

/** What both runs have only outside of the steps that are compared takes no time per step. */
const IN_STEPS = "(coalesce(mean_base_ns, 1) <> 0 or coalesce(mean_new_ns, 1) <> 0)";

/** EXPR for what is directly inside PATH, which is DEPTH levels deep; "": the outermost. */
export function insideOf(path: string, depth: number): string {
  if (path === "") return `depth = 0 and ${IN_STEPS}`;
  return `depth = ${depth + 1} and substr(path, 1, length(${quote(path)}) + 1) = ${quote(`${path}/`)}`;
}

export interface Columns {
  readonly base: NumberOf<"diff_tree">;
  readonly new: NumberOf<"diff_tree">;
  readonly delta: NumberOf<"diff_tree">;
}

/** The columns of host or device time: per step if both runs have steps. */
export function columnsOf(frame: Frame<"diff_tree">, isDevice: boolean): Columns {
  const end = isDevice ? "device_ns" : "ns";
  const column = frame.index(`mean_delta_${end}`);
  const hasSteps = frame.map((row) => frame.value(row, column)).some((value) => value !== null);
  const mean = hasSteps ? "mean_" : "";
  return { base: `${mean}base_${end}`, new: `${mean}new_${end}`, delta: `${mean}delta_${end}` };
}

export interface Change {
  readonly name: string;
  readonly delta: number;
  /** Of this row and those before it: the change, and the times of both runs. */
  readonly sum: number;
  readonly base: number;
  readonly new: number;
}

/** The changes in COLUMNS of FRAME, each with the sums so far. */
export function accumulated(frame: Frame<"diff_tree">, columns: Columns): Change[] {
  const sums = { sum: 0, base: 0, new: 0 };
  return frame.map((row) => {
    const delta = frame.at(row, columns.delta) ?? 0;
    sums.sum += delta;
    sums.base += frame.at(row, columns.base) ?? 0;
    sums.new += frame.at(row, columns.new) ?? 0;
    return { name: nameOf(frame, row), delta, ...sums };
  });
}

/** What the place of ROW is called in the new run, or else in the base. */
export function nameOf(frame: Frame<"diff_tree">, row: number): string {
  return frame.text(row, "new_name") || frame.text(row, "base_name");
}
