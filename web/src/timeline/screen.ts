// SPDX-License-Identifier: Apache-2.0
// The picture: which rows are in sight, what is drawn, and when. One loop draws, and only if
// something has changed.

import type { Api, Timeline, Window } from "../api/api.ts";
import type { CellPacket } from "../api/packets.ts";
import { makePalette, type Palette } from "../model/colour.ts";
import { keepPicture, sizeCanvas } from "../model/device_pixels.ts";
import { drawArrows, type Selected, type Tag, type View } from "./arrows.ts";
import { type Pick, pickerOf } from "./colour_modes.ts";
import { drawValues } from "./curves.ts";
import { Fetcher } from "./fetcher.ts";
import { drawFlows, Flows } from "./flows.ts";
import { GHOST_HEIGHT, Ghost, type GhostOf, paintGhost } from "./ghost.ts";
import { cutTo, drawLabels, TextWidths } from "./labels.ts";
import type { Layout, Row } from "./layout.ts";
import { drawArea, drawHits, drawSelection } from "./marks.ts";
import { type PaintedLane, paint } from "./painter.ts";
import { type Hit, hitIn, lanePlaces, lanesOf, paintedLanes } from "./places.ts";
import {
  type Clock,
  drawSteps,
  FROM_ORIGIN,
  RULER_HEIGHT,
  STEP_HEIGHT,
  type StepMark,
  ticks,
} from "./ruler.ts";
import { Viewport } from "./viewport.ts";

export interface Area {
  readonly from: number;
  readonly to: number;
}

/** What is brought into sight gets no narrower window: an instant has no width. */
const LEAST_NS = 3000;

interface Parts {
  readonly base: HTMLCanvasElement;
  readonly overlay: HTMLCanvasElement;
  readonly ruler: HTMLCanvasElement;
}

export class Screen {
  viewport: Viewport;
  readonly fetcher: Fetcher;
  private readonly ghost: Ghost;
  /** What is selected, with what it is linked to. */
  selected: Selected | null = null;
  /** The event that was clicked, until it is selected: it is where the pointer is. */
  pointed = -1;
  /** Whether another screen says which times this one shows. */
  isLed = false;
  /** The number of its name; null: it has no cell in sight. */
  private selectedName: number | null = null;
  /** Hears of ends that are not in sight. */
  tagged: (tags: readonly Tag[]) => void = () => {};
  readonly flows: Flows;
  private wish = { flow: "", mode: "" };
  private pick: Pick | null = null;
  private tags: readonly Tag[] = [];
  area: Area | null = null;
  /** What the ruler counts from, and the steps in it. */
  clock: Clock = FROM_ORIGIN;
  steps: readonly StepMark[] = [];
  private hits: readonly number[] = [];
  private readonly timeline: Timeline;
  private readonly first: Window;
  private readonly parts: Parts;
  private readonly moved: (viewport: Viewport) => void;
  private layout: Layout = { rows: [], height: 0 };
  /** Whether LAYOUT was set; it may have no rows. */
  private isLaidOut = false;
  private palette: Palette;
  private readonly widths = new TextWidths();
  private width = 0;
  private height = 0;
  private ratio = 1;
  private top = 0;
  private frame = 0;
  /** What was fit, until something else is shown; tight: without a margin. */
  private fitted: { window: Window; viewport: Viewport; isTight: boolean } | null = null;
  /** What was to be shown before there was a size. */
  private early: (() => void) | null = null;
  private image: ImageData | null = null;
  private colours = {
    text: "#000",
    muted: "#666",
    ground: "#fff",
    line: "#888",
    grid: "#ddd",
    accent: "#00f",
  };

  /**
   * FIRST is shown at first; MOVED is called when another window is shown. A picture that PARTS have
   * stays until there is something to draw.
   */
  constructor(
    api: Api,
    run: string,
    { timeline, first }: { timeline: Timeline; first: Window },
    parts: Parts,
    moved: (v: Viewport) => void,
  ) {
    this.timeline = timeline;
    this.first = first;
    this.parts = parts;
    this.moved = moved;
    const { fingerprint } = timeline;
    this.fetcher = new Fetcher(api, run, fingerprint, () => this.draw());
    this.ghost = new Ghost(api, run, fingerprint, () => this.draw());
    this.flows = new Flows(api, run, fingerprint, () => this.draw());
    this.viewport = Viewport.fit(timeline.from_ns, timeline.to_ns, 1000);
    this.palette = this.readTheme();
  }

