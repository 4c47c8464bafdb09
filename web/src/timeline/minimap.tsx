// SPDX-License-Identifier: Apache-2.0
// All of the time above the timeline: how busy the devices were, or the steps, and a box for what is
// shown, which can be dragged and resized.

import type { ReadonlySignal } from "@preact/signals";
import type { TargetedPointerEvent, TargetedWheelEvent } from "preact";
import { useMemo, useRef } from "preact/hooks";
import type { Window } from "../api/api.ts";
import { dragBox, type Grip, gripAt } from "../model/box.ts";
import { type StripBar, useBars } from "../model/strip.ts";
import { format } from "../model/units.ts";
import { useTable } from "../state/answers.ts";
import type { Note } from "../state/notes.ts";
import { allTimeOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import type { Hits } from "./use_hits.ts";
import type { Viewport } from "./viewport.ts";

const ROWS = { offset: 0, limit: 10000 };
const MOST_BARS = 400;
const HEIGHT = 28;

interface MinimapProps {
  readonly whole: Window;
  readonly viewport: ReadonlySignal<Viewport | null>;
  /** The width, which may have changed when the viewport has. */
  readonly widthOf: () => number;
  readonly notes: readonly Note[];
  readonly hits: Hits;
  onShow(window: Window): void;
  onZoom(x: number, deltaY: number): void;
}

/** How busy the devices were; without any, when the steps were. */
function useShape(): readonly { from: number; to: number; height: number; fill: string }[] {
  const { place } = usePage();
  const options = allTimeOptions(place.value);
  const { frame: use } = useTable("utilization", options, ROWS);
  const isHost = use !== null && use.n === 0;
  const { frame: steps } = useTable(isHost ? "steps" : null, options, ROWS);
  return useMemo(() => {
    if (use !== null && use.n > 0)
      return useBars(use, MOST_BARS).map((bar: StripBar) => ({
        ...{ from: Number(bar.first), to: Number(bar.last), height: bar.height, fill: "kernel" },
      }));
    if (steps === null) return [];
    return Array.from({ length: Math.min(steps.n, MOST_BARS) }, (_, row) => {
      const from = steps.at(row, "start_ns") ?? 0;
      return { from, to: from + (steps.at(row, "total_ns") ?? 0), height: 0.5, fill: "cpu_exec" };
    });
  }, [use, steps]);
}

/** Marks at the hits of the search, by X of their times; and a line where hits have no marks. */
function HitMarks({ hits, x, end }: { hits: Hits; x: (at: number) => number; end: number }) {
  if (hits.total === 0) return null;
  const { unmarkedFrom } = hits;
  return (
    <g class="hits">
      <title>{format(hits.total, null)} hits</title>
      {hits.at.map((at) => (
        <path key={at} d={`M${x(at) - 3} 0h6l-3 6z`} />
      ))}
      {unmarkedFrom !== null && (
        <rect x={x(unmarkedFrom)} width={Math.max(1, end - x(unmarkedFrom))} y="0" height="2">
          <title>more hits, without marks</title>
        </rect>
      )}
    </g>
  );
}

export function Minimap(props: MinimapProps) {
  const { whole, viewport, notes, hits, onShow, onZoom } = props;
  const view = viewport.value;
  const width = props.widthOf();
  const shape = useShape();
  const grip = useRef<{ grip: Grip; x: number; box: Window } | null>(null);
  const scale = width / Math.max(1, whole.to - whole.from);
  const x = (at: number) => (at - whole.from) * scale;
  if (view === null || width <= 0) return <div class="tl-minimap" />;
  const box = view.window(width, 0);
  const down = (event: TargetedPointerEvent<SVGSVGElement>) => {
    const at = event.clientX - event.currentTarget.getBoundingClientRect().left;
    event.currentTarget.setPointerCapture(event.pointerId);
    const found = gripAt(at, x(box.from), x(box.to));
    grip.current = { grip: found, x: at, box };
    if (found === "jump") {
      const jumped = dragBox("jump", box, whole.from + at / scale);
      grip.current = { grip: "move", x: at, box: jumped };
      onShow(jumped);
    }
  };
  const move = (event: TargetedPointerEvent<SVGSVGElement>) => {
    if (grip.current === null) return;
    const at = event.clientX - event.currentTarget.getBoundingClientRect().left;
    onShow(dragBox(grip.current.grip, grip.current.box, (at - grip.current.x) / scale));
  };
  const wheel = (event: TargetedWheelEvent<SVGSVGElement>) => {
    event.preventDefault();
    const at = event.clientX - event.currentTarget.getBoundingClientRect().left;
    onZoom(view.x(whole.from + at / scale), event.deltaY);
  };
  return (
    <svg
      class="tl-minimap"
      width={width}
      height={HEIGHT}
      role="img"
      aria-label="All of the time, with a box for what is shown"
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={() => {
        grip.current = null;
      }}
      onWheel={wheel}
    >
      {shape.map((bar) => (
        <rect
          key={bar.from}
          class={`fill-${bar.fill}`}
          x={x(bar.from)}
          width={Math.max(1, (bar.to - bar.from) * scale - 0.5)}
          y={HEIGHT - bar.height * (HEIGHT - 4)}
          height={bar.height * (HEIGHT - 4)}
        />
      ))}
      <HitMarks hits={hits} x={x} end={width} />
      {notes.map((note) => (
        <rect key={note.at} class="fill-mark" x={x(note.at) - 1} width="2" height={HEIGHT} />
      ))}
      <rect
        class="box"
        x={x(box.from)}
        width={Math.max(3, x(box.to) - x(box.from))}
        height={HEIGHT}
      />
    </svg>
  );
}
