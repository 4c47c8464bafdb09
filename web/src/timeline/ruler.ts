// SPDX-License-Identifier: Apache-2.0
// Times along the top: marks at round times, labelled relative to the first one in sight where
// the whole time would repeat the same digits.

import { formatTime } from "../model/units.ts";
import type { Viewport } from "../model/viewport.ts";

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

/** What the labels count from: a time of the trace, and what it is by the wall clock. */
export interface Clock {
  readonly origin: number;
  /** Unix time in ns of the origin of the traces; null: labels are times since `origin`. */
  readonly unix: bigint | null;
}

export const FROM_ORIGIN: Clock = { origin: 0, unix: null };
const SECOND = 1_000_000_000n;

/** The time AT by the wall clock in UTC, as exact as marks that are STEP apart need. */
export function wallTime(unix: bigint, at: number, step: number): string {
  const ns = unix + BigInt(at);
  const rest = ((ns % SECOND) + SECOND) % SECOND;
  const seconds = new Date(Number((ns - rest) / 1_000_000n)).toISOString().slice(11, 19);
  const digits = Math.max(0, 9 - Math.floor(Math.log10(Math.max(1, step))));
  return digits === 0 ? seconds : `${seconds}.${String(rest).padStart(9, "0").slice(0, digits)}`;
}

/** The marks in WIDTH pixels, at round times of CLOCK. */
export function ticks(viewport: Viewport, width: number, clock = FROM_ORIGIN): Tick[] {
  const step = tickStep(viewport.nsPerPx);
  // Marks of the wall clock are at round parts of a second, whatever the origin.
  const { unix } = clock;
  const origin = unix === null ? clock.origin : -Number(unix % (1000n * SECOND));
  const from = viewport.time(0) - origin;
  const to = viewport.time(width) - origin;
  const first = Math.ceil(from / step) * step;
  // Labels are differences where whole times would read alike.
  const isRelative = unix === null && formatTime(first) === formatTime(first + step);
  const found: Tick[] = [];
  for (let at = first; at <= to; at += step) {
    const isFirst = found.length === 0;
    const time = at + origin;
    const label =
      unix !== null
        ? wallTime(unix, time, step)
        : isRelative && !isFirst
          ? `+${formatTime(at - first)}`
          : formatTime(at);
    found.push({ time, x: viewport.x(time), label });
  }
  return found;
}

/** A step in the ruler. */
export interface StepMark {
  readonly word: string;
  readonly from: number;
  readonly to: number;
}

const LEAST_STEP = 3;
const LEAST_LABEL = 24;

/** Draw those of STEPS that are wide enough along the top of CONTEXT. */
export function drawSteps(
  context: CanvasRenderingContext2D,
  steps: readonly StepMark[],
  view: { viewport: Viewport; width: number },
  cut: (text: string, width: number) => string,
): void {
  for (const { word, from, to } of steps) {
    const left = Math.max(-1, view.viewport.x(from));
    const right = Math.min(view.width + 1, view.viewport.x(to));
    if (right - left < LEAST_STEP) continue;
    context.strokeRect(left + 0.5, 0.5, right - left - 1, STEP_HEIGHT - 2);
    if (right - left < LEAST_LABEL) continue;
    const text = cut(`step ${word}  ${formatTime(to - from)}`, right - left - 6);
    context.fillText(text, Math.max(0, left) + 4, STEP_HEIGHT / 2);
  }
}

export const RULER_HEIGHT = 36;
export const STEP_HEIGHT = 15;
