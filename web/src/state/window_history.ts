// SPDX-License-Identifier: Apache-2.0
// The windows that were looked at, as the address has them, for the way back and forward: times stay
// what they are when the screen gets another width.

const MOST = 100;

export class WindowHistory {
  private readonly seen: string[] = [];
  private at = -1;

  /** WINDOW rests on the screen. */
  rest(window: string): void {
    if (window === this.seen[this.at]) return;
    this.seen.length = this.at + 1;
    this.seen.push(window);
    if (this.seen.length > MOST) this.seen.shift();
    this.at = this.seen.length - 1;
  }

  /** The window before (-1) or after (1) the one that is shown; null: there is none. */
  go(delta: 1 | -1): string | null {
    const found = this.seen[this.at + delta] ?? null;
    if (found !== null) this.at += delta;
    return found;
  }

  /** What was gone to is shown as WINDOW, the nearest that the screen can show. */
  arrive(window: string): void {
    if (this.at >= 0) this.seen[this.at] = window;
  }
}
