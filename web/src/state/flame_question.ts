// SPDX-License-Identifier: Apache-2.0
// What the flame view can show, and how it says it.

import type { FlameQuestion } from "../api/api.ts";
import { format } from "../model/units.ts";
import { selectionOptions } from "./options.ts";
import type { Place } from "./url.ts";

export const STACKS = [
  { name: "op", title: "operators" },
  { name: "module", title: "modules" },
  { name: "python", title: "Python" },
  { name: "sample", title: "samples" },
] as const;

export const METRICS = [
  { name: "host_self_ns", title: "host", unit: "ns", what: "host time" },
  { name: "device_self_ns", title: "device", unit: "ns", what: "device time" },
  { name: "self_alloc_bytes", title: "memory", unit: "bytes", what: "allocated memory" },
  { name: "calls", title: "calls", unit: null, what: "calls" },
] as const;

export type Metric = (typeof METRICS)[number];

/** The stacks and the metric of PLACE. */
export function wishOf(place: Place): { stack: (typeof STACKS)[number]["name"]; metric: Metric } {
  const stack = STACKS.find((s) => s.name === place.stack)?.name ?? STACKS[0].name;
  const there = metricsOf(stack);
  return { stack, metric: there.find((m) => m.name === place.metric) ?? there[0]! };
}

/** What STACK can be measured by. */
export function metricsOf(stack: string): readonly Metric[] {
  if (stack === "sample") return METRICS.filter((m) => m.name === "calls");
  return METRICS.filter((m) => stack === "op" || m.name !== "self_alloc_bytes");
}

/** The name of a frame that PLACE has chosen; "": none. */
export function frameOfPlace(place: Place): string {
  return /^name:frame:(.*)$/s.exec(place.sel)?.[1] ?? "";
}

/** The question of PLACE for PIXELS; NAME and WAY: about one frame. */
export function flameQuestion(
  place: Place,
  pixels: number,
  name = "",
  way: "callees" | "callers" = "callees",
): FlameQuestion {
  const { stack, metric } = wishOf(place);
  const { run: _, ...selection } = selectionOptions(place);
  return {
    stack,
    metric: metric.name,
    root: name === "" ? place.root : "",
    name,
    way,
    q: name === "" ? place.q : "",
    pixels,
    selection,
  };
}

export function flameShare(value: number, total: number): string {
  return format(total > 0 ? value / total : 0, "ratio");
}
