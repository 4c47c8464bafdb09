// SPDX-License-Identifier: Apache-2.0
// The windows that were looked at, for the way back and forward.

import type { Viewport } from "./viewport.ts";

const MOST = 100;

export class WindowHistory {
  private readonly seen: Viewport[] = [];
  private at = -1;

  /** SHOWN rests on the screen. */
  rest(shown: Viewport): void {
    if (this.at >= 0 && shown.equals(this.seen[this.at]!)) return;
    this.seen.length = this.at + 1;
    this.seen.push(shown);
    if (this.seen.length > MOST) this.seen.shift();
    this.at = this.seen.length - 1;
  }

  /** The window before (-1) or after (1) the one that is shown; null: there is none. */
  go(delta: 1 | -1): Viewport | null {
    const found = this.seen[this.at + delta] ?? null;
    if (found !== null) this.at += delta;
    return found;
  }
}
