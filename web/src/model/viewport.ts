// SPDX-License-Identifier: Apache-2.0
// Which times are where on the screen.
//
// Times are whole ns from the origin. The left edge is a whole number and a fraction, so that
// differences are exact before they are scaled: 64 pixels a nanosecond stay steady days after
// the origin.

/** 1 ns is at most this many pixels. */
const MOST_PX_PER_NS = 64;

export class Viewport {
  /** The left edge is at t0 + frac ns. */
  readonly t0: number;
  readonly frac: number;
  readonly nsPerPx: number;

  constructor(t0: number, frac: number, nsPerPx: number) {
    const whole = Math.floor(frac);
    this.t0 = t0 + whole;
    this.frac = frac - whole;
    this.nsPerPx = Math.max(1 / MOST_PX_PER_NS, nsPerPx);
  }

  /** The viewport that shows [from, to) in WIDTH pixels. */
  static fit(from: number, to: number, width: number): Viewport {
    return new Viewport(from, 0, Math.max(1, to - from) / Math.max(1, width));
  }

  /** The pixel, with fraction, of time T. */
  x(t: number): number {
    return (t - this.t0 - this.frac) / this.nsPerPx;
  }

  /** The time of pixel X, rounded down. */
  time(x: number): number {
    return this.t0 + Math.floor(this.frac + x * this.nsPerPx);
  }

  /** The same as it is SHIFT ns earlier. */
  earlier(shift: number): Viewport {
    return new Viewport(this.t0 - shift, this.frac, this.nsPerPx);
  }

  pan(px: number): Viewport {
    return new Viewport(this.t0, this.frac + px * this.nsPerPx, this.nsPerPx);
  }

  /** Make a nanosecond FACTOR times as wide; pixel X keeps its time. */
  zoom(x: number, factor: number): Viewport {
    const nsPerPx = Math.max(1 / MOST_PX_PER_NS, this.nsPerPx / factor);
    return new Viewport(this.t0, this.frac + x * (this.nsPerPx - nsPerPx), nsPerPx);
  }

  /** Zoom out to at most twice [from, to), and keep some of it in WIDTH pixels. */
  clamp(from: number, to: number, width: number): Viewport {
    const whole = Math.max(1, to - from);
    const nsPerPx = Math.min(this.nsPerPx, (2 * whole) / Math.max(1, width));
    const margin = (nsPerPx * width) / 2;
    const t0 = Math.min(Math.max(this.t0, Math.ceil(from - margin)), Math.floor(to - margin));
    const isMoved = t0 !== this.t0;
    return new Viewport(t0, isMoved ? 0 : this.frac, nsPerPx);
  }

  /** The whole times around WIDTH pixels and MARGIN more on each side. */
  window(width: number, margin: number): { from: number; to: number } {
    const end = this.frac + (width + margin) * this.nsPerPx;
    // A window that was fitted ends at a whole time but for the last digits.
    const near = Math.round(end);
    const isWhole = Math.abs(end - near) <= 1e-12 * Math.abs(end);
    return { from: this.time(-margin), to: this.t0 + (isWhole ? near : Math.ceil(end)) };
  }

  equals(other: Viewport): boolean {
    return this.t0 === other.t0 && this.frac === other.frac && this.nsPerPx === other.nsPerPx;
  }
}
