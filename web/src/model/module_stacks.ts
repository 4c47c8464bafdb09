// SPDX-License-Identifier: Apache-2.0
// The table of modules as stacks, to be drawn as an icicle.

import type { FlameStacks } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import type { NumberOf } from "../api/tables.ts";

export const MODULE_TIMES = [
  { name: "device_total_ns", title: "device" },
  { name: "host_total_ns", title: "host" },
  { name: "backward_device_ns", title: "backward, device" },
  { name: "backward_host_ns", title: "backward, host" },
] as const;

/** Those of MODULE_TIMES of which FRAME has any. */
export function moduleTimes(frame: Frame<"modules">) {
  return MODULE_TIMES.filter(({ name }) => {
    for (let row = 0; row < frame.n; row++) if ((frame.at(row, name) ?? 0) > 0) return true;
    return false;
  });
}

/** The modules of FRAME, whose rows are in the order of the tree, as wide as their COLUMN. */
export function stacksOfModules(
  frame: Frame<"modules">,
  column: NumberOf<"modules"> | null,
): FlameStacks {
  const caller: number[] = [];
  const totals: number[] = [];
  const names: string[] = [];
  const open: number[] = [];
  for (let row = 0; row < frame.n; row++) {
    const depth = Math.min(frame.at(row, "depth") ?? 0, open.length);
    open.length = depth;
    caller.push(open[depth - 1] ?? -1);
    open.push(row);
    totals.push(Math.max(0, (column === null ? null : frame.at(row, column)) ?? 0));
    names.push(frame.text(row, "name"));
  }
  // A module whose work runs on after it is at least as wide as what it calls.
  const inside = totals.map(() => 0);
  for (let row = frame.n - 1; row >= 0; row--) {
    totals[row] = Math.max(totals[row]!, inside[row]!);
    if (caller[row]! >= 0) inside[caller[row]!]! += totals[row]!;
  }
  return {
    total: totals.reduce((sum, v, row) => sum + (caller[row]! < 0 ? v : 0), 0),
    matched: null,
    stacks: frame.n,
    command: frame.command ?? "",
    text: "",
    caller,
    name: names.map((_, i) => i),
    names,
    self: totals.map((v, row) => v - inside[row]!),
    total_of: totals,
  };
}
