// SPDX-License-Identifier: Apache-2.0
// Curves over time (uPlot). A drag selects a range, a click a time.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Line } from "../model/memory.ts";
import { thin } from "../model/thin.ts";
import { format, formatIn, formatTime, unitFor } from "../model/units.ts";
import { token } from "./token.ts";

interface CurvesProps {
  readonly lines: readonly Line[];
  readonly unit: string;
  readonly label: string;
  readonly theme: string;
  readonly onRange: (from: number, to: number) => void;
  readonly onTime: (ns: number) => void;
  /** Times to mark. */
  readonly marks?: readonly number[];
  /** When it is highest; null: not known. */
  readonly peak?: number | null;
}

const HEIGHT = 200;
/** A press that moves by no more pixels is a click. */
const CLICK = 2;
/** The cursor is at a point of the curve that is no more pixels away, else where the pointer is. */
const NEAR = 4;

/** The lines over the same x: uPlot wants one axis for all of them. */
function align(lines: readonly Line[], width: number): uPlot.AlignedData {
  const thinned = lines.map((line) => thin(line.curve, width));
  return uPlot.join(thinned.map((c) => [Array.from(c.x), Array.from(c.y)] as uPlot.AlignedData));
}

function axesOf(unit: string): uPlot.Axis[] {
  const shared = {
    stroke: token("text-2"),
    grid: { stroke: token("hairline"), width: 1 },
    ticks: { stroke: token("hairline"), width: 1 },
    font: "11px system-ui, sans-serif",
  };
  const label = (unitName: string) => (_: uPlot, values: number[]) => {
    const u = unitFor(unitName, true, Math.max(...values.map(Math.abs)));
    return values.map(
      (v) => `${formatIn(v, { ...u, decimals: u.divisor === 1 ? 0 : 1 })} ${u.label}`,
    );
  };
  return [
    { ...shared, values: label("ns"), space: 90, size: 28 },
    { ...shared, values: label(unit), size: 84 },
  ];
}

/** The moment of the cursor: its line is there, the legend says it, and a click takes it. */
interface Moment {
  ns: number;
}

/** Move the cursor of PLOT to X: where its line is then. */
function moveTo(plot: uPlot, x: number, moment: Moment): number {
  if (x < 0) return x;
  const point = plot.data[0][plot.posToIdx(x)];
  const at = point === undefined ? x : plot.valToPos(point, "x");
  const isAtPoint = point !== undefined && Math.abs(at - x) <= NEAR;
  moment.ns = Math.round(isAtPoint ? point : plot.posToVal(x, "x"));
  return isAtPoint ? at : x;
}

/** The index of the value that line I of PLOT has at NS, which is that of the point before; null: it
 * begins later. */
function indexAt(plot: uPlot, i: number, ns: number): number | null {
  const x = plot.data[0];
  let at = plot.valToIdx(ns);
  while (at >= 0 && (x[at]! > ns || plot.data[i]![at] == null)) at--;
  return at < 0 ? null : at;
}

/** The legend leaves out a line that is clicked; so do Enter and Space. */
function giveKeys(plot: uPlot): void {
  // The first row is the time, which is always there.
  for (const label of [...plot.root.querySelectorAll<HTMLElement>(".u-series th")].slice(1)) {
    label.tabIndex = 0;
    label.setAttribute("role", "button");
    label.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      label.click();
    });
  }
}

/** Draw a line over the whole height of PLOT at each of MARKS. */
function drawMarks(plot: uPlot, marks: readonly number[]): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = token("slower");
  ctx.lineWidth = 2 * devicePixelRatio;
  for (const ns of marks) {
    const x = plot.valToPos(ns, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

/** Draw a dashed line and a word where PLOT is highest. */
function drawPeak(plot: uPlot, peak: number): void {
  const { ctx, bbox } = plot;
  const x = plot.valToPos(peak, "x", true);
  if (x < bbox.left || x > bbox.left + bbox.width) return;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = token("text-2");
  ctx.fillStyle = token("text-2");
  ctx.lineWidth = ratio;
  ctx.setLineDash([3 * ratio, 3 * ratio]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  ctx.textBaseline = "bottom";
  const isLeft = x + 40 * ratio > bbox.left + bbox.width;
  ctx.textAlign = isLeft ? "right" : "left";
  ctx.fillText("peak", x + (isLeft ? -4 : 4) * ratio, bbox.top + bbox.height - 2 * ratio);
  ctx.restore();
}

function optionsOf(
  props: CurvesProps,
  width: number,
  marks: { readonly current: readonly number[] },
  moment: Moment,
): uPlot.Options {
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  return {
    width,
    height: HEIGHT,
    scales: { x: { time: false }, y: { range: (_, __, most) => [0, most * 1.05 || 1] } },
    cursor: {
      // What moves to a point is no drag, for which uPlot would take it.
      drag: { x: true, y: false, setScale: false, click: () => {} },
      // A point of the curve may be far from the cursor, which has its value nevertheless.
      points: { show: false },
      move: (plot, x, y) => [moveTo(plot, x, moment), y],
      dataIdx: (plot, i, closest) => (i === 0 ? closest : indexAt(plot, i, moment.ns)),
    },
    axes: axesOf(props.unit),
    legend: { live: true },
    series: [
      { label: "time", value: (_, v) => (v === null ? "–" : formatTime(moment.ns)) },
      ...props.lines.map((line) => ({
        label: line.title,
        stroke: token(line.colour),
        width: line.dash ? 1 : 1.5,
        points: { show: false },
        spanGaps: true,
        value: (_: uPlot, v: number | null) => (v === null ? "–" : format(v, props.unit)),
        ...(stepped && { paths: stepped }),
        ...(line.dash && { dash: [...line.dash] }),
      })),
    ],
    hooks: {
      draw: [
        (plot) => {
          if (props.peak != null) drawPeak(plot, props.peak);
          drawMarks(plot, marks.current);
        },
      ],
      // Between two points the time differs though the values do not.
      setCursor: [(plot) => plot.setLegend({ idxs: plot.cursor.idxs ?? [] }, false)],
      setSelect: [
        (plot) => {
          const { left, width: w } = plot.select;
          const from = Math.floor(plot.posToVal(left, "x"));
          const to = Math.ceil(plot.posToVal(left + w, "x"));
          if (w > CLICK) props.onRange(from, to);
        },
      ],
    },
  };
}

export function Curves(props: CurvesProps) {
  const box = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot | null>(null);
  const marks = useRef<readonly number[]>([]);
  const { lines, theme } = props;
  marks.current = props.marks ?? [];
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const width = Math.max(200, element.clientWidth);
    const moment: Moment = { ns: 0 };
    const plot = new uPlot(optionsOf(props, width, marks, moment), align(lines, width), element);
    drawn.current = plot;
    giveKeys(plot);
    let pressed = 0;
    plot.over.addEventListener("mousedown", (event) => {
      pressed = event.clientX;
    });
    plot.over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - pressed) <= CLICK) props.onTime(moment.ns);
    });
    const watch = new ResizeObserver(() =>
      plot.setSize({ width: Math.max(200, element.clientWidth), height: HEIGHT }),
    );
    watch.observe(element);
    return () => {
      watch.disconnect();
      drawn.current = null;
      plot.destroy();
    };
  }, [lines, theme, props.peak]);
  useEffect(() => drawn.current?.redraw(false), [props.marks?.join()]);
  return (
    <div
      ref={box}
      class="curves"
      role="group"
      aria-label={props.label}
      data-marks={props.marks?.join()}
      data-peak={props.peak ?? undefined}
    />
  );
}
