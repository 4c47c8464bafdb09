// SPDX-License-Identifier: Apache-2.0
// The rows of the timeline from top to bottom: groups, tracks and values, and where they are.

import type { Series, Timeline, Track } from "../api/api.ts";
import { hasNumber } from "../model/number_list.ts";
import { matcher } from "../model/pattern.ts";
import { type Order, sortTracks } from "./order.ts";
import { deepFrames, isWished, levelsOf } from "./python_frames.ts";
import { groupsOf, processKey, trackTitle } from "./titles.ts";

export const LANE_HEIGHT = 18;
export const GROUP_HEIGHT = 22;
export const SERIES_HEIGHT = 36;
/** Lanes that a folded track shows, and tracks that a folded group does. */
const FOLDED_LANES = 4;
const LINES_SHOWN = 6;
/** Lanes of a track that are shown unless it is opened further. */
export const LANES_SHOWN = 24;

interface RowBase {
  /** The same for the same files: for what is folded or hidden. */
  readonly key: string;
  readonly title: string;
  readonly indent: number;
  readonly y: number;
  readonly height: number;
}

export interface GroupRow extends RowBase {
  readonly kind: "group";
  readonly isFolded: boolean;
  /** Sparse queues in it that could be packed. */
  readonly sparse: number;
  /** Folded: the tracks in it that are drawn as lines. */
  readonly tracks: readonly Track[];
}

export interface TrackRow extends RowBase {
  readonly kind: "track";
  readonly track: Track;
  /** Lanes that are shown, and how many are not. */
  readonly lanes: number;
  readonly deeper: number;
  readonly isFolded: boolean;
  /** The key of the process whose packed queues it has; "": it is one track. */
  readonly packed: string;
  /** How many levels of Python frames are left out. */
  readonly frames: number;
}

export interface SeriesRow extends RowBase {
  readonly kind: "series";
  readonly series: Series;
}

export type Row = GroupRow | TrackRow | SeriesRow;

export interface Layout {
  readonly rows: readonly Row[];
  readonly height: number;
}

export interface LayoutChoice {
  readonly folded: ReadonlySet<string>;
  readonly hidden: ReadonlySet<string>;
  /** By key of a track: how many lanes it shows. */
  readonly depths: ReadonlyMap<string, number>;
  /** Which Python frames are shown (python_frames.ts); processes whose sparse queues are not packed. */
  readonly frames: string;
  readonly unpacked: ReadonlySet<string>;
  /** Tracks that are shown above all others. */
  readonly pinned: ReadonlySet<string>;
  /** Only tracks whose title has this text, or matches /TEXT/. */
  readonly filter: string;
  readonly order: Order;
  /** Only tracks of these ranks and spans, as --rank and --span have them. */
  readonly ranks: string;
  readonly spans: string;
}

/** A timeline of which some tracks are left out. */
interface Chosen extends Timeline {
  /** By key of a process: how many of its queues are packed. */
  readonly packed: ReadonlyMap<string, number>;
  /** By thread: how many levels its frames add. */
  readonly deep: ReadonlyMap<string, number>;
}

type Unplaced = Omit<GroupRow, "y"> | Omit<TrackRow, "y"> | Omit<SeriesRow, "y">;

export function seriesTitle(series: Series): string {
  if (series.sort === "allocated") return `memory of ${series.device ?? "?"}`;
  if (series.sort === "reserved") return `reserved of ${series.device ?? "?"}`;
  if (series.sort === "utilization") return `utilization of ${series.device ?? "?"}`;
  if (series.sort === "sm_efficiency") return `SM efficiency of ${series.device ?? "?"}`;
  return series.key === "" || series.key === series.name
    ? series.name
    : `${series.name}: ${series.key}`;
}

function isWanted(title: string, choice: LayoutChoice): boolean {
  return choice.filter === "" || matcher(choice.filter)(title);
}

/** The key of TRACK: the same for the same files. */
export function trackKey(track: Track): string {
  const key = `t${track.trace}.${track.process}.${track.thread}.${track.sort}`;
  // Commas are between the keys in the address.
  if (track.of === "domain")
    return `d${track.trace}.${track.process}.${encodeURIComponent(track.domain ?? "")}`;
  return track.of === "packed" ? `${key}.packed` : key;
}

/** Whether CHOICE shows TRACK, of those that have the same ranges; DEEP is by python_frames.ts. */
export function isShownBy(
  track: Track,
  { frames, unpacked }: Pick<LayoutChoice, "frames" | "unpacked">,
  deep: ReadonlyMap<string, number>,
): boolean {
  const isPacked = track.is_packed && track.sort === "queue";
  const isApart = unpacked.has(processKey(track.trace, track.process));
  return !(isPacked && (track.of === "packed") === isApart) && isWished(track, frames, deep);
}

/** The timeline with only the ranks, spans and sets of lanes that CHOICE shows. */
function choose(timeline: Timeline, choice: LayoutChoice): Chosen {
  const packed = new Map<string, number>();
  for (const track of timeline.tracks)
    if (track.is_packed && track.of === "all" && track.sort === "queue") {
      const key = processKey(track.trace, track.process);
      packed.set(key, (packed.get(key) ?? 0) + 1);
    }
  const deep = deepFrames(timeline);
  const isChosen = timeline.traces.map(
    ({ rank, span }) => hasNumber(choice.ranks, rank) && hasNumber(choice.spans, span),
  );
  const tracks = timeline.tracks.filter(
    (track) => isChosen[track.trace] === true && isShownBy(track, choice, deep),
  );
  const series = timeline.series.filter((one) => isChosen[one.trace] === true);
  return { ...timeline, tracks, series, packed, deep };
}

