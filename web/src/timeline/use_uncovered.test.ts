// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Timeline, Track } from "../api/api.ts";
import { parsePlace } from "../state/url.ts";
import { laneToShow, topOf, uncovered } from "./use_uncovered.ts";

const track = (thread: string, of: string, lanes: number) =>
  ({
    ...{ id: lanes, trace: 0, process: "1", thread, of, lanes, sort: "thread", has_frames: true },
    ...{ process_name: "", thread_name: "" },
  }) as unknown as Track;
const [deep, bare, flat] = [
  track("1", "all", 30),
  track("1", "no_frames", 5),
  track("2", "all", 9),
];
const queue = { ...track("7", "all", 1), sort: "queue", has_frames: false, is_packed: true };
const packed = { ...queue, id: 77, of: "packed" };
const other: Track = { ...deep, id: 78, sort: "async" };
const timeline = {
  tracks: [deep, bare, flat, track("2", "no_frames", 2), queue, packed, other],
  series: [],
  traces: [{ rank: 0, span: 1 }],
} as unknown as Timeline;

test("what covers a range is undone, and nothing else", () => {
  const place = parsePlace(
    "#/trace?fold=t0.1.1.thread,p0.1,p0.9&hide=t0.1.1.thread,t0.9.9.thread&only=queue&rank=3",
  );
  deepEqual(uncovered(timeline, deep, 27, place), {
    ...{ fold: ["p0.9"], hide: ["t0.9.9.thread"], rank: "", only: "", python: "on" },
    depth: new Map([["t0.1.1.thread", 28]]),
  });
  deepEqual(uncovered(timeline, flat, 3, parsePlace("#/trace")), { fold: [], hide: [] });
});

test("a pinned track is uncovered among those that are pinned, and no other is", () => {
  const place = parsePlace("#/trace?fold=pinned,p0.1&pin=t0.1.1.thread");
  deepEqual(uncovered(timeline, deep, 0, place).fold, ["p0.1"]);
  deepEqual(uncovered(timeline, flat, 0, place).fold, ["pinned"]);
});

test("frames are shown only for what is in no lane without them", () => {
  const lanes = [deep, bare].map(({ id }) => ({ track: id, depth: 1 }));
  const shown = (words: string) => laneToShow(timeline, lanes, parsePlace(`#/trace?${words}`));
  deepEqual([shown("")?.track, shown("python=on")?.track], [bare.id, deep.id]);
  equal(laneToShow(timeline, lanes.slice(0, 1), parsePlace("#/trace"))?.track, deep.id);
  equal(uncovered(timeline, bare, 1, parsePlace("#/trace?python=off")).python, undefined);
  equal(uncovered(timeline, other, 1, parsePlace("#/trace?python=off")).python, undefined);
});

test("a packed queue is uncovered where it is shown", () => {
  const lanes = [queue, packed].map(({ id }) => ({ track: id, depth: 0 }));
  const shown = (words: string) => laneToShow(timeline, lanes, parsePlace(`#/trace?${words}`));
  deepEqual([shown("")?.track, shown("unpack=p0.1")?.track], [packed.id, queue.id]);
});

test("a lane is found where it is shown", () => {
  const row = { kind: "track", track: flat, y: 100, lanes: 4, isFolded: false };
  const layout = { rows: [row], height: 0 } as unknown as Parameters<typeof topOf>[0];
  equal(topOf(layout, { track: flat.id, depth: 2 }), 136);
  equal(topOf(layout, { track: flat.id, depth: 4 }), null);
  equal(topOf(layout, { track: 99, depth: 0 }), null);
});
