// SPDX-License-Identifier: Apache-2.0
// The track of what is selected is brought into sight, and its counterpart in the other timeline.

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Track } from "../api/api.ts";
import type { Row } from "./layout.ts";
import { tracksOf } from "./neighbours.ts";

/** The row of TRACK among ROWS; in another trace the one that is called so, or else is like it. */
export function rowLike(rows: readonly Row[], track: Track, isOther: boolean): Row | undefined {
  const tracks = rows.flatMap((row) => (row.kind === "track" ? [row] : []));
  if (!isOther) {
    const ids = tracksOf(rows, track).map(([id]) => id);
    return tracks.find((row) => ids.includes(row.track.id));
  }
  const alike = tracks.filter((row) => row.track.sort === track.sort);
  return alike.find((row) => row.track.thread === track.thread) ?? alike[0];
}

/** How far to scroll to have ROW in HEIGHT pixels from TOP on; null: it is there. */
export function scrollTo(row: Row, top: number, height: number): number | null {
  const isThere = row.y < top + height && row.y + row.height > top;
  return isThere ? null : Math.max(0, row.y - Math.floor(height / 3));
}

export function useScrolled(
  body: RefObject<HTMLDivElement | null>,
  rows: readonly Row[],
  track: Track | null,
  isOther: boolean,
): void {
  const hasRows = rows.length > 0;
  const now = useRef(rows);
  now.current = rows;
  // Only when another track is meant: then one may scroll away. A second timeline takes half of it.
  useEffect(() => {
    const element = body.current;
    if (element === null || track === null || !hasRows) return;
    let at = element.scrollTop;
    const bring = () => {
      if (element.scrollTop !== at) return;
      const row = rowLike(now.current, track, isOther);
      const top = row === undefined ? null : scrollTo(row, at, element.clientHeight);
      if (top !== null) element.scrollTop = top;
      at = element.scrollTop;
    };
    bring();
    const watch = new ResizeObserver(bring);
    watch.observe(element);
    return () => watch.disconnect();
  }, [track?.id, hasRows, isOther]);
}
