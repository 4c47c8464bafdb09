// SPDX-License-Identifier: Apache-2.0
// Rings that are cut into parts.

export interface Arc {
  /** The path of the part, of a ring of radius 1 around (0, 0). */
  readonly path: string;
  /** Where a label may stand. */
  readonly x: number;
  readonly y: number;
  /** The part of all. */
  readonly share: number;
}

const INNER = 0.58;

function point(share: number, radius: number): string {
  const angle = 2 * Math.PI * share;
  return `${(radius * Math.sin(angle)).toFixed(5)} ${(-radius * Math.cos(angle)).toFixed(5)}`;
}

/** The parts of VALUES, none of them negative, clockwise from the top. */
export function arcsOf(values: readonly number[]): Arc[] {
  const total = values.reduce((sum, v) => sum + v, 0);
  let from = 0;
  return values.map((value) => {
    const share = total > 0 ? value / total : 0;
    // A whole ring would begin where it ends.
    const to = from + Math.min(share, 0.99999);
    const large = share > 0.5 ? 1 : 0;
    const path =
      `M${point(from, 1)}A1 1 0 ${large} 1 ${point(to, 1)}` +
      `L${point(to, INNER)}A${INNER} ${INNER} 0 ${large} 0 ${point(from, INNER)}Z`;
    const middle = 2 * Math.PI * (from + share / 2);
    const at = (1 + INNER) / 2;
    from += share;
    return { path, x: at * Math.sin(middle), y: -at * Math.cos(middle), share };
  });
}
