// SPDX-License-Identifier: Apache-2.0
// Names on cells that are wide enough, at most 600 a frame, the widest first.

import { CELL, durationOf } from "../api/packets.ts";
import { type Palette, STEPS, textOn } from "../model/colour.ts";
import { fitScopes } from "../model/names.ts";
import { formatTime } from "../model/units.ts";
import type { Viewport } from "../model/viewport.ts";
import type { Pick } from "./colour_modes.ts";
import type { Fetcher } from "./fetcher.ts";
import type { PaintedLane } from "./painter.ts";

const LEAST_WIDTH = 28;
const LEAST_HEIGHT = 9;
const WIDTH_WITH_TIME = 110;
const MOST_LABELS = 600;
const PADDING = 4;

interface Label {
  readonly x: number;
  readonly width: number;
  readonly y: number;
  readonly cell: number;
  readonly lane: PaintedLane;
}

/** Widths of texts in the font of labels; kept, because measuring is slow. */
export class TextWidths {
  private readonly widths = new Map<string, number>();

  of(context: CanvasRenderingContext2D, text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      width = context.measureText(text).width;
      if (this.widths.size > 20000) this.widths.clear();
      this.widths.set(text, width);
    }
    return width;
  }
}

/** TEXT, cut at its end to WIDTH; "": not even a letter of it fits. */
export function cutTo(text: string, width: number, measure: (text: string) => number): string {
  if (measure(text) <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (measure(`${text.slice(0, middle)}…`) <= width) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? "" : `${text.slice(0, low)}…`;
}

/** The same of a name: its scopes give way first. */
export function cutName(name: string, width: number, measure: (text: string) => number): string {
  return cutTo(
    fitScopes(name, (text) => measure(text) <= width),
    width,
    measure,
  );
}

function collect(lanes: readonly PaintedLane[], viewport: Viewport, width: number, ratio: number) {
  const labels: Label[] = [];
  for (const lane of lanes) {
    if (lane.height < LEAST_HEIGHT * ratio) continue;
    const { words, signed, head } = lane.packet;
    const scale = head.unit / viewport.nsPerPx;
    const offset = viewport.x(head.t0);
    const least = LEAST_WIDTH / scale;
    for (let i = lane.lane.first, end = i + lane.lane.count; i < end; i++) {
      const length = words[i * CELL.words + CELL.length]!;
      if (length < least || (words[i * CELL.words + CELL.rest]! & 0xffff) > 1) continue;
      const start = offset + signed[i * CELL.words]! * scale;
      const x = Math.max(0, start);
      const right = Math.min(width, start + length * scale);
      if (right - x >= LEAST_WIDTH)
        labels.push({ x, width: right - x, y: lane.y / ratio, cell: i, lane });
    }
  }
  labels.sort((a, b) => b.width - a.width);
  return labels.slice(0, MOST_LABELS);
}

/** Draw the names of LANES, whose y are device pixels, on CONTEXT, which has CSS pixels. */
export function drawLabels(
  context: CanvasRenderingContext2D,
  lanes: readonly PaintedLane[],
  view: { viewport: Viewport; width: number; ratio: number },
  look: { palette: Palette; widths: TextWidths; pick: Pick | null },
  fetcher: Fetcher,
): void {
  const measure = (text: string) => look.widths.of(context, text);
  context.textBaseline = "middle";
  for (const label of collect(lanes, view.viewport, view.width, view.ratio)) {
    const { words } = label.lane.packet;
    const at = label.cell * CELL.words;
    const number = words[at + CELL.name]!;
    const name = fetcher.name(number);
    if (name === null) continue;
    const room = label.width - 2 * PADDING;
    // Of the event, not of its cell; none, until a packet tells it.
    const ns = durationOf(label.lane.packet, label.cell);
    const time = ns === null ? "" : formatTime(ns);
    const hasTime =
      ns !== null &&
      label.width >= WIDTH_WITH_TIME &&
      measure(name[1]) + measure(time) + 12 <= room;
    const text = cutName(name[1], room, measure);
    const y = label.y + label.lane.height / view.ratio / 2;
    const step = fetcher.step(number);
    if (step < 0) continue;
    const picked = look.pick?.(label.lane.packet, label.lane.lane.track, at) ?? null;
    context.fillStyle =
      picked === null
        ? (look.palette.texts[(words[at + CELL.rest]! >>> 24) * STEPS + step] ?? "#000")
        : textOn(picked);
    context.fillText(text, label.x + PADDING, y);
    if (hasTime) context.fillText(time, label.x + label.width - PADDING - measure(time), y);
  }
}
