// SPDX-License-Identifier: Apache-2.0
// Keys of a part that has the focus: one list, which the part asks what a key does and `?` shows.

export interface Press {
  readonly key: string;
  readonly shiftKey: boolean;
}

/** Keys that do alike. ON is what the part lends them. */
export interface PartKey<On> {
  /** As the browser calls them. */
  readonly keys: readonly string[];
  readonly does: string;
  /** False: there was nothing to do, and others may take the key. */
  readonly run: (on: On, press: Press) => unknown;
}

const SHOWN: Readonly<Record<string, string>> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  " ": "Space",
};

/** Whether TARGET takes letters itself. */
export function isInField(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]") !== null
  );
}

/** KEYS as a person reads them. */
export function shownKeys(keys: readonly string[]): string {
  return keys.map((key) => SHOWN[key] ?? key).join(" ");
}

/** Do what PRESS does by LIST; whether it did something. */
export function runKey<On>(list: readonly PartKey<On>[], on: On, press: Press): boolean {
  const found = list.find(({ keys }) => keys.includes(press.key));
  return found !== undefined && found.run(on, press) !== false;
}

/** The same for EVENT, which is then over. */
export function takeKey<On>(list: readonly PartKey<On>[], on: On, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !runKey(list, on, event)) return;
  event.preventDefault();
  event.stopPropagation();
}
