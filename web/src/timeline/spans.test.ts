// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Timeline, TraceOfRun } from "../api/api.ts";
import { countTraces, firstWindow, spansOf } from "./spans.ts";

function timelineOf(traces: readonly (readonly [number, number, number, number])[]): Timeline {
  const list: TraceOfRun[] = traces.map(([rank, span, from_ns, to_ns]) => ({
    ...{ rank, span, first_event: 0, worker: null, from_ns, to_ns },
  }));
  const from_ns = Math.min(...traces.map((t) => t[2]));
  const to_ns = Math.max(...traces.map((t) => t[3]));
  const rest = {
    fingerprint: "f",
    base_ns: null,
    kinds: [],
    names: 0,
    names_per_page: 256,
    tracks: [],
    series: [],
  };
  return { ...rest, from_ns, to_ns, traces: list };
}

const apart = timelineOf([
  [0, 1, 0, 90],
  [1, 1, 10, 100],
  [0, 2, 5000, 5100],
]);

test("spans that are far apart are shown one at a time", () => {
  assert.deepEqual(firstWindow(apart, ""), { from: 0, to: 100 });
  assert.deepEqual(firstWindow(apart, "2"), { from: 5000, to: 5100 });
  const near = timelineOf([
    [0, 1, 0, 100],
    [0, 2, 150, 250],
  ]);
  assert.deepEqual(firstWindow(near, ""), { from: 0, to: 250 });
});

test("a trace without events has no time", () => {
  const empty = { rank: 1, span: 2, first_event: 0, worker: null, from_ns: null, to_ns: null };
  const timeline = { ...apart, traces: [...apart.traces.slice(0, 2), empty] };
  assert.deepEqual(
    spansOf(timeline).map(({ span }) => span),
    [1],
  );
});

test("ranks and spans are counted", () => {
  assert.equal(countTraces(apart), "2 ranks, 2 spans");
  assert.equal(countTraces(timelineOf([[3, 1, 0, 1]])), "");
});
