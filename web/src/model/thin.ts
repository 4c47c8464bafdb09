// SPDX-License-Identifier: Apache-2.0
// A curve with more points than pixels: of each pixel its first, least, greatest and last point
// stay, so that no peak is lost.

export interface Curve {
  readonly x: Float64Array;
  readonly y: Float64Array;
}

/** CURVE, whose x grow, with at most four points for each of PIXELS equal parts of its range. */
export function thin(curve: Curve, pixels: number): Curve {
  const { x, y } = curve;
  const n = x.length;
  if (n <= 4 * pixels || pixels < 1) return curve;
  const from = x[0]!;
  const width = (x[n - 1]! - from) / pixels || 1;
  const kept: number[] = [];
  let first = 0;
  while (first < n) {
    const part = Math.floor((x[first]! - from) / width);
    let end = first;
    let least = first;
    let most = first;
    while (end < n && (Math.floor((x[end]! - from) / width) === part || end === first)) {
      if (y[end]! < y[least]!) least = end;
      if (y[end]! > y[most]!) most = end;
      end++;
    }
    const points = [first, Math.min(least, most), Math.max(least, most), end - 1];
    for (const i of points) if (kept[kept.length - 1] !== i) kept.push(i);
    first = end;
  }
  return {
    x: Float64Array.from(kept, (i) => x[i]!),
    y: Float64Array.from(kept, (i) => y[i]!),
  };
}
