// SPDX-License-Identifier: Apache-2.0
// The ghost: the median step below the one that is looked at, in the lowest pixels of each lane.

import type { Api } from "../api/api.ts";
import { CELL } from "../api/packets.ts";
import type { Viewport } from "../model/viewport.ts";
import { Fetcher, type TimelineNames, type Wanted } from "./fetcher.ts";
import type { PaintedLane, Surface } from "./painter.ts";

export const GHOST_HEIGHT = 4;

/** Which times are shown, and so many ns later than they were. */
export interface GhostOf {
  readonly from: number;
  readonly to: number;
  readonly shift: number;
}

export class Ghost {
  readonly fetcher: Fetcher;

  constructor(api: Api, run: string, timeline: TimelineNames, changed: () => void) {
    this.fetcher = new Fetcher(api, run, timeline, changed);
  }

  close(): void {
    this.fetcher.close();
  }

  /** What is on the screen is WANTED: have the same of the times of OF; null: no ghost is shown. */
  show(wanted: Wanted, of: GhostOf | null): void {
    if (of === null) return;
    const viewport = wanted.viewport.earlier(of.shift);
    this.fetcher.show({ ...wanted, viewport, series: [] });
  }
}

/** Paint LANES in COLOUR, but only what is within the times of GHOST, as VIEWPORT shows it. */
export function paintGhost(
  surface: Surface,
  viewport: Viewport,
  lanes: readonly PaintedLane[],
  ghost: GhostOf,
  colour: number,
): void {
  const { pixels, width, height, ratio } = surface;
  const view = viewport.earlier(ghost.shift);
  const least = Math.max(0, Math.round(view.x(ghost.from) * ratio));
  const most = Math.min(width, Math.round(view.x(ghost.to) * ratio));
  for (const { packet, lane, y, height: lines } of lanes) {
    const scale = (packet.head.unit / view.nsPerPx) * ratio;
    const offset = view.x(packet.head.t0) * ratio;
    for (let i = lane.first; i < lane.first + lane.count; i++) {
      const at = i * CELL.words;
      const start = packet.signed[at]!;
      const a = Math.max(least, Math.round(offset + start * scale));
      const end = Math.round(offset + (start + packet.words[at + CELL.length]!) * scale);
      const b = Math.min(most, Math.max(a + 1, end));
      for (let line = Math.max(0, y); line < Math.min(height, y + lines) && a < b; line++)
        pixels.fill(colour, line * width + a, line * width + b);
    }
  }
}
