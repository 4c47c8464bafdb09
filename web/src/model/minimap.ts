// SPDX-License-Identifier: Apache-2.0
// What the map of all of the time shows: each device in a lane of its own, and all steps.

import type { Frame } from "../api/cols.ts";

export interface UseBar {
  readonly from: number;
  readonly to: number;
  /** From 0 to 1. */
  readonly use: number;
}

/** For each device, or for neighbours where there are more than MOST_LANES, how busy it was, in at
 * most MOST_BARS bars; FRAME is of the table `utilization`. */
export function deviceLanes(
  frame: Frame<"utilization">,
  mostLanes: number,
  mostBars: number,
): UseBar[][] {
  const devices = new Map<string, number>();
  const keyOf = (row: number) => `${frame.text(row, "rank")}/${frame.text(row, "device")}`;
  for (let row = 0; row < frame.n; row++)
    if (!devices.has(keyOf(row))) devices.set(keyOf(row), devices.size);
  const n = Math.min(mostLanes, devices.size);
  const sums = Array.from(
    { length: n },
    () => new Map<number, { to: number; sum: number; n: number }>(),
  );
  for (let row = 0; row < frame.n; row++) {
    const lane = Math.floor((devices.get(keyOf(row))! * n) / devices.size);
    const from = frame.at(row, "start_ns") ?? 0;
    const to = from + (frame.at(row, "dur_ns") ?? 0);
    const part = sums[lane]!.get(from) ?? { to, sum: 0, n: 0 };
    part.sum += frame.at(row, "utilization_ratio") ?? 0;
    part.n++;
    part.to = Math.max(part.to, to);
    sums[lane]!.set(from, part);
  }
  return sums.map((parts) => joined(parts, mostBars));
}

function joined(
  parts: ReadonlyMap<number, { to: number; sum: number; n: number }>,
  most: number,
): UseBar[] {
  const times = [...parts].sort(([a], [b]) => a - b);
  const size = Math.max(1, Math.ceil(times.length / most));
  const bars: UseBar[] = [];
  for (let i = 0; i < times.length; i += size) {
    const some = times.slice(i, i + size);
    const sum = some.reduce((all, [, part]) => all + part.sum, 0);
    const n = some.reduce((all, [, part]) => all + part.n, 0);
    bars.push({ from: some[0]![0], to: some[some.length - 1]![1].to, use: sum / n });
  }
  return bars;
}
