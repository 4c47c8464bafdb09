// SPDX-License-Identifier: Apache-2.0
// The picture: draws a scene of a timeline on its canvases. What it keeps is only what spares work: the
// colours of the theme, widths of texts, the pixels.

import { makePalette, type Palette } from "../model/colour.ts";
import { keepPicture, sizeCanvas } from "../model/device_pixels.ts";
import { drawArrows, type Tag, type View } from "./arrows.ts";
import { type Pick, pickerOf } from "./colour_modes.ts";
import { drawValues } from "./curves.ts";
import { drawFlows } from "./flows.ts";
import { GHOST_HEIGHT, paintGhost } from "./ghost.ts";
import { cutTo, drawLabels, TextWidths } from "./labels.ts";
import { drawArea, drawHits, drawSelection } from "./marks.ts";
import { type PaintedLane, paint } from "./painter.ts";
import { lanePlaces, paintedLanes } from "./places.ts";
import { drawSteps, RULER_HEIGHT, STEP_HEIGHT, ticks } from "./ruler.ts";
import type { Scene, TimelineState } from "./timeline_state.ts";

interface Parts {
  readonly base: HTMLCanvasElement;
  readonly overlay: HTMLCanvasElement;
  readonly ruler: HTMLCanvasElement;
}

/** The colours of a theme and a mode. */
interface Colours {
  readonly theme: string;
  readonly mode: string;
  readonly palette: Palette;
  readonly pick: Pick | null;
  readonly text: string;
  readonly muted: string;
  readonly ground: string;
  readonly line: string;
  readonly grid: string;
  readonly accent: string;
}

const NO_TAGS: readonly Tag[] = [];

export class Screen {
  private readonly state: TimelineState;
  private readonly parts: Parts;
  private readonly widths = new TextWidths();
  private colours: Colours | null = null;
  private image: ImageData | null = null;

  /** A picture that PARTS have stays until there is something to draw. */
  constructor(state: TimelineState, parts: Parts) {
    this.state = state;
    this.parts = parts;
  }

  /** Let the canvases have their size; whether that emptied any. */
  resize(width: number, height: number, ratio: number): boolean {
    const { base, overlay, ruler } = this.parts;
    // Nothing can be drawn before there is an answer: a picture of the traces before is stretched.
    const isKept = base.style.visibility !== "hidden" && !this.state.fetcher.hasAnswer;
    const resized = (canvas: HTMLCanvasElement, high: number) => {
      const putBack = isKept ? keepPicture(canvas) : () => {};
      const isNew = sizeCanvas(canvas, width, high, ratio);
      if (isNew) putBack();
      return isNew;
    };
    this.image = null;
    const areNew = [resized(base, height), resized(overlay, height), resized(ruler, RULER_HEIGHT)];
    return areNew.includes(true);
  }

  /** Draw SCENE; the result are ends of arrows that are not in sight, null: nothing was drawn. */
  draw(scene: Scene): readonly Tag[] | null {
    const { fetcher, ghosts } = this.state;
    // Until there are cells the picture before stays.
    if (!fetcher.hasAnswer) return null;
    const context = this.parts.base.getContext("2d", { alpha: false });
    const { width, height } = this.parts.base;
    if (!context || width === 0 || height === 0) return null;
    this.parts.base.style.visibility = "";
    const colours = this.coloursOf(scene);
    const { viewport } = scene.shown;
    this.image ??= context.createImageData(width, height);
    const pixels = new Uint32Array(this.image.data.buffer);
    const places = lanePlaces(scene.rows);
    const lanes = paintedLanes(fetcher.cells, places, scene.top, scene.ratio);
    const grid = ticks(viewport, scene.shown.width, scene.clock).map(({ x }) => x);
    const surface = { pixels, width, height, ratio: scene.ratio, grid };
    paint(surface, viewport, lanes, colours.palette, fetcher.step, colours.pick);
    if (scene.ghost !== null) {
      const { cells } = ghosts.fetcher;
      const of = paintedLanes(cells, places, scene.top, scene.ratio, GHOST_HEIGHT);
      paintGhost(surface, viewport, of, scene.ghost, colours.palette.ghost);
    }
    context.putImageData(this.image, 0, 0);
    this.drawRuler(scene, colours);
    return this.drawOverlay(scene, lanes, colours);
  }

