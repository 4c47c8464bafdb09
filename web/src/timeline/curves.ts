// SPDX-License-Identifier: Apache-2.0
// Values over time: the band between the least and the greatest value of each bucket, and the
// last value as a line; or, of how much of a device is used, the mean of each bucket as an area.

import type { Series } from "../api/api.ts";
import { SAMPLE, type ValuePacket, type ValueSeries } from "../api/packets.ts";
import { CAPACITY_SHOWN } from "../model/memory.ts";
import { format } from "../model/units.ts";
import type { Viewport } from "../model/viewport.ts";
import type { SeriesRow } from "./layout.ts";

interface View {
  readonly viewport: Viewport;
  readonly width: number;
}

interface Colours {
  readonly line: string;
  readonly text: string;
  readonly muted: string;
  readonly ground: string;
}

/** A text of a curve, and how far it stays from the left, the edges of its row and the curve. */
const TEXT = { height: 11, left: 4, edge: 2, apart: 1, halo: 3 };

const USE_ALPHA = 0.4;

function isUse(series: Series): boolean {
  return series.sort === "utilization" || series.sort === "sm_efficiency";
}

/** The greatest and least value in sight; 0 is always in between. */
export function extent(packet: ValuePacket, first: number, count: number): [number, number] {
  let low = 0;
  let high = 0;
  for (let i = first; i < first + count; i++) {
    low = Math.min(low, packet.floats[i * SAMPLE.words + SAMPLE.least]!);
    high = Math.max(high, packet.floats[i * SAMPLE.words + SAMPLE.most]!);
  }
  return [low, high];
}

/** A value from pixel FROM to pixel TO. */
export interface Step {
  readonly from: number;
  readonly to: number;
  readonly value: number;
}

/** The means of SERIES as steps: those in sight, as far as PACKET has them. */
export function stepsOf(packet: ValuePacket, series: ValueSeries, view: View): Step[] {
  const scale = packet.head.unit / view.viewport.nsPerPx;
  const offset = view.viewport.x(packet.head.t0);
  const inSight = (x: number) => Math.min(view.width, Math.max(0, x));
  const end = offset + packet.head.width / view.viewport.nsPerPx;
  const x = (i: number) =>
    inSight(
      i < series.count
        ? offset + packet.signed[(series.first + i) * SAMPLE.words + SAMPLE.at]! * scale
        : end,
    );
  const value = (i: number) => packet.floats[(series.first + i) * SAMPLE.words + SAMPLE.value]!;
  const steps = Array.from({ length: series.count }, (_, i) => ({
    from: x(i),
    to: x(i + 1),
    value: value(i),
  }));
  return steps.filter((step) => step.to > step.from);
}

/** Draw STEPS, from 0 to 1, in a row HEIGHT high whose top is at pixel TOP. */
function drawUse(
  context: CanvasRenderingContext2D,
  steps: readonly Step[],
  height: number,
  top: number,
  colours: Colours,
): void {
  const room = height - 6;
  const y = (v: number) => top + 3 + room * (1 - v);
  // One path: rectangles side by side would have edges where they meet within a pixel.
  const edge = new Path2D();
  for (const { from, to, value } of steps) {
    edge.lineTo(from, y(value));
    edge.lineTo(to, y(value));
  }
  const area = new Path2D(edge);
  area.lineTo(steps.at(-1)?.to ?? 0, y(0));
  area.lineTo(steps[0]?.from ?? 0, y(0));
  context.fillStyle = colours.line;
  context.globalAlpha = USE_ALPHA;
  context.fill(area);
  context.globalAlpha = 1;
  context.strokeStyle = colours.line;
  context.stroke(edge);
  context.fillStyle = colours.text; // on top of the area, where a muted one is hard to read
  context.textBaseline = "top";
  context.fillText("100\u00a0%", 4, top + 6);
}

/** Draw ROW, whose top is at pixel TOP, on CONTEXT. */
export function drawValues(
  context: CanvasRenderingContext2D,
  packet: ValuePacket,
  row: SeriesRow,
  top: number,
  view: View,
  colours: Colours,
): void {
  const series = packet.series.find((s) => s.series === row.series.id);
  if (!series || series.count === 0) return;
  if (isUse(row.series)) drawUse(context, stepsOf(packet, series, view), row.height, top, colours);
  else drawCurve(context, packet, series, row, { ...view, top, colours });
}

/** From where to where the curve of SERIES goes down the page, piece by piece, between the left edge
 * and pixel RIGHT; X is where a sample is, Y a value. */
