// SPDX-License-Identifier: Apache-2.0
// What the pointer over the timeline does to the page, and where it is.

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { usePage } from "../state/session.ts";
import type { Layout, Row } from "./layout.ts";
import type { Hit } from "./places.ts";
import { listen } from "./pointer.ts";
import type { TimelineState } from "./timeline_state.ts";

export interface Hover {
  readonly hit: Hit;
  readonly x: number;
  readonly y: number;
}

/** The only host thread of ROWS as PROCESS/THREAD; "": there are several, or queues. */
function threadOf(rows: readonly Row[]): string {
  const tracks = rows.flatMap((row) => (row.kind === "track" ? [row.track] : []));
  const words = new Set(tracks.map((track) => `${track.process}/${track.thread}`));
  const isOne = words.size === 1 && tracks.every((track) => track.sort !== "queue");
  return isOne ? [...words][0]! : "";
}

interface Parts {
  readonly canvas: RefObject<HTMLCanvasElement | null>;
  readonly ruler: RefObject<HTMLCanvasElement | null>;
  readonly layout: Layout;
}

/** Listen to the pointer over CANVAS and RULER; the result is where it was last, if ever, and what is
 * there. */
export function usePointer(
  state: TimelineState | null,
  { canvas, ruler, layout }: Parts,
  onSelect: (event: number) => void,
) {
  const page = usePage();
  const [hover, setHover] = useState<Hover | null>(null);
  const pointer = useRef<{ x: number; y: number } | null>(null);
  // What was under the pointer may be elsewhere now, or folded.
  useEffect(() => setHover(null), [layout]);
  useEffect(() => {
    if (state === null) return;
    const hears = {
      hover: (hit: Hit | null, x: number, y: number) => {
        if (hit !== null || x !== 0) pointer.current = { x, y };
        setHover(hit === null ? null : { hit, x, y });
      },
      select: (hit: Hit | null) => {
        page.inSight = hit?.event ?? -1;
        onSelect(page.inSight);
      },
      open: (hit: Hit | null) =>
        hit === null ? state.window.fitAll() : state.window.fit(hit.start, hit.end),
      area: (area: { from: number; to: number } | null, rows?: { top: number; bottom: number }) => {
        const thread = rows ? threadOf(state.rowsBetween(rows.top, rows.bottom)) : "";
        page.go({ t: area, thread });
      },
    };
    const ends = [
      listen(state, canvas.current!, hears),
      listen(state, ruler.current!, hears, true),
    ];
    return () => {
      for (const end of ends) end();
    };
  }, [state, page, onSelect, canvas, ruler]);
  return { hover, pointer };
}
