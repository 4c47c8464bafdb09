// SPDX-License-Identifier: Apache-2.0
// What the page cannot do without, and what it says of a browser that lacks it.

const NEEDED = ["ResizeObserver", "EventSource", "AbortController", "BigInt64Array", "ImageData"];

/** What of that WINDOW lacks. */
export function missingFeatures(window: object): string[] {
  return NEEDED.filter((name) => !(name in window));
}

/** Say in ROOT that the browser lacks MISSING. */
export function showMissing(root: HTMLElement, missing: readonly string[]): void {
  const add = (tag: string, text: string) => {
    root.append(Object.assign(root.ownerDocument.createElement(tag), { textContent: text }));
  };
  add("h1", `This browser lacks ${missing.join(", ")}.`);
  add("p", "The page needs Firefox 92, Chrome 92, Safari 15.4, or a later one.");
  add("p", "Without it, the same numbers are there as text: opscope table --list");
}
