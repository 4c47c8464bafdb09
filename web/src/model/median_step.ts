// SPDX-License-Identifier: Apache-2.0
// The step with which another one is compared: a real one, that in the middle by time.

import type { Frame } from "../api/cols.ts";
import { wordOf } from "./strip.ts";

export interface Step {
  /** As --steps has it. */
  readonly word: string;
  readonly from: number;
  readonly to: number;
}

function stepAt(frame: Frame<"steps">, row: number): Step {
  const from = frame.at(row, "start_ns") ?? 0;
  return { word: wordOf(frame, row), from, to: from + (frame.at(row, "total_ns") ?? 0) };
}

/**
 * Of the rows of FRAME, which is of the table `steps`, the one that is called WORD, and the one of
 * the same rank and span whose time is the median of those that are kept, the lower one of two
 * (null: it is that one). Null: there is no such step.
 */
export function besideMedian(
  frame: Frame<"steps">,
  word: string,
): { step: Step; median: Step | null } | null {
  const rows = frame.map((row) => row);
  const at = rows.find((row) => wordOf(frame, row) === word);
  if (at === undefined) return null;
  const isNear = (row: number) =>
    frame.text(row, "rank") === frame.text(at, "rank") &&
    frame.text(row, "span") === frame.text(at, "span") &&
    frame.value(row, frame.index("kept")) === true;
  const total = (row: number) => frame.at(row, "total_ns") ?? 0;
  const near = rows.filter(isNear).sort((a, b) => total(a) - total(b) || a - b);
  const middle = near[(near.length - 1) >> 1];
  const isOther = middle !== undefined && middle !== at;
  return { step: stepAt(frame, at), median: isOther ? stepAt(frame, middle) : null };
}
