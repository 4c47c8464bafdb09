// SPDX-License-Identifier: Apache-2.0
// Lanes as pixels. A lane is painted as one row, which is then copied to its height; all of it
// goes to the screen at once. The work is bounded by pixels, not by ranges.

import { CELL, type CellPacket, type LaneCells } from "../api/packets.ts";
import { blend, type Palette, STEPS } from "../model/colour.ts";
import type { Viewport } from "../model/viewport.ts";
import type { Pick } from "./colour_modes.ts";

/** A lane on the screen, in device pixels. */
export interface PaintedLane {
  readonly y: number;
  readonly height: number;
  readonly packet: CellPacket;
  readonly lane: LaneCells;
}

/** The step of lightness of each name, by its number; ~step: it is not what is searched. */
export type NameSteps = (name: number) => number;

/** Of its colour a merged cell has at least this much, of 255. */
const LEAST_SHARE = 90;
/** What is not searched has this much. */
const DIM_SHARE = 40;
const COUNT_MASK = 0xffff;

/** PIXELS of WIDTH x HEIGHT device pixels; RATIO of them are one pixel of VIEWPORT. Behind all cells
 * are lines from top to bottom at GRID, in pixels of VIEWPORT. */
export interface Surface {
  readonly pixels: Uint32Array;
  readonly width: number;
  readonly height: number;
  readonly ratio: number;
  readonly grid?: readonly number[];
}

/** Fill SURFACE with what is behind the cells. */
function paintGround({ pixels, width, ratio, grid }: Surface, palette: Palette): void {
  pixels.fill(palette.ground);
  const line = Math.max(1, Math.round(ratio));
  for (const x of grid ?? []) {
    const at = Math.round(Math.round(x) * ratio);
    if (at >= 0 && at < width) pixels.fill(palette.grid, at, Math.min(at + line, width));
  }
  if (grid !== undefined)
    for (let row = width; row < pixels.length; row += width) pixels.copyWithin(row, 0, width);
}

export function paint(
  surface: Surface,
  viewport: Viewport,
  lanes: readonly PaintedLane[],
  palette: Palette,
  steps: NameSteps,
  pick: Pick | null = null,
): void {
  paintGround(surface, palette);
  for (const lane of lanes) paintLane(surface, viewport, lane, { palette, steps, pick });
}

/** What cells look like; pick null: as their kind. */
interface Look {
  readonly palette: Palette;
  readonly steps: NameSteps;
  readonly pick: Pick | null;
}

function paintLane(
  surface: Surface,
  viewport: Viewport,
  painted: PaintedLane,
  { palette, steps, pick }: Look,
): void {
  const { pixels, width, ratio } = surface;
  const { packet, lane } = painted;
  const { words, signed } = packet;
  const top = Math.max(0, painted.y);
  const bottom = Math.min(surface.height, painted.y + painted.height);
  if (bottom <= top) return;
  // x of a cell is offset + start * scale: packet and viewport differ by a whole number of ns.
  const scale = (packet.head.unit / viewport.nsPerPx) * ratio;
  const offset = viewport.x(packet.head.t0) * ratio;
  const row = top * width;
  // What is narrower than a pixel of the page is as wide as one, and lines are as wide.
  const line = Math.max(1, Math.round(ratio));
  let filled = 0;
  for (let i = lane.first, end = lane.first + lane.count; i < end; i++) {
    const at = i * CELL.words;
    const x = offset + signed[at]! * scale;
    if (x >= width) break;
    const x1 = offset + (signed[at]! + words[at + CELL.length]!) * scale;
    let a = Math.round(x);
    let b = Math.round(x1);
    if (b < a + line) b = a + line;
    if (b <= 0) continue;
    if (a < filled) a = filled; // a pixel belongs to the first cell in it
    if (a < 0) a = 0;
    if (b > width) b = width;
    if (b <= a) continue;
    const rest = words[at + CELL.rest]!;
    const step = steps(words[at + CELL.name]!);
    let colour =
      pick?.(packet, lane.track, at) ??
      palette.shades[(rest >>> 24) * STEPS + (step < 0 ? ~step : step)]!;
    if (step < 0) colour = blend(colour, palette.ground, DIM_SHARE);
    else if ((rest & COUNT_MASK) > 1)
      colour = blend(colour, palette.ground, Math.max(LEAST_SHARE, (rest >>> 16) & 255));
    pixels.fill(colour, row + a, row + b);
    // A line between neighbours that are wide enough to tell apart.
    if (b - a > 3 * line && b < width)
      pixels.fill(blend(colour, palette.ground, 160), row + b - line, row + b);
    filled = b;
  }
  for (let y = top + 1; y < bottom - line; y++) pixels.copyWithin(y * width, row, row + width);
}

/** The cell of LANE at time T, counted from 0 in the packet; -1: there is none. */
export function cellAt(packet: CellPacket, lane: LaneCells, t: number, slack: number): number {
  const { signed, words, head } = packet;
  const unit = (t - head.t0) / head.unit;
  let low = lane.first;
  let high = lane.first + lane.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (signed[middle * CELL.words]! <= unit) low = middle + 1;
    else high = middle;
  }
  // Cells narrower than a pixel are as wide as one on the screen.
  for (const i of [low - 1, low]) {
    if (i < lane.first || i >= lane.first + lane.count) continue;
    const start = signed[i * CELL.words]!;
    const end = start + words[i * CELL.words + CELL.length]!;
    const reach = slack / head.unit;
    if (unit >= start - (i === low ? reach : 0) && unit <= Math.max(end, start + reach)) return i;
  }
  return -1;
}
