// SPDX-License-Identifier: Apache-2.0
// Which part of a step gets the time that several of them share: words of --priority.

import type { Frame } from "../api/cols.ts";

/** PRIORITY with NAME before all others; without it, if it was there already. */
export function first(priority: string, name: string): string {
  const words = priority.split(",").filter((word) => word !== "");
  const others = words.filter((word) => word !== name);
  return (others.length < words.length ? others : [name, ...words]).join(",");
}

/** The parts of the average step by name, of FRAME, which is of the table `overview`. */
export function sharesOf(frame: Frame<"overview">): Map<string, number> {
  const sums = new Map<string, number>();
  for (let row = 0; row < frame.n; row++) {
    const name = frame.text(row, "category");
    if (name !== "step") sums.set(name, frame.at(row, "avg_ns") ?? 0);
  }
  return sums;
}