  close(): void {
    cancelAnimationFrame(this.frame);
    this.fetcher.close();
    for (const part of [this.ghost, this.flows]) part.close();
  }

  /** Mark the times AT, ascending, on the ruler. */
  markHits(at: readonly number[]): void {
    this.hits = at;
    this.draw();
  }

  showFlows(wish: string): void {
    this.wish.flow = wish;
    delete this.parts.overlay.dataset.arrows;
    this.flows.want(wish === "all");
    this.show(this.viewport);
  }

  /** Show GHOST below what is there; null: none. */
  haunt(ghost: GhostOf | null): void {
    this.ghost.of = ghost;
    this.show(this.viewport);
  }

  /** Colours mean MODE (colour_modes.ts), which may need MEDIANS of names. */
  colourBy(mode: string, medians: ReadonlyMap<string, number> | null): void {
    this.wish.mode = mode;
    this.fetcher.medians = medians;
    this.recolour();
  }

  /** Dim all names but the selected one, or do no longer; false: nothing is selected. */
  dim(): boolean {
    const { only } = this.fetcher;
    if (only === null && this.selectedName === null) return false;
    this.fetcher.only = only === null ? this.selectedName : null;
    this.draw();
    return true;
  }

  /** The theme has changed. */
  recolour(): void {
    this.palette = this.readTheme();
    this.draw();
  }

  resize(width: number, height: number, ratio: number): void {
    const isFirst = this.width === 0;
    const shown = this.viewport.window(this.width, 0);
    this.width = width;
    this.height = height;
    this.ratio = ratio;
    const { base, overlay, ruler } = this.parts;
    // Nothing can be drawn before there is an answer: a picture of the traces before is stretched.
    const isKept = base.style.visibility !== "hidden" && !this.fetcher.hasAnswer;
    const resized = (canvas: HTMLCanvasElement, high: number) => {
      const putBack = isKept ? keepPicture(canvas) : () => {};
      const isNew = sizeCanvas(canvas, width, high, ratio);
      if (isNew) putBack();
      return isNew;
    };
    const areNew = [resized(base, height), resized(overlay, height), resized(ruler, RULER_HEIGHT)];
    this.image = null;
    this.fitAgain(isFirst ? null : shown);
    // What was resized is empty: it is drawn before anybody sees it.
    if (areNew.includes(true)) this.drawNow();
  }

  /** Show SHOWN at another size; null: nothing was shown yet. */
  private fitAgain(shown: Window | null): void {
    const { early, fitted, width } = this;
    this.early = null;
    if (shown === null) {
      this.viewport = Viewport.fit(this.first.from, this.first.to, width);
      this.showWindow(this.first);
      early?.();
    } else if (this.isLed) this.show(this.viewport);
    else if (!fitted?.viewport.equals(this.viewport)) this.showWindow(shown);
    else if (fitted.isTight) this.showWindow(fitted.window);
    else this.fit(fitted.window.from, fitted.window.to);
  }

  setLayout(layout: Layout): void {
    this.layout = layout;
    this.isLaidOut = true;
    this.show(this.viewport);
  }

  scroll(top: number): void {
    this.top = top;
    this.show(this.viewport);
  }

  /** Show VIEWPORT, or what is nearest to it in the trace. */
  show(viewport: Viewport): void {
    const { from_ns, to_ns } = this.timeline;
    const isElsewhere = !viewport.equals(this.viewport);
    this.viewport = viewport.clamp(from_ns, to_ns, Math.max(1, this.width));
    // Before there is a layout nothing is known of what to ask for.
    if (this.width > 0 && this.isLaidOut) {
      const rows = this.visible();
      const wanted = {
        viewport: this.viewport,
        width: this.width,
        ratio: this.ratio,
        tracks: lanesOf(rows),
        series: rows.flatMap((r) => (r.kind === "series" ? [r.series.id] : [])),
      };
      this.fetcher.show(wanted);
      for (const part of [this.ghost, this.flows]) part.show(wanted);
    }
    if (isElsewhere) this.moved(this.viewport);
    this.draw();
  }

