// SPDX-License-Identifier: Apache-2.0
// Two timelines of which each shows the times that the other one does, so many ns apart.

import { earlier } from "./ghost.ts";
import type { Screen } from "./screen.ts";
import type { Viewport } from "./viewport.ts";

export type Side = "run" | "base";

export class Lock {
  private readonly screens = new Map<Side, Screen>();
  private gap = 0;
  private isMoving = false;

  /** Times of the base are GAP ns later than those of the run. */
  setGap(gap: number): void {
    this.gap = gap;
    const run = this.screens.get("run");
    if (run) this.moved("run", run.viewport);
  }

  /** The screen that says which times both show. */
  get leader(): Screen | undefined {
    return this.screens.get("run");
  }

  /** SCREEN is that of SIDE from now on; the result takes it away. */
  join(side: Side, screen: Screen): () => void {
    this.screens.set(side, screen);
    screen.isLed = side === "base";
    const run = this.screens.get("run");
    if (run && run.pixels > 0) this.moved("run", run.viewport);
    return () => {
      if (this.screens.get(side) === screen) this.screens.delete(side);
    };
  }

  /** SIDE shows VIEWPORT: the other one follows. */
  moved(side: Side, viewport: Viewport): void {
    const other = this.screens.get(side === "run" ? "base" : "run");
    if (this.isMoving || other === undefined || other.pixels === 0) return;
    this.isMoving = true; // what follows does not lead
    other.show(earlier(viewport, side === "run" ? -this.gap : this.gap));
    this.isMoving = false;
  }
}
