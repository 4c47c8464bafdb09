// SPDX-License-Identifier: Apache-2.0
// Frames on two canvases: pixels below, text and the selection above. Only what is in sight is
// painted.

import { CELL } from "../api/packets.ts";
import { makePalette, type Palette, STEPS } from "../model/colour.ts";
import { sizeCanvas } from "../model/device_pixels.ts";
import { Viewport } from "../model/viewport.ts";
import { cutName, TextWidths } from "../timeline/labels.ts";
import { type PaintedLane, paint } from "../timeline/painter.ts";
import {
  FLAME_KINDS,
  type FlamePacket,
  type FlameTree,
  frameAt,
  nameOf,
  packFlame,
  WHOLE,
} from "./tree.ts";

export const LANE = 18;
const LEAST_LABEL = 24;
const MOST_LABELS = 600;
const PADDING = 4;

export interface FlameLook {
  /** Text for the value of a frame that is wide enough. */
  readonly value: (value: number) => string;
  readonly selected: number;
}

export class FlameCanvas {
  private palette: Palette;
  private readonly widths = new TextWidths();
  private packed: FlamePacket | null = null;
  private tree: FlameTree | null = null;
  private look: FlameLook = { value: String, selected: -1 };
  private width = 0;
  private height = 0;
  private top = 0;
  private ratio = 1;
  private frame = 0;

  constructor(
    private readonly base: HTMLCanvasElement,
    private readonly overlay: HTMLCanvasElement,
  ) {
    this.palette = this.readPalette();
  }

  private readPalette(): Palette {
    const style = getComputedStyle(document.documentElement);
    return makePalette(FLAME_KINDS, (name) => style.getPropertyValue(`--${name}`));
  }

  recolour(): void {
    this.palette = this.readPalette();
    this.draw();
  }

  resize(width: number, height: number, ratio: number): void {
    this.width = width;
    this.height = height;
    this.ratio = ratio;
    for (const canvas of [this.base, this.overlay]) sizeCanvas(canvas, width, height, ratio);
    // What was resized is empty: it is drawn before anybody sees it.
    this.paint();
  }

  show(tree: FlameTree, stack: string): void {
    this.tree = tree;
    this.packed = packFlame(tree, stack);
    this.draw();
  }

  dress(look: FlameLook): void {
    this.look = look;
    this.draw();
  }

  scroll(top: number): void {
    this.top = top;
    this.draw();
  }

  /** The frame at (X, Y) of the canvas; -1: none. */
  at(x: number, y: number): number {
    if (this.tree === null || this.width === 0) return -1;
    const value = (x / this.width) * this.tree.stacks.total;
    return frameAt(this.tree, Math.floor((y + this.top) / LANE), value);
  }

  close(): void {
    cancelAnimationFrame(this.frame);
  }

  draw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  private visible(packed: FlamePacket): PaintedLane[] {
    const lanes: PaintedLane[] = [];
    for (const lane of packed.lanes) {
      const y = lane.depth * LANE - this.top;
      if (y > -LANE && y < this.height)
        lanes.push({
          y: Math.round(y * this.ratio),
          height: Math.round(LANE * this.ratio),
          packet: packed.packet,
          lane,
        });
    }
    return lanes;
  }

  private paint(): void {
    const { tree, packed } = this;
    const below = this.base.getContext("2d");
    const above = this.overlay.getContext("2d");
    if (tree === null || packed === null || below === null || above === null) return;
    const { width, height } = this.base;
    if (width === 0 || height === 0 || tree.stacks.total <= 0) return;
    const image = below.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const viewport = Viewport.fit(0, WHOLE, this.width);
    const lanes = this.visible(packed);
    paint(
      { pixels, width, height, ratio: this.ratio },
      viewport,
      lanes,
      this.palette,
      packed.steps,
    );
    below.putImageData(image, 0, 0);
    above.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    above.clearRect(0, 0, this.width, this.height);
    above.font = "11px system-ui, sans-serif";
    above.textBaseline = "middle";
    this.label(above, tree, lanes);
    this.outline(above, tree);
  }

  private label(above: CanvasRenderingContext2D, tree: FlameTree, lanes: readonly PaintedLane[]) {
    const { total } = tree.stacks;
    const measure = (text: string) => this.widths.of(above, text);
    let left = MOST_LABELS;
    for (const { lane, y } of lanes)
      for (const [i, frame] of tree.lanes[lane.depth]!.entries()) {
        const width = (tree.stacks.total_of[frame]! / total) * this.width;
        const step = this.packed!.steps(frame);
        if (width < LEAST_LABEL || left-- <= 0 || step < 0) continue;
        const x = (tree.start[frame]! / total) * this.width + PADDING;
        const room = width - 2 * PADDING;
        const text = cutName(nameOf(tree, frame), room, measure);
        const at = y / this.ratio + LANE / 2;
        const rest = this.packed!.packet.words[(lane.first + i) * CELL.words + CELL.rest]!;
        above.fillStyle = this.palette.texts[(rest >>> 24) * STEPS + step] ?? "#000";
        above.fillText(text, x, at);
        const value = this.look.value(tree.stacks.total_of[frame]!);
        if (measure(text) + measure(value) + 16 <= room)
          above.fillText(value, x + room - measure(value), at);
      }
  }

  private outline(above: CanvasRenderingContext2D, tree: FlameTree) {
    const frame = this.look.selected;
    if (frame < 0 || frame >= tree.depth.length) return;
    const scale = this.width / tree.stacks.total;
    const style = getComputedStyle(document.documentElement);
    const box = [
      tree.start[frame]! * scale + 1,
      tree.depth[frame]! * LANE - this.top + 1,
      Math.max(2, tree.stacks.total_of[frame]! * scale - 2),
      LANE - 2,
    ] as const;
    above.lineWidth = 4;
    above.strokeStyle = style.getPropertyValue("--bg");
    above.strokeRect(...box);
    above.lineWidth = 2;
    above.strokeStyle = style.getPropertyValue("--text");
    above.strokeRect(...box);
  }
}
