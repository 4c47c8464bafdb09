// SPDX-License-Identifier: Apache-2.0
// The keys of parts that take them while they have the focus, for `?`. The parts handle them
// themselves: grid/grid.tsx, flame/flame_chart.tsx, shell/strip_bars.tsx, chart/heat_map.tsx.

interface PartKeys {
  readonly title: string;
  readonly keys: readonly { readonly keys: string; readonly does: string }[];
}

export const PART_KEYS: readonly PartKeys[] = [
  {
    title: "In tables",
    keys: [
      { keys: "↑ ↓ PageUp PageDown Home End", does: "go to a row; Shift: choose up to it" },
      { keys: "← →", does: "go to a column; in a tree: shut or open the row" },
      { keys: "Space", does: "choose the row, for copy and save" },
      { keys: "Enter", does: "open the row" },
      { keys: "s", does: "sort by the column" },
      { keys: "?", does: "explain the column" },
    ],
  },
  {
    title: "In flame graphs",
    keys: [
      { keys: "↑ ↓ ← → Home End", does: "go to a frame" },
      { keys: "Enter", does: "zoom to the frame" },
      { keys: "Backspace", does: "zoom out" },
    ],
  },
  {
    title: "In the steps, and in the map of ranks",
    keys: [
      { keys: "← → ↑ ↓ Home End", does: "go to a step or a rank; Shift: several steps" },
      { keys: "Enter", does: "select it" },
    ],
  },
];
