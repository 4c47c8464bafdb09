// SPDX-License-Identifier: Apache-2.0

import type { Frame } from "../api/cols.ts";

export interface Stats {
  readonly min: number;
  readonly mean: number;
  readonly max: number;
  /** Of all values there are, not of a sample. */
  readonly std: number;
}

/** Over the rows of FRAME that have COLUMN; null: there are none. */
export function statsOf(frame: Frame, column: string): Stats | null {
  let n = 0;
  let sum = 0;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < frame.n; row++) {
    const v = frame.at(row, column);
    if (v === null) continue;
    n++;
    sum += v;
    min = Math.min(min, v);
    max = Math.max(max, v);
  }
  if (n === 0) return null;
  const mean = sum / n;
  let squares = 0;
  for (let row = 0; row < frame.n; row++) {
    const v = frame.at(row, column);
    if (v !== null) squares += (v - mean) ** 2;
  }
  return { min, mean, max, std: Math.sqrt(squares / n) };
}
