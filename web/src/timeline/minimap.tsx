// SPDX-License-Identifier: Apache-2.0
// All of the time above the timeline: how busy the devices were, or the steps, and a box for what is
// shown, which can be dragged and resized.

import type { ReadonlySignal } from "@preact/signals";
import type { TargetedPointerEvent, TargetedWheelEvent } from "preact";
import { useMemo, useRef } from "preact/hooks";
import type { Window } from "../api/api.ts";
import { dragBox, type Grip, gripAt } from "../model/box.ts";
import { deviceLanes } from "../model/minimap.ts";
import { hasSteps, stepSpans } from "../model/strip.ts";
import { format } from "../model/units.ts";
import { LATER, useTable } from "../state/answers.ts";
import type { Note } from "../state/notes.ts";
import { allTimeOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import type { Shown } from "../state/time_window.ts";
import type { Marks } from "./use_hits.ts";

const ROWS = { offset: 0, limit: 500_000 };
const MOST_BARS = 400;
const MOST_STEPS = 1500;
const MOST_LANES = 8;
const HEIGHT = 28;
const STEPS_HIGH = 5;
const LEAST_HIGH = 6;

interface Shape {
  readonly from: number;
  readonly to: number;
  readonly y: number;
  readonly height: number;
  readonly fill: string;
  readonly opacity: number;
}

interface MinimapProps {
  readonly whole: Window;
  readonly shown: ReadonlySignal<Shown>;
  readonly notes: readonly Note[];
  readonly hits: Marks;
  onShow(window: Window): void;
  onZoom(x: number, deltaY: number): void;
}

/** How busy each device was, above all steps; without devices the steps alone. */
function useShape(): readonly Shape[] {
  const { place } = usePage();
  const options = allTimeOptions(place.value);
  const { frame: use } = useTable("utilization", options, ROWS);
  const { frame: steps } = useTable("steps", options, ROWS, LATER);
  return useMemo(() => {
    const lanes = use === null ? [] : deviceLanes(use, MOST_LANES, MOST_BARS);
    const spans = steps === null || !hasSteps(steps) ? [] : stepSpans(steps, MOST_STEPS);
    const stepsHigh = lanes.length === 0 ? (HEIGHT - 4) / 2 : STEPS_HIGH;
    const room = HEIGHT - 2 - (spans.length > 0 ? stepsHigh + 1 : 0);
    const high = room / Math.max(1, lanes.length);
    // Low lanes say by their colour how much it is, others by height.
    const isLow = high < LEAST_HIGH;
    const bars = lanes.flatMap((list, lane) =>
      list.map(({ from, to, use: share }) => {
        const height = isLow ? high - 0.5 : share * (high - 1);
        const y = 2 + (lane + 1) * high - height;
        return { from, to, y, height, fill: "kernel", opacity: isLow ? 0.1 + 0.9 * share : 1 };
      }),
    );
    const of = { y: HEIGHT - stepsHigh, height: stepsHigh, fill: "cpu_exec", opacity: 1 };
    return [...bars, ...spans.map((span) => ({ ...span, ...of }))];
  }, [use, steps]);
}

/** Marks at the hits of the search, by X of their times; and a line where hits have no marks. */
function HitMarks({ hits, x, end }: { hits: Marks; x: (at: number) => number; end: number }) {
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
  const { whole, notes, hits, onShow, onZoom } = props;
  const { viewport: view, width } = props.shown.value;
  const shape = useShape();
  const grip = useRef<{ grip: Grip; x: number; box: Window } | null>(null);
  const scale = width / Math.max(1, whole.to - whole.from);
  const x = (at: number) => (at - whole.from) * scale;
  if (width <= 0) return <div class="tl-minimap" />;
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
          key={`${bar.y} ${bar.from}`}
          class={`fill-${bar.fill}`}
          x={x(bar.from)}
          width={Math.max(0.75, (bar.to - bar.from) * scale - 0.5)}
          y={bar.y}
          height={bar.height}
          opacity={bar.opacity}
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
