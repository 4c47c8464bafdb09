// SPDX-License-Identifier: Apache-2.0
// The box of the minimap: what a pointer takes hold of, and where the box goes with it.

/** Pixels around an edge that are the edge. */
const EDGE = 5;

export type Grip = "left" | "right" | "move" | "jump";

/** What is at pixel X of a box from LEFT to RIGHT. */
export function gripAt(x: number, left: number, right: number): Grip {
  const isWide = right - left > 4 * EDGE;
  if (isWide && Math.abs(x - left) <= EDGE) return "left";
  if (isWide && Math.abs(x - right) <= EDGE) return "right";
  return x >= left - EDGE && x <= right + EDGE ? "move" : "jump";
}

/** BOX after GRIP was dragged by BY ns; "jump": with its middle at BY ns. */
export function dragBox(
  grip: Grip,
  box: { from: number; to: number },
  by: number,
): { from: number; to: number } {
  const step = Math.round(by);
  if (grip === "left") return { from: Math.min(box.from + step, box.to - 1), to: box.to };
  if (grip === "right") return { from: box.from, to: Math.max(box.to + step, box.from + 1) };
  if (grip === "move") return { from: box.from + step, to: box.to + step };
  const half = Math.floor((box.to - box.from) / 2);
  return { from: step - half, to: step - half + box.to - box.from };
}
