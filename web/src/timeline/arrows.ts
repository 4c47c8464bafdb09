// SPDX-License-Identifier: Apache-2.0
// Arrows from the selected event to those that it is linked to, such as from a launch to its
// kernel. Where the other end is not in sight, a tag at the edge says where it is.

import type { Linked } from "../api/api.ts";
import { CELL } from "../api/packets.ts";
import { formatTime } from "../model/units.ts";
import type { Viewport } from "../model/viewport.ts";
import type { PaintedLane } from "./painter.ts";

export interface Selected {
  readonly event: number;
  /** The first track of its thread or queue. */
  readonly track: number | null;
  readonly from: number;
  readonly to: number;
  readonly links: readonly Linked[];
}

export interface Spot {
  readonly x: number;
  readonly y: number;
}

export interface View {
  readonly viewport: Viewport;
  readonly width: number;
  readonly ratio: number;
}

/** Where the EVENTS that have a cell of their own in LANES begin, in CSS pixels. */
export function findSpots(
  lanes: readonly PaintedLane[],
  view: View,
  events: ReadonlySet<number>,
): Map<number, Spot> {
  const found = new Map<number, Spot>();
  for (const { packet, lane, y, height } of lanes)
    for (let i = lane.first; i < lane.first + lane.count; i++) {
      const at = i * CELL.words;
      const event = packet.words[at + CELL.event]!;
      if (!events.has(event)) continue;
      const start = packet.head.t0 + packet.signed[at]! * packet.head.unit;
      found.set(event, { x: view.viewport.x(start), y: (y + height / 2) / view.ratio });
    }
  return found;
}

/** The tag for LINK, which is not in sight. */
export function tagOf(link: Linked, selected: Selected): string {
  const delay = link.start_ns - selected.from;
  const sign = delay < 0 ? "" : "+";
  return `${delay < 0 ? "←" : "→"} ${link.relation.replace("_", " ")}: ${sign}${formatTime(delay)}`;
}

export function drawArrow(context: CanvasRenderingContext2D, from: Spot, to: Spot): void {
  const bend = Math.max(20, Math.abs(to.x - from.x) / 2);
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x, to.y);
  context.stroke();
  context.beginPath();
  context.moveTo(to.x, to.y);
  context.lineTo(to.x - 6, to.y - 4);
  context.lineTo(to.x - 6, to.y + 4);
  context.fill();
}

/** Whether an arrow ends at the selected event instead of beginning there. */
function leadsHere(link: Linked): boolean {
  return link.relation !== "launched" && link.relation !== "leads_to";
}

/** A link whose other end is not in sight: what it says, and where. */
export interface Tag {
  readonly event: number;
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

/** Draw arrows to what is in sight; the result has a tag for each end that is not. */
export function drawArrows(
  context: CanvasRenderingContext2D,
  lanes: readonly PaintedLane[],
  view: View,
  selected: Selected,
  colour: string,
): Tag[] {
  const links = selected.links.filter((link) => link.relation !== "parent");
  const spots = findSpots(lanes, view, new Set([selected.event, ...links.map((l) => l.event)]));
  const here = spots.get(selected.event);
  if (!here) return [];
  context.strokeStyle = colour;
  context.fillStyle = colour;
  context.lineWidth = 1.5;
  const tags: Tag[] = [];
  for (const link of links) {
    const there = spots.get(link.event);
    if (there !== undefined && there.x >= 0 && there.x <= view.width) {
      drawArrow(context, leadsHere(link) ? there : here, leadsHere(link) ? here : there);
      continue;
    }
    const x = Math.round(Math.min(view.width - 180, Math.max(4, here.x)));
    const y = Math.round(here.y + 10 + 18 * tags.length);
    tags.push({ event: link.event, text: tagOf(link, selected), x, y });
  }
  return tags;
}
