// SPDX-License-Identifier: Apache-2.0
// What is selected is never covered: what folds, hides, filters or crops it is undone, and its lane is
// scrolled into sight.

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Timeline, Track } from "../api/api.ts";
import { hasNumber } from "../model/number_list.ts";
import { matcher } from "../model/pattern.ts";
import { withCount } from "../state/codec.ts";
import { usePage } from "../state/session.ts";
import type { Place } from "../state/url.ts";
import type { Selected } from "./arrows.ts";
import { isShownBy, LANE_HEIGHT, LANES_SHOWN, type Layout, trackKey } from "./layout.ts";
import { canHave, lanesWith } from "./neighbours.ts";
import { deepFrames, isWished } from "./python_frames.ts";
import { groupsOf, trackTitle } from "./titles.ts";

/** A lane of a track. */
interface Lane {
  readonly track: number;
  readonly depth: number;
}

/** Where LANE is in LAYOUT, in pixels from its top; null: it is not shown. */
export function topOf(layout: Layout, lane: Lane): number | null {
  for (const row of layout.rows)
    if (row.kind === "track" && row.track.id === lane.track)
      return row.isFolded || lane.depth >= row.lanes ? null : row.y + lane.depth * LANE_HEIGHT;
  return null;
}

/** The tracks in which an event of TRACK can be, those with all ranges of a thread or queue first. */
function alike(timeline: Timeline, track: Track): Track[] {
  return timeline.tracks
    .filter((one) => canHave(one, track))
    .sort((a, b) => Number(b.of === "all") - Number(a.of === "all"));
}

/** Of LANES that have one event, the one to uncover: that PLACE shows, if it is of one of its tracks. */
export function laneToShow<L extends Lane>(
  timeline: Timeline,
  lanes: readonly L[],
  place: Place,
): L | undefined {
  const deep = deepFrames(timeline);
  const choice = { frames: place.python, unpacked: new Set(place.unpack) };
  const isShown = ({ track }: L) =>
    timeline.tracks.some((one) => one.id === track && isShownBy(one, choice, deep));
  return lanes.find(isShown) ?? lanes[0];
}

/** KEYS without those in OTHERS. */
function without(keys: readonly string[], others: readonly string[]): readonly string[] {
  return keys.filter((key) => !others.includes(key));
}

/** What changes in PLACE so that depth DEPTH of TRACK is shown. */
export function uncovered(
  timeline: Timeline,
  track: Track,
  depth: number,
  place: Place,
): Partial<Place> {
  const t = track.trace;
  const group = groupsOf(timeline, t).find((one) => one.processes.includes(track.process));
  const key = trackKey(track);
  const around = place.pin.includes(key) ? ["pinned"] : [`r${t}`, group?.key ?? ""];
  const changes: Partial<Place> = {
    fold: without(place.fold, [key, ...around]),
    hide: without(place.hide, [key]),
  };
  const { rank, span } = timeline.traces[t] ?? { rank: 0, span: 1 };
  if (!hasNumber(place.rank, rank)) Object.assign(changes, { rank: "" });
  if (!hasNumber(place.span, span)) Object.assign(changes, { span: "" });
  if (place.only !== "" && !matcher(place.only)(trackTitle(track, 0)))
    Object.assign(changes, { only: "" });
  if (track.of === "all" && !isWished(track, place.python, deepFrames(timeline)))
    Object.assign(changes, { python: "on" });
  const shown = place.depth.get(key) ?? LANES_SHOWN;
  if (depth >= shown) Object.assign(changes, { depth: withCount(place.depth, key, depth + 1) });
  return changes;
}

/** Uncover SELECTED, an event of TRACK in the timeline of RUN, when it changes. */
export function useUncovered(
  body: RefObject<HTMLDivElement | null>,
  { run, timeline, layout }: { run: string; timeline: Timeline; layout: Layout },
  selected: Selected | null,
  track: Track | null,
): void {
  const page = usePage();
  const lanes = useRef<readonly Lane[]>([]);
  const now = useRef(layout);
  now.current = layout;
  const scroll = () => {
    const element = body.current;
    const [top] = lanes.current.flatMap((lane) => topOf(now.current, lane) ?? []);
    if (element === null || top === undefined) return;
    lanes.current = [];
    const { scrollTop, clientHeight } = element;
    if (top < scrollTop || top + LANE_HEIGHT > scrollTop + clientHeight)
      element.scrollTop = Math.max(0, top - Math.floor(clientHeight / 3));
  };
  useEffect(() => {
    lanes.current = [];
    if (selected === null || track === null) return;
    let isOver = false;
    const some = alike(timeline, track);
    const { fingerprint, from_ns: from, to_ns: to } = timeline;
    const tracks = some.map(({ id, lanes: n }) => [id, n] as const);
    lanesWith({ api: page.api, run, fingerprint, whole: { from, to }, tracks }, selected).then(
      (found) => {
        if (isOver || found.length === 0) return;
        lanes.current = found;
        const isShown = found.some((lane) => topOf(now.current, lane) !== null);
        const place = page.place.peek();
        const lane = laneToShow(timeline, found, place);
        const own = some.find((one) => one.id === lane?.track);
        if (!isShown && lane !== undefined && own !== undefined)
          page.go(uncovered(timeline, own, lane.depth, place), "replace");
        scroll();
      },
      () => {},
    );
    return () => {
      isOver = true;
    };
  }, [selected?.event, track?.id]);
  useEffect(scroll, [layout]);
}
