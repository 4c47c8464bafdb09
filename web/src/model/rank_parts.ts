// SPDX-License-Identifier: Apache-2.0
// What an average step of each rank is made of, by "RANK SPAN" as the map of ranks names its rows.

import type { Frame } from "../api/cols.ts";
import { formatTime } from "./units.ts";

export interface RankPart {
  readonly parts: ReadonlyArray<{ readonly fill: string; readonly ns: number }>;
  readonly total: number;
  readonly title: string;
}

const PARTS = [
  { column: "computation_ns", title: "computes", fill: "kernel" },
  { column: "overlapping_ns", title: "both", fill: "memcpy" },
  { column: "communication_ns", title: "communicates", fill: "communication" },
] as const;

export function rankParts(overlap: Frame<"rank_overlap"> | null): Map<string, RankPart> {
  const found = new Map<string, RankPart>();
  for (let row = 0; overlap !== null && row < overlap.n; row++) {
    const parts = PARTS.map(({ column, fill }) => ({ fill, ns: overlap.at(row, column) ?? 0 }));
    found.set(`${overlap.text(row, "rank")} ${overlap.text(row, "span")}`, {
      parts,
      total: parts.reduce((ns, part) => ns + part.ns, 0),
      title: PARTS.map((p, i) => `${p.title} ${formatTime(parts[i]!.ns)}`).join(", "),
    });
  }
  return found;
}

/** Row ROW of FRAME by its rank, and by its span if it has one. */
export function rankName(frame: Frame, row: number): string {
  const span = frame.text(row, "span");
  return span === "" ? frame.text(row, "rank") : `${frame.text(row, "rank")}, span ${span}`;
}
