// SPDX-License-Identifier: Apache-2.0
// Two timelines of which each shows the times that the other one does, so many ns apart: one window,
// that of the run, as both show it.

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Window } from "../api/api.ts";
import type { Viewport } from "../model/viewport.ts";
import { type Shown, TimeWindow } from "./time_window.ts";

export type Side = "run" | "base";

export class Lock {
  /** Times of the base are so many ns later than those of the run. */
  readonly gap: Signal<number> = signal(0);
  /** The window of the run; null: it has none yet. */
  readonly leader: Signal<TimeWindow | null> = signal<TimeWindow | null>(null);
}

/** The window of the base: that of the run by other times. */
export class LedWindow extends TimeWindow {
  private readonly lock: Lock;
  private readonly led: ReadonlySignal<Shown>;

  constructor(whole: Window, first: Window, lock: Lock) {
    super(whole, first);
    this.lock = lock;
    const own = super.shown;
    this.led = computed(() => {
      const { viewport, width, aim } = own.value;
      const shown = lock.leader.value?.shown.value;
      if (shown === undefined || shown.width === 0) return { viewport, width, aim };
      const later = shown.viewport.earlier(-lock.gap.value);
      return { viewport: later.clamp(whole.from, whole.to, Math.max(1, width)), width, aim: null };
    });
  }

  override get shown(): ReadonlySignal<Shown> {
    return this.led;
  }

  override resize(width: number): void {
    this.setWidth(width);
  }

  override show(viewport: Viewport): void {
    this.lock.leader.peek()?.show(viewport.earlier(this.lock.gap.peek()));
  }

  protected override put(viewport: Viewport): void {
    this.show(viewport);
  }
}