export function rangesLeftOf(
  packet: ValuePacket,
  series: ValueSeries,
  right: number,
  { x, y }: { x: (sample: number) => number; y: (value: number) => number },
): (readonly [number, number])[] {
  const ranges: (readonly [number, number])[] = [];
  const flat = (value: number) => ranges.push([y(value), y(value)]);
  let last: number | null = null;
  for (let i = series.first; i < series.first + series.count; i++) {
    const at = i * SAMPLE.words;
    const [least, most, value] = [SAMPLE.least, SAMPLE.most, SAMPLE.value].map(
      (k) => packet.floats[at + k]!,
    ) as [number, number, number];
    const left = x(i);
    if (last !== null && left > 0) flat(last);
    if (left > right) return ranges;
    if (left >= 0)
      ranges.push([y(Math.max(most, last ?? most)), y(Math.min(least, last ?? least))]);
    last = value;
  }
  if (last !== null) flat(last);
  return ranges;
}

/** The first of TOPS at which a text crosses none of RANGES; else the first one. */
export function freeTop(
  tops: readonly [number, ...number[]],
  ranges: readonly (readonly [number, number])[],
): number {
  const { height, apart } = TEXT;
  const isFree = (top: number) =>
    ranges.every(([from, to]) => to < top - apart || from > top + height + apart);
  return tops.find(isFree) ?? tops[0];
}

/** Write TEXT where no line of RANGES strikes it through; where there is no such place, lines end
 * beside its letters. */
function writeBeside(
  context: CanvasRenderingContext2D,
  text: string,
  { y, height }: { y: number; height: number },
  ranges: readonly (readonly [number, number])[],
  { muted, ground }: Colours,
): void {
  const low = y + height - TEXT.edge - TEXT.height;
  const tops: [number, ...number[]] = [y + TEXT.edge, Math.round((y + TEXT.edge + low) / 2), low];
  const top = freeTop(tops, ranges);
  // Curves that are drawn after this one have the corners of those before.
  context.save();
  context.textBaseline = "top";
  context.lineJoin = "round";
  context.lineWidth = TEXT.halo;
  context.strokeStyle = ground;
  context.strokeText(text, TEXT.left, top);
  context.fillStyle = muted;
  context.fillText(text, TEXT.left, top);
  context.restore();
}

function drawCurve(
  context: CanvasRenderingContext2D,
  packet: ValuePacket,
  series: ValueSeries,
  row: SeriesRow,
  { top, colours, ...view }: View & { readonly top: number; readonly colours: Colours },
): void {
  const [low, most] = extent(packet, series.first, series.count);
  const capacity = row.series.capacity_bytes;
  const isNear = capacity !== null && most >= CAPACITY_SHOWN * capacity;
  const high = isNear ? Math.max(most, capacity) : most;
  const room = row.height - 6;
  const y = (v: number) => top + 3 + room - ((v - low) / (high - low || 1)) * room;
  const scale = packet.head.unit / view.viewport.nsPerPx;
  const offset = view.viewport.x(packet.head.t0);
  const x = (i: number) =>
    Math.min(view.width + 1, Math.max(-1, offset + packet.signed[i * SAMPLE.words]! * scale));
  context.strokeStyle = colours.line;
  context.beginPath();
  let last = 0;
  for (let i = series.first; i < series.first + series.count; i++) {
    const at = i * SAMPLE.words;
    if (i === series.first) context.moveTo(x(i), y(packet.floats[at + SAMPLE.value]!));
    else context.lineTo(x(i), y(last));
    context.lineTo(x(i), y(packet.floats[at + SAMPLE.least]!));
    context.lineTo(x(i), y(packet.floats[at + SAMPLE.most]!));
    last = packet.floats[at + SAMPLE.value]!;
    context.lineTo(x(i), y(last));
  }
  context.lineTo(view.width, y(last));
  context.stroke();
  if (isNear) {
    context.setLineDash([6, 4]);
    context.beginPath();
    context.moveTo(0, y(capacity));
    context.lineTo(view.width, y(capacity));
    context.stroke();
    context.setLineDash([]);
  }
  const unit = row.series.sort === "counter" ? null : "bytes";
  const of = capacity === null ? "" : ` of ${format(capacity, unit, true)}`;
  const text = `${format(most, unit, unit !== null)}${of}`;
  const right = TEXT.left + context.measureText(text).width + TEXT.apart;
  const ranges = rangesLeftOf(packet, series, right, { x, y });
  if (isNear) ranges.push([y(capacity), y(capacity)]);
  writeBeside(context, text, { y: top, height: row.height }, ranges, colours);
}
