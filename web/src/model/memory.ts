// SPDX-License-Identifier: Apache-2.0
// Which devices have memory, and the curves of one of them.

import type { Frame } from "../api/cols.ts";
import type { NumberOf } from "../api/tables.ts";
import type { Curve } from "./thin.ts";
import { rowOfLargest } from "./top.ts";

export interface Line {
  readonly title: string;
  readonly curve: Curve;
  /** The name of a colour of the theme. */
  readonly colour: string;
  readonly dash?: readonly number[];
}

export interface DeviceOfPeak {
  /** In the address: RANK/PROCESS/DEVICE. */
  readonly word: string;
  readonly title: string;
  readonly rank: string;
  readonly process: string;
  readonly device: string;
  /** Its row in memory_peaks; -1: it has none. */
  readonly row: number;
  readonly capacity: number | null;
}

/** The devices of PEAKS (memory_peaks), and the one called WORD, or else of the highest peak. */
export function deviceOfPlace(
  peaks: Frame<"memory_peaks"> | null,
  word: string,
): [devices: readonly DeviceOfPeak[], device: DeviceOfPeak | null] {
  if (peaks === null) return [[], null];
  const devices = peaks.map((row) => {
    const rank = peaks.text(row, "rank");
    const process = peaks.text(row, "process");
    const device = peaks.text(row, "device");
    return {
      word: `${rank}/${process}/${device}`,
      title: `${rank === "" ? "" : `rank ${rank}, `}${device}, process ${process}`,
      rank,
      process,
      device,
      row,
      capacity: peaks.at(row, "capacity_bytes"),
    };
  });
  const highest = devices[rowOfLargest(peaks, "peak_bytes")] ?? devices[0] ?? null;
  return [devices, devices.find((d) => d.word === word) ?? highest];
}

/** The same where no record has totals: of SUMS (memory), the one called WORD, or else one that is
 * not the CPU. */
export function devicesOfSums(
  sums: Frame<"memory"> | null,
  word: string,
): [devices: readonly DeviceOfPeak[], device: DeviceOfPeak | null] {
  if (sums === null) return [[], null];
  const names = new Set(sums.map((row) => sums.text(row, "device")));
  const devices = [...names].sort().map((device) => {
    const base = { rank: "", process: "", row: -1, capacity: null };
    return { ...base, word: `//${device}`, title: device, device };
  });
  const preset = devices.find(({ device }) => device !== "cpu") ?? devices[0] ?? null;
  return [devices, devices.find((one) => one.word === word) ?? preset];
}

/** Below this share of the capacity its line would only flatten the others. */
export const CAPACITY_SHOWN = 0.25;

/** The curves of FRAME (memory_curve of DEVICE); that of its capacity only if it is near. */
export function curvesOf(frame: Frame<"memory_curve">, device: DeviceOfPeak): Line[] {
  const x = Float64Array.from({ length: frame.n }, (_, row) => frame.at(row, "time_ns") ?? 0);
  const line = (column: NumberOf<"memory_curve">) =>
    Float64Array.from({ length: frame.n }, (_, row) => frame.at(row, column) ?? 0);
  const allocated = line("allocated_bytes");
  const reserved = line("reserved_bytes");
  const lines: Line[] = [{ title: "allocated", colour: "kernel", curve: { x, y: allocated } }];
  if (reserved.some((v) => v > 0))
    lines.push({ title: "reserved", colour: "memcpy", curve: { x, y: reserved } });
  const most = Math.max(
    allocated.reduce((a, b) => Math.max(a, b), 0),
    reserved.reduce((a, b) => Math.max(a, b), 0),
  );
  if (device.capacity !== null && most > CAPACITY_SHOWN * device.capacity) {
    const ends = Float64Array.of(x[0] ?? 0, x[x.length - 1] ?? 0);
    const y = Float64Array.of(device.capacity, device.capacity);
    lines.push({ title: "capacity", colour: "slower", dash: [6, 4], curve: { x: ends, y } });
  }
  return lines;
}
