// SPDX-License-Identifier: Apache-2.0
// What is selected in the timeline: an event with the others of its name, and an area.

import type { Window } from "../api/api.ts";
import { CELL } from "../api/packets.ts";
import type { Viewport } from "../model/viewport.ts";
import type { View } from "./arrows.ts";
import type { PaintedLane } from "./painter.ts";
import { RULER_HEIGHT } from "./ruler.ts";

/** The number of the name of EVENT, if it has a cell in LANES. */
function nameOf(lanes: readonly PaintedLane[], event: number): number | null {
  for (const { packet, lane } of lanes)
    for (let i = lane.first; i < lane.first + lane.count; i++)
      if (packet.words[i * CELL.words + CELL.event] === event)
        return packet.words[i * CELL.words + CELL.name]!;
  return null;
}

/** Frame EVENT, and underline those of its name. */
export function drawSelection(
  context: CanvasRenderingContext2D,
  lanes: readonly PaintedLane[],
  view: View,
  event: number,
  colour: string,
): void {
  const { viewport, width, ratio } = view;
  const name = nameOf(lanes, event);
  context.strokeStyle = colour;
  context.fillStyle = colour;
  context.lineWidth = 2;
  for (const { packet, lane, y, height } of lanes)
    for (let i = lane.first; i < lane.first + lane.count; i++) {
      const at = i * CELL.words;
      if (packet.words[at + CELL.name] !== name) continue;
      const x = viewport.x(packet.head.t0 + packet.signed[at]! * packet.head.unit);
      const length = packet.words[at + CELL.length]! * packet.head.unit;
      const left = Math.max(-4, x);
      const right = Math.min(width + 4, x + Math.max(2, length / viewport.nsPerPx));
      if (right <= left) continue;
      if (packet.words[at + CELL.event] === event)
        context.strokeRect(left, y / ratio, right - left, height / ratio);
      else if ((packet.words[at + CELL.rest]! & 0xffff) === 1)
        context.fillRect(left, (y + height) / ratio - 2, right - left, 2);
    }
}

/** A triangle at the lower edge of the ruler for each of the times AT that are in sight. */
export function drawHits(
  context: CanvasRenderingContext2D,
  at: readonly number[],
  { viewport, width }: { viewport: Viewport; width: number },
  colour: string,
): void {
  context.fillStyle = colour;
  for (const time of at) {
    const x = viewport.x(time);
    if (x > width + 4) break;
    if (x < -4) continue;
    context.beginPath();
    context.moveTo(x - 3, RULER_HEIGHT - 6);
    context.lineTo(x + 3, RULER_HEIGHT - 6);
    context.lineTo(x, RULER_HEIGHT);
    context.fill();
  }
}

export function drawArea(
  context: CanvasRenderingContext2D,
  viewport: Viewport,
  area: Window,
  height: number,
  colour: string,
): void {
  const from = viewport.x(area.from);
  const to = viewport.x(area.to);
  context.fillStyle = colour;
  context.globalAlpha = 0.12;
  context.fillRect(from, 0, to - from, height);
  context.globalAlpha = 1;
}
