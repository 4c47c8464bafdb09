// SPDX-License-Identifier: Apache-2.0
// Sentences on top of views: each has a number, and says of what it is.

import type { Frame } from "../api/cols.ts";
import { rowOfLargest, sumOf, sumsBy } from "./top.ts";
import { format, formatTime } from "./units.ts";

function percent(part: number, whole: number): string {
  return format(whole > 0 ? part / whole : 0, "ratio");
}

/** The first of COLUMNS of which FRAME has any time; "": none. */
export function firstWithTime(frame: Frame, columns: readonly string[]): string {
  return columns.find((column) => Number(sumOf(frame, column)) > 0) ?? "";
}

/** The average step, and the largest part of it: row 0 of overview is the whole step. */
export function stepSentence(overview: Frame): string {
  const whole = overview.at(0, "avg_ns");
  if (whole === null) return "No step was measured.";
  let largest = 1;
  for (let row = 2; row < overview.n; row++)
    if ((overview.at(row, "avg_ns") ?? 0) > (overview.at(largest, "avg_ns") ?? 0)) largest = row;
  if (overview.n < 2) return `${formatTime(whole)} a step.`;
  const ratio = format(overview.at(largest, "ratio") ?? 0, "ratio");
  return `${formatTime(whole)} a step; ${ratio} of it is ${overview.text(largest, "category")}.`;
}

/** The operator that one should look at first. */
export function operatorSentence(frame: Frame): string {
  const column = firstWithTime(frame, ["device_self_ns", "host_self_ns"]);
  if (column === "") return "No operator took any time.";
  const row = rowOfLargest(frame, column);
  const share = percent(frame.at(row, column) ?? 0, Number(sumOf(frame, column)));
  const where = column === "device_self_ns" ? "device" : "host";
  return `${frame.text(row, "name")} takes ${share} of the ${where} time of operators.`;
}

/** The kernel that takes most, and what is known of tensor cores. */
export function kernelSentence(frame: Frame): string {
  const total = Number(sumOf(frame, "total_ns"));
  const row = rowOfLargest(frame, "total_ns");
  if (row < 0) return "No kernel was recorded.";
  const sums = sumsBy(frame, "total_ns", "tensor_cores");
  const share = percent(frame.at(row, "total_ns") ?? 0, total);
  const using = Number(sums.get("true") ?? 0);
  const cores =
    using > 0
      ? `${percent(using, total)} of kernel time uses tensor cores`
      : sums.has("false")
        ? "no kernel is known to use tensor cores"
        : "nothing is known of tensor cores";
  return `Kernels run for ${formatTime(total)}, the first for ${share} of it; ${cores}.`;
}

/** The module with most time of its own. */
export function moduleSentence(frame: Frame): string {
  const column = firstWithTime(frame, ["device_self_ns", "host_self_ns"]);
  if (column === "") return "No module took any time.";
  const row = rowOfLargest(frame, column);
  const share = percent(frame.at(row, column) ?? 0, Number(sumOf(frame, column)));
  const where = column === "device_self_ns" ? "device" : "host";
  return `${frame.text(row, "name")} takes ${share} of the ${where} time of modules by itself.`;
}

/** Where memory was highest. */
export function memorySentence(peaks: Frame): string {
  const row = rowOfLargest(peaks, "peak_bytes");
  if (row < 0) return "No peak of memory is known.";
  const peak = format(peaks.at(row, "peak_bytes") ?? 0, "bytes");
  const capacity = peaks.at(row, "capacity_bytes");
  const of = capacity === null ? "" : ` of ${format(capacity, "bytes")}`;
  const at = formatTime(peaks.at(row, "peak_ns") ?? 0);
  const alive = format(peaks.at(row, "live_count") ?? 0, null);
  return `Peak ${peak}${of} on ${peaks.text(row, "device")} at ${at}, with ${alive} blocks alive.`;
}

/** Who lets the others wait. */
export function lateSentence(stragglers: Frame): string {
  const row = rowOfLargest(stragglers, "caused_wait_ns");
  if (row < 0 || (stragglers.at(row, "caused_wait_ns") ?? 0) === 0)
    return "No rank makes the others wait, as far as collectives show.";
  const ns = formatTime(stragglers.at(row, "caused_wait_ns") ?? 0);
  const ratio = stragglers.at(row, "caused_ratio");
  const share = ratio === null ? "" : `, ${format(ratio, "ratio")} of all waiting`;
  const last = stragglers.at(row, "times_last") ?? 0;
  const all = stragglers.at(row, "collectives") ?? 0;
  return (
    `Rank ${stragglers.text(row, "rank")} makes the others wait ${ns}${share}; ` +
    `it came last to ${last} of ${all} collectives.`
  );
}

/** Whether the new run is faster: row 0 of diff_steps is the whole step. */
export function diffSentence(steps: Frame): string {
  const base = steps.at(0, "mean_base_ns");
  const now = steps.at(0, "mean_new_ns");
  if (base === null || now === null) return "The runs have no steps that can be compared.";
  const ratio = steps.at(0, "delta_ratio");
  const change = ratio === null ? "" : ` (${ratio > 0 ? "+" : ""}${format(ratio, "ratio")})`;
  const significant = steps.value(0, steps.index("significant"));
  const noise =
    significant === true
      ? ", beyond noise"
      : significant === false
        ? ", which may be noise"
        : ", of which nothing says whether it is noise";
  const n = `${steps.text(0, "base_calls")} and ${steps.text(0, "new_calls")} steps`;
  return `${formatTime(base)} → ${formatTime(now)} a step${change}${noise} (${n}).`;
}