function trackRow(
  track: Track,
  choice: LayoutChoice,
  indent: number,
  { packed, deep }: Pick<Chosen, "packed" | "deep">,
): Unplaced | null {
  const key = trackKey(track);
  const process = processKey(track.trace, track.process);
  const title = trackTitle(track, packed.get(process) ?? 0);
  if (choice.hidden.has(key) || choice.pinned.has(key)) return null;
  if (!isWanted(title, choice)) return null;
  const isFolded = choice.folded.has(key);
  const lanes = Math.min(
    track.lanes,
    isFolded ? FOLDED_LANES : (choice.depths.get(key) ?? LANES_SHOWN),
  );
  return {
    kind: "track",
    key,
    title,
    indent,
    height: isFolded ? GROUP_HEIGHT : Math.max(GROUP_HEIGHT, lanes * LANE_HEIGHT + 4),
    track,
    lanes,
    deeper: track.lanes - lanes,
    isFolded,
    packed: track.of === "packed" ? process : "",
    frames: track.of === "no_frames" ? levelsOf(track, deep) : 0,
  };
}

function seriesRow(series: Series, choice: LayoutChoice, indent: number): Unplaced | null {
  const key = `s${series.trace}.${series.process}.${series.sort}.${series.name}.${series.key}.${series.device ?? ""}`;
  const title = seriesTitle(series);
  if (choice.hidden.has(key)) return null;
  if (!isWanted(title, choice)) return null;
  return { kind: "series", key, title, indent, height: SERIES_HEIGHT, series };
}

function groupRow(
  key: string,
  title: string,
  indent: number,
  choice: LayoutChoice,
): Omit<GroupRow, "y"> {
  const isFolded = choice.folded.has(key);
  return {
    kind: "group",
    key,
    title,
    indent,
    height: GROUP_HEIGHT,
    isFolded,
    sparse: 0,
    tracks: [],
  };
}

/** The first tracks of ROWS, which a folded group shows as lines. */
function tracksOf(rows: readonly Unplaced[]): Track[] {
  const tracks = rows.flatMap((row) => (row.kind === "track" ? [row.track] : []));
  return tracks.slice(0, LINES_SHOWN);
}

function processRows(
  timeline: Chosen,
  t: number,
  processes: readonly string[],
  choice: LayoutChoice,
  indent: number,
): Unplaced[] {
  const isOf = (x: Track | Series) => x.trace === t && processes.includes(x.process);
  const tracks = timeline.tracks.filter(isOf);
  const titleOf = (track: Track) => trackTitle(track, 0);
  const rows = sortTracks(tracks, choice.order, trackKey, titleOf).map((track) =>
    trackRow(track, choice, indent, timeline),
  );
  for (const series of timeline.series)
    if (isOf(series)) rows.push(seriesRow(series, choice, indent));
  return rows.filter((row): row is Unplaced => row !== null);
}

function traceRows(timeline: Chosen, t: number, choice: LayoutChoice, indent: number): Unplaced[] {
  const rows: Unplaced[] = [];
  for (const { key, title, processes } of groupsOf(timeline, t)) {
    const inside = processRows(timeline, t, processes, choice, indent + 1);
    if (inside.length === 0) continue;
    const sparse = choice.unpacked.has(key) ? (timeline.packed.get(key) ?? 0) : 0;
    const group = groupRow(key, title, indent, choice);
    rows.push({ ...group, sparse, tracks: group.isFolded ? tracksOf(inside) : [] });
    if (!choice.folded.has(key)) rows.push(...inside);
  }
  return rows;
}

/** The tracks that are pinned, above all others. */
function pinnedRows(timeline: Chosen, choice: LayoutChoice): Unplaced[] {
  const unpinned = { ...choice, filter: "", pinned: new Set<string>() };
  const rows = timeline.tracks
    .filter((track) => choice.pinned.has(trackKey(track)))
    .map((track) => ({
      row: trackRow(track, unpinned, 1, timeline),
      trace: timeline.traces[track.trace],
    }))
    .flatMap(({ row, trace }) => {
      if (row === null) return [];
      const of = timeline.traces.length > 1 ? `rank ${trace?.rank}: ` : "";
      return [{ ...row, title: `${of}${row.title}` }];
    });
  if (rows.length === 0) return [];
  return [groupRow("pinned", "pinned", 0, choice), ...(choice.folded.has("pinned") ? [] : rows)];
}

export function layOut(whole: Timeline, choice: LayoutChoice): Layout {
  const timeline = choose(whole, choice);
  const all: Unplaced[] = pinnedRows(timeline, choice);
  for (const [t, trace] of timeline.traces.entries()) {
    const isAlone = timeline.traces.length === 1;
    const inside = traceRows(timeline, t, choice, isAlone ? 0 : 1);
    const key = `r${t}`;
    if (!isAlone && inside.length > 0) {
      const span = trace.span > 1 ? `, span ${trace.span}` : "";
      const group = groupRow(key, `rank ${trace.rank}${span}`, 0, choice);
      all.push({ ...group, tracks: group.isFolded ? tracksOf(inside) : [] });
    }
    if (isAlone || !choice.folded.has(key)) all.push(...inside);
  }
  let y = 0;
  const rows = all.map((row) => {
    const placed = { ...row, y } as Row;
    y += row.height;
    return placed;
  });
  return { rows, height: y };
}
