// SPDX-License-Identifier: Apache-2.0
// What tracks and the groups that they are in are called.

import type { Timeline, Track } from "../api/api.ts";

const isNumber = (text: string) => /^-?\d+$/.test(text);

/** What a WHAT of NUMBER without a name is called: some programs write names for numbers. */
function called(what: string, number: string): string {
  return isNumber(number) ? `${what} ${number}` : number;
}

/** The title of TRACK, in which NPACKED queues are packed. */
export function trackTitle(track: Track, nPacked: number): string {
  if (track.of === "packed") return `${track.device ?? "device"}, ${nPacked} sparse queues`;
  if (track.of === "domain") return `domain ${track.domain}`;
  const name =
    track.sort === "queue"
      ? [track.device, track.thread_name || called("queue", track.thread)]
      : [track.thread_name || called("thread", track.thread)];
  const words = name.filter((word) => !!word).join(" ");
  if (track.sort === "async") return words === "" ? "asynchronous" : `${words}, asynchronous`;
  if (track.sort === "instants") return words === "" ? "instants" : `${words}, instants`;
  return words || "no thread";
}

export function processKey(trace: number, process: string): string {
  return `p${trace}.${process}`;
}

interface Process {
  readonly process: string;
  readonly name: string;
  /** The device whose queues are all that it has; "": it has other tracks. */
  readonly device: string;
}

/** The processes of trace T: each with the name that its tracks have for it. */
function processesOf(timeline: Timeline, t: number): Process[] {
  const found = new Map<string, { name: string; devices: Set<string> }>();
  for (const track of timeline.tracks)
    if (track.trace === t) {
      const of = found.get(track.process) ?? { name: track.process_name, devices: new Set() };
      of.devices.add(track.sort === "queue" ? (track.device ?? "") : "");
      found.set(track.process, of);
    }
  for (const series of timeline.series)
    if (series.trace === t && !found.has(series.process))
      found.set(series.process, { name: "", devices: new Set() });
  return Array.from(found, ([process, { name, devices }]) => {
    const [device = ""] = devices.size === 1 ? devices : [];
    return { process, name, device };
  });
}

/** HOSTS: the names of processes that have threads. Some programs give theirs to devices, too. */
function processTitle({ process, name, device }: Process, hosts: ReadonlySet<string>): string {
  if (device !== "" && hosts.has(name)) return device;
  if (name !== "") return `${name} ${process}`.trim();
  if (device !== "") return device;
  if (process === "") return "no process";
  return called("process", process);
}

export interface ProcessGroup {
  readonly key: string;
  readonly title: string;
  readonly processes: readonly string[];
}

/** The groups of trace T, devices first. What PyTorch's profiler writes of itself, as processes "Spans", "Traces"
 * and "", is one group behind all others. */
export function groupsOf(timeline: Timeline, t: number): ProcessGroup[] {
  const all = processesOf(timeline, t);
  const names = new Set(all.filter((p) => p.name === "").map((p) => p.process));
  const isOfProfiler = (p: Process) =>
    (names.has("Spans") || names.has("Traces")) &&
    (p.process === "Spans" || p.process === "Traces" || p.process === "") &&
    p.name === "";
  const hosts = new Set(all.filter((p) => p.device === "").map((p) => p.name));
  const groups: ProcessGroup[] = all
    .filter((p) => !isOfProfiler(p))
    .sort((a, b) => Number(b.device !== "") - Number(a.device !== ""))
    .map((p) => ({
      key: processKey(t, p.process),
      title: processTitle(p, hosts),
      processes: [p.process],
    }));
  const own = all.filter(isOfProfiler).map((p) => p.process);
  if (own.length > 0)
    groups.push({ key: processKey(t, own[0]!), title: "profiler", processes: own });
  return groups;
}