  fit(from: number, to: number): void {
    if (this.width === 0) {
      this.early = () => this.fit(from, to);
      return;
    }
    const margin = Math.max(1, Math.round((to - from) / 20));
    this.show(Viewport.fit(from - margin, to + margin, this.width));
    this.fitted = { window: { from, to }, viewport: this.viewport, isTight: false };
  }

  /** Show just WINDOW, however wide the screen becomes; without one, what is shown at first. */
  showWindow(window: Window | null): void {
    const { from, to } = window ?? this.first;
    this.show(Viewport.fit(from, to, Math.max(1, this.width)));
    this.fitted = { window: { from, to }, viewport: this.viewport, isTight: true };
  }

  /** What is shown; null: what is shown at first. */
  get window(): Window | null {
    const { fitted, first, viewport } = this;
    const isFitted = fitted?.isTight === true && fitted.viewport.equals(viewport);
    const isFirst = isFitted && fitted.window.from === first.from && fitted.window.to === first.to;
    return isFirst ? null : viewport.window(this.width, 0);
  }

  /** Scroll in time so that [from, to) is in sight; zoom only if it is too small to see. */
  reveal(from: number, to: number): void {
    if (this.width === 0) {
      this.early = () => this.reveal(from, to);
      return;
    }
    const left = this.viewport.x(from);
    const right = this.viewport.x(to);
    const isWide = right - left >= 1;
    const width = Math.max(to - from, 1);
    const span = isWide ? this.viewport.nsPerPx * this.width : Math.max(width * 10, LEAST_NS);
    const isNear = isWide || this.viewport.nsPerPx * this.width <= span;
    if (left < this.width && right > 0 && isNear) return;
    const start = from + Math.floor(width / 2) - Math.round(span / 2);
    this.showWindow({ from: start, to: start + Math.round(span) });
  }

  fitAll(): void {
    this.showWindow({ from: this.timeline.from_ns, to: this.timeline.to_ns });
  }

  get pixels(): number {
    return this.width;
  }

  /** What is at pixel (X, Y) of the canvas. */
  hit(x: number, y: number): Hit | null {
    return hitIn(this.fetcher.cells, this.rowAt(y), this.viewport, x, y + this.top);
  }

