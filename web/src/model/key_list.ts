// SPDX-License-Identifier: Apache-2.0
// Keys, of the whole page and of parts that have the focus: lists of one shape, which those who take
// keys ask what a key does, `?` shows, and a test compares with docs/viewer.md.

export interface Press {
  readonly key: string;
  readonly shiftKey: boolean;
  /** The place of the key on the keyboard. */
  readonly code?: string;
}

/** Keys that do alike. ON is what the part lends them. */
export interface KeyBinding<On> {
  /** As the browser calls them, with "Shift+" or "Control+" before them where that is meant; "g v": one
   * after the other. */
  readonly keys: readonly string[];
  /** Instead of by their letter they are found by their place on the keyboard. */
  readonly code?: string;
  readonly does: string;
  /** False: there was nothing to do, and others may take the key. */
  readonly run: (on: On, press: Press) => unknown;
}

/** What is shown of a binding. */
export type ListedKeys = Pick<KeyBinding<never>, "keys" | "does">;

const SHOWN: Readonly<Record<string, string>> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  " ": "Space",
  Escape: "Esc",
  "Control+k": "Ctrl+K",
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

/** What PRESS is called in lists, the more special word first. A capital is Shift and a letter. */
function wordsOf({ key, shiftKey }: Press): string[] {
  const isCapital = key.length === 1 && key !== key.toLowerCase();
  return shiftKey || isCapital ? [`Shift+${key}`, key] : [key];
}

/** The binding of LIST for PRESS: by its place on the keyboard, or else by its letter. */
export function bindingOf<On>(
  list: readonly KeyBinding<On>[],
  press: Press,
): KeyBinding<On> | undefined {
  const { code } = press;
  const placed = code && list.find((one) => one.code === code);
  if (placed) return placed;
  for (const word of wordsOf(press)) {
    const found = list.find((one) => one.code === undefined && one.keys.includes(word));
    if (found) return found;
  }
  return undefined;
}

/** Do what PRESS does by LIST; whether it did something. */
export function runKey<On>(list: readonly KeyBinding<On>[], on: On, press: Press): boolean {
  const found = bindingOf(list, press);
  return found !== undefined && found.run(on, press) !== false;
}

/** The same for EVENT, which is then over. */
export function takeKey<On>(list: readonly KeyBinding<On>[], on: On, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !runKey(list, on, event)) return;
  event.preventDefault();
  event.stopPropagation();
}
