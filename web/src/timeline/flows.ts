// SPDX-License-Identifier: Apache-2.0
// All arrows of a window: asked for when it rests, drawn as curves. Where there are many, the
// server makes bundles of them; a bundle has its number.

import { type Api, isChanged } from "../api/api.ts";
import { FLOW, type FlowPacket } from "../api/packets.ts";
import { format } from "../model/units.ts";
import { drawArrow, findSpots, type Spot, type View } from "./arrows.ts";
import type { Wanted } from "./fetcher.ts";
import { LANE_HEIGHT } from "./layout.ts";
import type { PaintedLane } from "./painter.ts";

const REST_MS = 150;
/** More bundles than these are fainter, and without their numbers. */
const MOST_CLEAR = 60;
const FAINTEST = 0.2;

export class Flows {
  packet: FlowPacket | null = null;
  /** Why there are none; "": they are there, or not asked for. */
  problem = "";
  private readonly api: Api;
  private readonly run: string;
  private readonly fingerprint: string;
  private readonly changed: () => void;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private flight: AbortController | null = null;

  constructor(api: Api, run: string, fingerprint: string, changed: () => void) {
    this.api = api;
    this.run = run;
    this.fingerprint = fingerprint;
    this.changed = changed;
  }

  close(): void {
    clearTimeout(this.timer);
    this.flight?.abort();
  }

  /** WANTED is on the screen from now on; all of its arrows, if ARESHOWN. */
  show(wanted: Wanted, areShown: boolean): void {
    clearTimeout(this.timer);
    if (!areShown) {
      this.close();
      this.packet = null;
      this.problem = "";
      return;
    }
    this.timer = setTimeout(() => void this.ask(wanted), REST_MS);
  }

  private async ask(wanted: Wanted): Promise<void> {
    this.flight?.abort();
    const abort = new AbortController();
    this.flight = abort;
    const window = wanted.viewport.window(wanted.width, 0);
    const pixels = Math.max(1, Math.round(wanted.width));
    const tracks = wanted.tracks.map(([id]) => id);
    const { fingerprint } = this;
    const question = { fingerprint, window, pixels, isExact: true, request: 0 };
    try {
      const packet = await this.api.flows(this.run, tracks, question, abort.signal);
      if (abort.signal.aborted) return;
      this.packet = packet;
      this.problem = "";
    } catch (cause) {
      if (abort.signal.aborted || isChanged(cause)) return;
      this.packet = null;
      this.problem = cause instanceof Error ? cause.message : String(cause);
    }
    this.changed();
  }
}

/** Arrows, and where the rows of tracks in sight begin on the screen. */
interface FlowsOnTracks {
  readonly packet: FlowPacket;
  readonly tops: ReadonlyMap<number, number>;
}

/** Where an end is: at its cell in LANES, or else on its track. */
function placer(lanes: readonly PaintedLane[], view: View, { packet, tops }: FlowsOnTracks) {
  const events = new Set<number>();
  for (let i = 0; i < packet.n; i++)
    for (const end of [FLOW.from, FLOW.to]) events.add(packet.words[i * FLOW.words + end]!);
  const spots = findSpots(lanes, view, events);
  return (event: number, track: number, ns: number): Spot | null => {
    const spot = spots.get(event);
    const top = tops.get(track);
    if (spot !== undefined) return spot;
    return top === undefined ? null : { x: view.viewport.x(ns), y: top + LANE_HEIGHT / 2 };
  };
}

/** Draw arrows between LANES; the result is how many were drawn, each bundle once. */
export function drawFlows(
  context: CanvasRenderingContext2D,
  lanes: readonly PaintedLane[],
  view: View,
  flows: FlowsOnTracks,
  colours: { line: string; text: string },
): number {
  const { packet } = flows;
  const { words, signed, head } = packet;
  const place = placer(lanes, view, flows);
  let drawn = 0;
  context.lineWidth = 1;
  context.textBaseline = "middle";
  for (let i = 0; i < packet.n; i++) {
    const at = i * FLOW.words;
    const time = (word: number) => head.t0 + signed[at + word]! * head.unit;
    const from = place(words[at + FLOW.from]!, words[at + FLOW.fromTrack]!, time(FLOW.fromAt));
    const to = place(words[at + FLOW.to]!, words[at + FLOW.toTrack]!, time(FLOW.toAt));
    if (from === null || to === null) continue;
    const count = words[at + FLOW.rest]! & 0xffff;
    const clip = (spot: Spot): Spot => ({
      x: Math.max(-40, Math.min(view.width + 40, spot.x)),
      y: spot.y,
    });
    context.globalAlpha = Math.max(FAINTEST, Math.min(0.9, MOST_CLEAR / packet.n));
    context.strokeStyle = colours.line;
    context.fillStyle = colours.line;
    context.lineWidth = Math.min(4, 1 + Math.log10(count));
    drawArrow(context, clip(from), clip(to));
    if (count > 1 && packet.n <= MOST_CLEAR) {
      context.globalAlpha = 1;
      context.fillStyle = colours.text;
      const text = format(count, null);
      context.fillText(text, (clip(from).x + clip(to).x) / 2 + 3, (from.y + to.y) / 2);
    }
    drawn++;
  }
  context.globalAlpha = 1;
  return drawn;
}
