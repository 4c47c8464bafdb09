// SPDX-License-Identifier: Apache-2.0
// Where the timelines of two runs are laid side by side.

import type { Frame } from "../api/cols.ts";
import { wordOf } from "./strip.ts";

export interface Anchor {
  /** What both have there. */
  readonly text: string;
  /** Its start in the run, and in the one that it is compared with. */
  readonly run: number;
  readonly base: number;
}

/** The starts of what the rows of FRAME are called by NAMEOF, the first one of each name. */
function startsOf(
  frame: Frame<"steps" | "collective_calls">,
  nameOf: (row: number) => string,
): Map<string, number> {
  const starts = new Map<string, number>();
  for (let row = 0; row < frame.n; row++) {
    const at = frame.at(row, "start_ns");
    const name = nameOf(row);
    if (at !== null && !starts.has(name)) starts.set(name, at);
  }
  return starts;
}

function common(run: Map<string, number>, base: Map<string, number>, wanted: string) {
  const names = [wanted, ...run.keys()];
  const name = names.find((one) => run.has(one) && base.has(one));
  return name === undefined ? null : { name, run: run.get(name)!, base: base.get(name)! };
}

/** The step WANTED of two tables `steps`, else the first one that both have; null: there is none. */
export function stepAnchor(
  run: Frame<"steps">,
  base: Frame<"steps">,
  wanted: string,
): Anchor | null {
  const of = (frame: Frame<"steps">) => startsOf(frame, (row) => wordOf(frame, row));
  const found = common(of(run), of(base), wanted);
  return found && { text: `step ${found.name}`, run: found.run, base: found.base };
}

/** The first collective of two tables `collective_calls` that both have. */
export function collectiveAnchor(
  run: Frame<"collective_calls">,
  base: Frame<"collective_calls">,
): Anchor | null {
  const of = (frame: Frame<"collective_calls">) =>
    startsOf(frame, (row) => frame.text(row, "name"));
  const found = common(of(run), of(base), "");
  return found && { text: `the first ${found.name}`, run: found.run, base: found.base };
}

/** The same moment by the clocks of two ranks, which RANKS has with a blank between, of a table
 * `ranks`; null: they cannot be compared. */
export function clockAnchor(frame: Frame<"ranks">, ranks: string): Anchor | null {
  const offsets = ranks.split(" ").map((rank) => {
    if (frame.index("clock_offset_ns") < 0) return null;
    for (let row = 0; row < frame.n; row++)
      if (frame.text(row, "rank") === rank) return frame.at(row, "clock_offset_ns");
    return null;
  });
  const [run, base] = offsets;
  return run == null || base == null ? null : { text: "the common clock", run, base };
}
