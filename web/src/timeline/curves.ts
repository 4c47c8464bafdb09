// SPDX-License-Identifier: Apache-2.0
// Values over time: the band between the least and the greatest value of each bucket, and the
// last value as a line.

import { SAMPLE, type ValuePacket } from "../api/packets.ts";
import { CAPACITY_SHOWN } from "../model/memory.ts";
import { format } from "../model/units.ts";
import type { SeriesRow } from "./layout.ts";
import type { Viewport } from "./viewport.ts";

interface Colours {
  readonly line: string;
  readonly text: string;
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

/** Draw ROW, whose top is at pixel TOP, on CONTEXT. */
export function drawCurve(
  context: CanvasRenderingContext2D,
  packet: ValuePacket,
  row: SeriesRow,
  top: number,
  view: { viewport: Viewport; width: number },
  colours: Colours,
): void {
  const series = packet.series.find((s) => s.series === row.series.id);
  if (!series || series.count === 0) return;
  const [low, most] = extent(packet, series.first, series.count);
  const capacity = row.series.capacity_bytes;
  const isNear = capacity !== null && most >= CAPACITY_SHOWN * capacity;
  const high = isNear ? Math.max(most, capacity) : most;
  const room = row.height - 6;
  const y = (v: number) => top + 3 + room - ((v - low) / (high - low || 1)) * room;
  const scale = packet.head.unit / view.viewport.nsPerPx;
  const offset = view.viewport.x(packet.head.t0);
  context.strokeStyle = colours.line;
  context.beginPath();
  let last = 0;
  for (let i = series.first; i < series.first + series.count; i++) {
    const at = i * SAMPLE.words;
    const x = Math.min(view.width + 1, Math.max(-1, offset + packet.signed[at]! * scale));
    if (i === series.first) context.moveTo(x, y(packet.floats[at + SAMPLE.last]!));
    else context.lineTo(x, y(last));
    context.lineTo(x, y(packet.floats[at + SAMPLE.least]!));
    context.lineTo(x, y(packet.floats[at + SAMPLE.most]!));
    last = packet.floats[at + SAMPLE.last]!;
    context.lineTo(x, y(last));
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
  context.fillStyle = colours.text;
  context.textBaseline = "top";
  const of = capacity === null ? "" : ` of ${format(capacity, unit, true)}`;
  context.fillText(`${format(most, unit, unit !== null)}${of}`, 4, top + 2);
}
