// SPDX-License-Identifier: Apache-2.0
// Times along the top: marks at round times, labelled relative to the first one in sight where
// the whole time would repeat the same digits.

import { formatTime } from "../model/units.ts";
import type { Viewport } from "./viewport.ts";

const LEAST_PIXELS = 90;

/** The distance of marks: 1, 2 or 5 times a power of ten ns, at least LEAST_PIXELS wide. */
export function tickStep(nsPerPx: number): number {
  const least = Math.max(1, nsPerPx * LEAST_PIXELS);
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5, 10]) if (power * factor >= least) return power * factor;
  return power * 10;
}

export interface Tick {
  readonly time: number;
  readonly x: number;
  readonly label: string;
}

/** The marks in WIDTH pixels. */
export function ticks(viewport: Viewport, width: number): Tick[] {
  const step = tickStep(viewport.nsPerPx);
  const from = viewport.time(0);
  const to = viewport.time(width);
  const first = Math.ceil(from / step) * step;
  // Labels are differences where whole times would read alike.
  const isRelative = formatTime(first) === formatTime(first + step);
  const found: Tick[] = [];
  for (let time = first; time <= to; time += step) {
    const isFirst = found.length === 0;
    const label = isRelative && !isFirst ? `+${formatTime(time - first)}` : formatTime(time);
    found.push({ time, x: viewport.x(time), label });
  }
  return found;
}
