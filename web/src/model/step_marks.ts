// SPDX-License-Identifier: Apache-2.0
// The steps that a ruler shows: those of one rank, as others are nearly at the same times.

import type { Frame } from "../api/cols.ts";
import { hasSteps, wordOf } from "./strip.ts";

/** The steps of the first rank of FRAME, which is of the table `steps`, of all spans. */
export function stepMarks(frame: Frame<"steps">): { word: string; from: number; to: number }[] {
  if (!hasSteps(frame)) return [];
  const rank = frame.text(0, "rank");
  const rows = frame.map((row) => row);
  return rows
    .filter((row) => frame.text(row, "rank") === rank)
    .map((row) => {
      const from = frame.at(row, "start_ns") ?? 0;
      return { word: wordOf(frame, row), from, to: from + (frame.at(row, "total_ns") ?? 0) };
    });
}
