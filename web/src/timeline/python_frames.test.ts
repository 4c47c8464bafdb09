// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Timeline, Track } from "../api/api.ts";
import { deepFrames, hasAllFrames, hidesFrames, levelsOf, otherFrames } from "./python_frames.ts";

const track = (thread: string, of: string, lanes: number) =>
  ({
    ...{ id: lanes, trace: 0, process: "1", thread, of, lanes, sort: "thread", has_frames: true },
    ...{ process_name: "", thread_name: "" },
  }) as unknown as Track;
const [deep, flat] = [track("1", "all", 30), track("2", "all", 9)];
const timeline = {
  tracks: [
    deep,
    track("1", "no_frames", 5),
    flat,
    track("2", "no_frames", 2),
    track("3", "all", 40),
  ],
  series: [],
  traces: [{ rank: 0, span: 1 }],
} as unknown as Timeline;

test("frames are left out where they add more than eight levels to something else", () => {
  const found = deepFrames(timeline);
  deepEqual([...found], [["0/1/1", 25]]);
  equal(levelsOf(deep, found), 25);
  equal(levelsOf(flat, found), 0);
  equal(hidesFrames(deep, "", found), true);
  equal(hidesFrames(deep, "on", found), false);
  equal(hidesFrames(flat, "", found), false);
  equal(hidesFrames(flat, "off", found), true);
});

test("what shows them or leaves them out always does something", () => {
  equal(hasAllFrames(timeline, ""), false);
  equal(otherFrames(timeline, ""), "on");
  equal(otherFrames(timeline, "on"), "off");
  equal(otherFrames(timeline, "off"), "on");
  const shallow = { tracks: [flat] };
  equal(otherFrames(shallow, ""), "off");
  equal(otherFrames(shallow, "off"), "", "the default is not in the address");
});
