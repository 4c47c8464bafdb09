// SPDX-License-Identifier: Apache-2.0
// Spans: recordings of one run that are apart in time, often by far more than they are long.

import type { Timeline, TraceOfRun, Window } from "../api/api.ts";

/** Spans are shown one at a time where the run is so many times longer than all of them. */
const FAR = 3;

function rangeOf(traces: readonly TraceOfRun[]): Window | null {
  const some = traces.filter((trace) => trace.from_ns !== null && trace.to_ns !== null);
  if (some.length === 0) return null;
  return {
    from: Math.min(...some.map((trace) => trace.from_ns ?? 0)),
    to: Math.max(...some.map((trace) => trace.to_ns ?? 0)),
  };
}

/** The spans of TIMELINE with their times, in order. */
export function spansOf(timeline: Timeline): { span: number; range: Window }[] {
  const numbers = [...new Set(timeline.traces.map((trace) => trace.span))].sort((a, b) => a - b);
  return numbers.flatMap((span) => {
    const range = rangeOf(timeline.traces.filter((trace) => trace.span === span));
    return range === null ? [] : [{ span, range }];
  });
}

/** What is shown at first: the span SPAN ("": any), or all if that leaves most of it visible. */
export function firstWindow(timeline: Timeline, span: string): Window {
  const spans = spansOf(timeline);
  const chosen = spans.find((one) => String(one.span) === span);
  if (chosen) return chosen.range;
  const whole = { from: timeline.from_ns, to: timeline.to_ns };
  const covered = spans.reduce((sum, { range }) => sum + range.to - range.from, 0);
  return spans.length > 1 && whole.to - whole.from > FAR * covered ? spans[0]!.range : whole;
}

/** "2 ranks, 2 spans"; "" for one of each. */
export function countTraces(timeline: Timeline): string {
  const count = (n: number, word: string) => (n > 1 ? `${n} ${word}s` : "");
  const ranks = new Set(timeline.traces.map((trace) => trace.rank)).size;
  const spans = new Set(timeline.traces.map((trace) => trace.span)).size;
  return [count(ranks, "rank"), count(spans, "span")].filter((text) => text !== "").join(", ");
}
