// SPDX-License-Identifier: Apache-2.0
// Which times a timeline shows: one signal, which all that zooms and pans writes, and which the screen
// draws, the minimap shows and the address follows.

import { batch, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Window } from "../api/api.ts";
import { Viewport } from "../model/viewport.ts";
import { formatRange, isSameRange } from "./codec.ts";

/** What was brought into sight on purpose, until another part is shown: it stays there when the width
 * changes. */
interface Aim {
  readonly window: Window;
  /** Without a margin beside it. */
  readonly isTight: boolean;
}

export interface Shown {
  readonly viewport: Viewport;
  /** In pixels; 0: there is no screen yet. */
  readonly width: number;
  readonly aim: Aim | null;
}

/** A window that is brought into sight gets no narrower: an instant has no width. */
const LEAST_NS = 3000;

export class TimeWindow {
  readonly whole: Window;
  readonly first: Window;
  private readonly state: Signal<Shown>;
  /** What is brought into sight as soon as there is a width. */
  private pending: Window | null = null;
  /** What bring() was told last, as a range of the address; null: nothing, and the address has a window
   * for what it will be told first. */
  private about: string | null;

  /** Of WHOLE, FIRST is shown at first, or START if the address says so; it says HASSTEP, too: START
   * is its window for that step. */
  constructor(whole: Window, first: Window, start: Window | null = null, hasStep = false) {
    this.whole = whole;
    this.first = first;
    this.about = start !== null && hasStep ? null : "";
    const aim = { window: start ?? first, isTight: true };
    this.state = signal({ viewport: Viewport.fit(whole.from, whole.to, 1000), width: 0, aim });
  }

  get shown(): ReadonlySignal<Shown> {
    return this.state;
  }

  get viewport(): Viewport {
    return this.shown.peek().viewport;
  }

  get width(): number {
    return this.shown.peek().width;
  }

  /** What is shown; null: what is shown at first. */
  get window(): Window | null {
    const { viewport, width, aim } = this.shown.peek();
    if (aim?.isTight && isSameRange(aim.window, this.first)) return null;
    return width === 0 && aim !== null ? aim.window : viewport.window(width, 0);
  }

  /** The screen is WIDTH pixels wide from now on, and shows the same times. */
  resize(width: number): void {
    const old = this.shown.peek();
    if (width === old.width) return;
    batch(() => {
      this.setWidth(width);
      this.take(old.aim ?? { window: old.viewport.window(old.width, 0), isTight: true });
      const { pending } = this;
      this.pending = null;
      if (pending !== null) this.reveal(pending.from, pending.to);
    });
  }

  protected setWidth(width: number): void {
    this.state.value = { ...this.state.peek(), width };
  }

  /** Show VIEWPORT, or what is nearest to it in the trace. */
  show(viewport: Viewport): void {
    this.put(viewport, null);
  }

  pan(px: number): void {
    this.show(this.viewport.pan(px));
  }

  /** Make a nanosecond FACTOR times as wide; pixel X keeps its time. */
  zoom(x: number, factor: number): void {
    this.show(this.viewport.zoom(x, factor));
  }

  /** Show [from, to) with a margin. */
  fit(from: number, to: number): void {
    this.take({ window: { from, to }, isTight: false });
  }

  /** Show just WINDOW, however wide the screen becomes; without one, what is shown at first. */
  showWindow(window: Window | null): void {
    this.take({ window: window ?? this.first, isTight: true });
  }

  fitAll(): void {
    this.showWindow(this.whole);
  }

  /** Fit what the page is about, WINDOW, whenever it becomes another one; null: it is about nothing. */
  bring(window: Window | null): void {
    const key = formatRange(window);
    const isGiven = this.about === null;
    if (key === this.about || (window === null && isGiven)) return;
    this.about = key;
    if (window !== null && !isGiven) this.fit(window.from, window.to);
  }

  /** Scroll in time so that [from, to) is in sight; zoom only if it is too small to see. */
  reveal(from: number, to: number): void {
    const { viewport, width } = this.shown.peek();
    if (width === 0) {
      this.pending = { from, to };
      return;
    }
    const left = viewport.x(from);
    const right = viewport.x(to);
    const isWide = right - left >= 1;
    const least = Math.max(to - from, 1);
    const span = isWide ? viewport.nsPerPx * width : Math.max(least * 10, LEAST_NS);
    const isNear = isWide || viewport.nsPerPx * width <= span;
    if (left < width && right > 0 && isNear) return;
    const start = from + Math.floor(least / 2) - Math.round(span / 2);
    this.showWindow({ from: start, to: start + Math.round(span) });
  }

  private take(aim: Aim): void {
    const { from, to } = aim.window;
    const margin = aim.isTight ? 0 : Math.max(1, Math.round((to - from) / 20));
    const width = Math.max(1, this.width);
    this.put(Viewport.fit(from - margin, to + margin, width), aim);
  }

  protected put(wanted: Viewport, aim: Aim | null): void {
    const old = this.state.peek();
    const { from, to } = this.whole;
    const viewport = wanted.clamp(from, to, Math.max(1, old.width));
    if (viewport.equals(old.viewport) && aim === old.aim) return;
    this.state.value = { ...old, aim, viewport };
  }
}