  private coloursOf({ theme, mode }: Scene): Colours {
    if (this.colours?.theme === theme && this.colours.mode === mode) return this.colours;
    const style = getComputedStyle(document.documentElement);
    const token = (name: string) => style.getPropertyValue(`--${name}`);
    const { timeline, fetcher } = this.state;
    this.colours = {
      theme,
      mode,
      palette: makePalette(timeline.kinds, token),
      pick: pickerOf(mode, timeline, fetcher, token),
      text: token("text"),
      muted: token("text-2"),
      ground: token("bg"),
      line: token("memcpy"),
      grid: token("hairline"),
      accent: token("link"),
    };
    return this.colours;
  }

  private begin(canvas: HTMLCanvasElement, scene: Scene): CanvasRenderingContext2D | null {
    const context = canvas.getContext("2d");
    if (!context) return null;
    const { ratio } = scene;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, scene.shown.width, canvas.height / ratio);
    context.font = "11px system-ui, sans-serif";
    context.lineWidth = 1;
    return context;
  }

  private drawOverlay(
    scene: Scene,
    lanes: readonly PaintedLane[],
    colours: Colours,
  ): readonly Tag[] {
    const context = this.begin(this.parts.overlay, scene);
    if (!context) return NO_TAGS;
    const { fetcher } = this.state;
    const { viewport, width } = scene.shown;
    const view = { viewport, width, ratio: scene.ratio };
    const look = { palette: colours.palette, widths: this.widths, pick: colours.pick };
    drawLabels(context, lanes, view, look, fetcher);
    for (const row of scene.rows)
      if (row.kind === "series" && fetcher.values !== null)
        drawValues(context, fetcher.values, row, row.y - scene.top, { viewport, width }, colours);
    if (scene.selected !== null)
      drawSelection(context, lanes, view, scene.selected.event, colours.text);
    const tags = this.drawAllArrows(context, scene, lanes, view, colours);
    if (scene.area !== null) drawArea(context, viewport, scene.area, scene.height, colours.accent);
    return tags;
  }

  /** Those of the selection, or all of the window; the result are the ends that are not in sight. */
  private drawAllArrows(
    context: CanvasRenderingContext2D,
    scene: Scene,
    lanes: readonly PaintedLane[],
    view: View,
    { line, text, accent }: Colours,
  ): readonly Tag[] {
    const { packet, problem } = this.state.flows;
    const { dataset } = this.parts.overlay;
    if (packet !== null) {
      const tops = new Map(
        scene.rows.flatMap((r) => (r.kind === "track" ? [[r.track.id, r.y - scene.top]] : [])),
      );
      dataset.arrows = String(drawFlows(context, lanes, view, { packet, tops }, { line, text }));
    } else delete dataset.arrows;
    context.fillStyle = text;
    context.fillText(problem, 8, 10);
    return scene.selected === null || scene.flow === "none"
      ? NO_TAGS
      : drawArrows(context, lanes, view, scene.selected, accent);
  }

  private drawRuler(scene: Scene, colours: Colours): void {
    const context = this.begin(this.parts.ruler, scene);
    if (!context) return;
    context.fillStyle = colours.muted;
    context.strokeStyle = colours.grid;
    context.textBaseline = "middle";
    context.beginPath();
    const { viewport, width } = scene.shown;
    const top = scene.steps.length > 0 ? STEP_HEIGHT : 0;
    for (const tick of ticks(viewport, width, scene.clock)) {
      context.moveTo(Math.round(tick.x) + 0.5, top);
      context.lineTo(Math.round(tick.x) + 0.5, RULER_HEIGHT);
      context.fillText(tick.label, tick.x + 4, (top + RULER_HEIGHT) / 2);
    }
    context.stroke();
    drawHits(context, scene.hits, { viewport, width }, colours.text);
    const measure = (text: string) => this.widths.of(context, text);
    const cut = (text: string, most: number) => cutTo(text, most, measure);
    drawSteps(context, scene.steps, { viewport, width }, cut);
  }
}
