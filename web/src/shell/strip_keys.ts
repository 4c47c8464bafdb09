// SPDX-License-Identifier: Apache-2.0
// The keys of the strip that has the focus.

import type { KeyBinding } from "../model/key_list.ts";

export interface StripCursor {
  /** The bar that the keys are in; -1: none yet. */
  readonly at: number;
  readonly n: number;
  go(to: number, isExtending: boolean): void;
  /** Select what was reached; false: nothing was. */
  take(): boolean;
}

const WAYS: Readonly<Record<string, (at: StripCursor) => number>> = {
  ArrowLeft: ({ at, n }) => Math.max(0, at < 0 ? n - 1 : at - 1),
  ArrowRight: ({ at, n }) => Math.min(n - 1, at + 1),
  Home: () => 0,
  End: ({ n }) => n - 1,
};

export const STRIP_KEYS: readonly KeyBinding<StripCursor>[] = [
  {
    keys: Object.keys(WAYS),
    does: "go to a step; Shift: several of them",
    run: (at, { key, shiftKey }) => at.go(WAYS[key]!(at), shiftKey),
  },
  { keys: ["Enter"], does: "select it, or them", run: (at) => at.take() },
];