  /** Draw once, before the next picture of the browser. */
  draw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.drawNow());
  }

  private readTheme(): Palette {
    const style = getComputedStyle(document.documentElement);
    const token = (name: string) => style.getPropertyValue(`--${name}`);
    this.colours = {
      text: token("text"),
      muted: token("text-2"),
      ground: token("bg"),
      line: token("memcpy"),
      grid: token("hairline"),
      accent: token("link"),
    };
    this.pick = pickerOf(this.wish.mode, this.timeline, this.fetcher, token);
    return makePalette(this.timeline.kinds, token);
  }

  /** The row at pixel Y of the canvas. */
  rowAt(y: number): Row | undefined {
    return this.layout.rows.find((r) => y + this.top >= r.y && y + this.top < r.y + r.height);
  }

  /** The rows from pixel TOP to BOTTOM of the canvas. */
  rowsBetween(top: number, bottom: number): Row[] {
    return this.layout.rows.filter(
      (r) => r.y <= bottom + this.top && r.y + r.height > top + this.top,
    );
  }

  private visible(): Row[] {
    return this.layout.rows.filter(
      (r) => r.y + r.height > this.top && r.y < this.top + this.height,
    );
  }

  /** The lanes of PACKET that are in sight; of each the lowest HEIGHT pixels. */
  private lanesOf(packet: CellPacket | null, height?: number): PaintedLane[] {
    return paintedLanes(packet, lanePlaces(this.visible()), this.top, this.ratio, height);
  }

  private drawNow(): void {
    // Until there are cells the picture before stays.
    if (!this.fetcher.hasAnswer) return;
    const context = this.parts.base.getContext("2d", { alpha: false });
    const { width, height } = this.parts.base;
    if (!context || width === 0 || height === 0) return;
    this.parts.base.style.visibility = "";
    this.image ??= context.createImageData(width, height);
    const pixels = new Uint32Array(this.image.data.buffer);
    const lanes = this.lanesOf(this.fetcher.cells);
    const grid = ticks(this.viewport, this.width, this.clock).map(({ x }) => x);
    const surface = { pixels, width, height, ratio: this.ratio, grid };
    paint(surface, this.viewport, lanes, this.palette, this.fetcher.step, this.pick);
    const { of, fetcher } = this.ghost;
    if (of !== null) {
      const ghosts = this.lanesOf(fetcher.cells, GHOST_HEIGHT);
      paintGhost(surface, this.viewport, ghosts, of, this.palette.ghost);
    }
    context.putImageData(this.image, 0, 0);
    this.drawOverlay(lanes);
    this.drawRuler();
  }

  private begin(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
    const context = canvas.getContext("2d");
    if (!context) return null;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, canvas.height / this.ratio);
    context.font = "11px system-ui, sans-serif";
    context.lineWidth = 1;
    return context;
  }

  private drawOverlay(lanes: readonly PaintedLane[]): void {
    const context = this.begin(this.parts.overlay);
    if (!context) return;
    const { viewport, width, ratio } = this;
    const look = { palette: this.palette, widths: this.widths, pick: this.pick };
    drawLabels(context, lanes, { viewport, width, ratio }, look, this.fetcher);
    const values = this.fetcher.values;
    for (const row of this.visible())
      if (row.kind === "series" && values !== null)
        drawValues(context, values, row, row.y - this.top, { viewport, width }, this.colours);
    const view = { viewport, width, ratio };
    this.selectedName =
      this.selected && drawSelection(context, lanes, view, this.selected.event, this.colours.text);
    this.drawAllArrows(context, lanes, view);
    if (this.area !== null) {
      drawArea(context, viewport, this.area, this.height, this.colours.accent);
    }
  }

  /** Those of the selection, or all of the window, and tags at ends that are not in sight. */
  private drawAllArrows(
    context: CanvasRenderingContext2D,
    lanes: readonly PaintedLane[],
    view: View,
  ): void {
    const { line, text, accent } = this.colours;
    if (this.flows.packet !== null) {
      const tops = new Map(
        this.visible().flatMap((r) => (r.kind === "track" ? [[r.track.id, r.y - this.top]] : [])),
      );
      const flows = { packet: this.flows.packet, tops };
      const n = drawFlows(context, lanes, view, flows, { line, text });
      this.parts.overlay.dataset.arrows = String(n);
    }
    context.fillStyle = text;
    context.fillText(this.flows.problem, 8, 10);
    const tags =
      this.selected === null || this.wish.flow === "none"
        ? []
        : drawArrows(context, lanes, view, this.selected, accent);
    if (JSON.stringify(tags) !== JSON.stringify(this.tags)) {
      this.tags = tags;
      this.tagged(tags);
    }
  }

  private drawRuler(): void {
    const context = this.begin(this.parts.ruler);
    if (!context) return;
    context.fillStyle = this.colours.muted;
    context.strokeStyle = this.colours.grid;
    context.textBaseline = "middle";
    context.beginPath();
    const top = this.steps.length > 0 ? STEP_HEIGHT : 0;
    for (const tick of ticks(this.viewport, this.width, this.clock)) {
      context.moveTo(Math.round(tick.x) + 0.5, top);
      context.lineTo(Math.round(tick.x) + 0.5, RULER_HEIGHT);
      context.fillText(tick.label, tick.x + 4, (top + RULER_HEIGHT) / 2);
    }
    context.stroke();
    drawHits(context, this.hits, { viewport: this.viewport, width: this.width }, this.colours.text);
    const measure = (text: string) => this.widths.of(context, text);
    const cut = (text: string, width: number) => cutTo(text, width, measure);
    drawSteps(context, this.steps, { viewport: this.viewport, width: this.width }, cut);
  }
}
