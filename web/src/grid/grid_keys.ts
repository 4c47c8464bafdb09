// SPDX-License-Identifier: Apache-2.0
// The keys of a table that has the focus.

import type { KeyBinding } from "../model/key_list.ts";

/** The cell that the keys are in, and what they do to it. */
export interface Cursor {
  readonly row: number;
  readonly column: number;
  readonly rows: number;
  readonly columns: number;
  /** How many rows are in sight. */
  readonly jump: number;
  goRow(to: number, isExtending: boolean): void;
  goColumn(to: number): void;
  /** Open (true) or shut the branch of the row; false: it has none, or is so. */
  fold(isOpening: boolean): boolean;
  open(): void;
  toggle(): void;
  /** Sort by the column, or explain it; false: there is none. */
  sort(): boolean;
  explain(): boolean;
}

const WAYS: Readonly<Record<string, (at: Cursor) => number>> = {
  ArrowUp: (at) => at.row - 1,
  ArrowDown: (at) => at.row + 1,
  PageUp: (at) => at.row - at.jump,
  PageDown: (at) => at.row + at.jump,
  Home: () => 0,
  End: (at) => at.rows - 1,
};

export const GRID_KEYS: readonly KeyBinding<Cursor>[] = [
  {
    keys: Object.keys(WAYS),
    does: "go to a row; Shift: choose up to it",
    run: (at, { key, shiftKey }) => at.goRow(WAYS[key]!(at), shiftKey),
  },
  {
    keys: ["ArrowLeft", "ArrowRight"],
    does: "go to a column; in a tree: shut or open the row",
    run: (at, { key }) => {
      const isRight = key === "ArrowRight";
      if (!at.fold(isRight)) at.goColumn(at.column + (isRight ? 1 : -1));
    },
  },
  { keys: [" "], does: "choose the row, for copy and save", run: (at) => at.toggle() },
  { keys: ["Enter"], does: "open the row", run: (at) => at.open() },
  { keys: ["s"], does: "sort by the column", run: (at) => at.sort() },
  { keys: ["?"], does: "explain the column", run: (at) => at.explain() },
];
