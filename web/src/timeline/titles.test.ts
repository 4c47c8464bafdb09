// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Timeline, Track } from "../api/api.ts";
import { groupsOf, trackTitle } from "./titles.ts";

const PLAIN = {
  trace: 0,
  sort: "thread",
  of: "all",
  process_name: "",
  thread_name: "",
  device: null,
};
const track = (process: string, thread: string, more: Partial<Track> = {}) =>
  ({ ...PLAIN, process, thread, ...more }) as Track;

function titlesOf(tracks: readonly Track[], series: readonly { process: string }[] = []) {
  const timeline = { tracks, series: series.map((one) => ({ trace: 0, ...one })) };
  return groupsOf(timeline as unknown as Timeline, 0).map((group) => group.title);
}

test("what the profiler writes of itself is one group, the last", () => {
  const tracks = [
    track("Spans", "PyTorch Profiler"),
    track("Traces", "Trace PyTorch Profiler", { sort: "instants" }),
    track("", "", { sort: "instants" }),
    track("7", "7", { process_name: "python" }),
  ];
  deepEqual(titlesOf(tracks), ["python 7", "profiler"]);
  deepEqual(
    tracks.map((one) => trackTitle(one, 0)),
    ["PyTorch Profiler", "Trace PyTorch Profiler, instants", "instants", "thread 7"],
  );
  const timeline = { tracks, series: [] } as unknown as Timeline;
  deepEqual(groupsOf(timeline, 0)[1], {
    ...{ key: "p0.Spans", title: "profiler" },
    processes: ["Spans", "Traces", ""],
  });
  deepEqual(titlesOf([track("Spans", "1", { process_name: "mine" }), track("", "2")]), [
    "mine Spans",
    "no process",
  ]);
});

test("devices are above, and not called as the program that uses them", () => {
  const queue = { sort: "queue", device: "cuda:0" } as const;
  const python = { process_name: "python" };
  deepEqual(titlesOf([track("9", "9", python), track("0", "7", { ...queue, ...python })]), [
    "cuda:0",
    "python 9",
  ]);
  const named = { ...queue, process_name: "GPU" };
  deepEqual(titlesOf([track("9", "9", python), track("0", "7", named)]), ["GPU 0", "python 9"]);
});

test("a process without a name is called by its number, one of queues by their device", () => {
  const queue = { sort: "queue", device: "cuda:0" } as const;
  deepEqual(titlesOf([track("6583", "1"), track("0", "7", queue), track("browser", "1")]), [
    "cuda:0",
    "process 6583",
    "browser",
  ]);
  deepEqual(titlesOf([track("0", "7", queue), track("0", "1")], [{ process: "9" }]), [
    "process 0",
    "process 9",
  ]);
  equal(trackTitle(track("1", "7", queue), 0), "cuda:0 queue 7");
  equal(trackTitle(track("1", "stream 7", queue), 0), "cuda:0 stream 7");
  equal(trackTitle(track("1", ""), 0), "no thread");
  equal(trackTitle(track("1", "GUIThread"), 0), "GUIThread");
});
