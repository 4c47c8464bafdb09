// SPDX-License-Identifier: Apache-2.0
// Whether the lanes of a thread have its Python frames. Where frames nest deep, what they call is far
// below the window: such threads are shown without, unless frames are asked for.

import type { Timeline, Track } from "../api/api.ts";

/** Frames may add so many levels before they are left out. */
const MOST_LEVELS = 8;

const threadOf = ({ trace, process, thread }: Track) => `${trace}/${process}/${thread}`;

/** By thread: how many levels its frames add, where these are left out if nobody asks for them. */
export function deepFrames({ tracks }: Pick<Timeline, "tracks">): ReadonlyMap<string, number> {
  const without = new Map<string, number>();
  for (const track of tracks)
    if (track.of === "no_frames") without.set(threadOf(track), track.lanes);
  const found = new Map<string, number>();
  for (const track of tracks) {
    if (track.of !== "all" || !track.has_frames) continue;
    const rest = without.get(threadOf(track)) ?? 0;
    // Without anything else there is nothing to hide.
    if (rest > 0 && track.lanes - rest > MOST_LEVELS)
      found.set(threadOf(track), track.lanes - rest);
  }
  return found;
}

/** How many levels the frames of the thread of TRACK add, by DEEP; 0: so few that nobody counts them. */
export function levelsOf(track: Track, deep: ReadonlyMap<string, number>): number {
  return deep.get(threadOf(track)) ?? 0;
}

/** Whether frames are left out of the thread of TRACK. WISH is that of the address: "on", "off", or ""
 * for what is best. */
export function hidesFrames(
  track: Track,
  wish: string,
  deep: ReadonlyMap<string, number>,
): boolean {
  return wish === "" ? levelsOf(track, deep) > 0 : wish !== "on";
}

/** Whether WISH shows TRACK, of the lanes of a thread with its frames and those without. */
export function isWished(track: Track, wish: string, deep: ReadonlyMap<string, number>): boolean {
  if (track.of === "no_frames") return hidesFrames(track, wish, deep);
  const isOfFrames =
    track.of === "all" && track.has_frames && (track.sort === "thread" || track.sort === "queue");
  return !isOfFrames || !hidesFrames(track, wish, deep);
}

/** Whether all frames of TIMELINE are shown by WISH. */
export function hasAllFrames(timeline: Pick<Timeline, "tracks">, wish: string): boolean {
  return wish === "on" || (wish === "" && deepFrames(timeline).size === 0);
}

/** The wish that shows all frames, or none if all are shown. */
export function otherFrames(timeline: Pick<Timeline, "tracks">, wish: string): "" | "on" | "off" {
  if (hasAllFrames(timeline, wish)) return "off";
  return deepFrames(timeline).size === 0 ? "" : "on";
}
