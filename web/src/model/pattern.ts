// SPDX-License-Identifier: Apache-2.0

/** Whether a name has TEXT, in any case, or matches /TEXT/; an expression that is none is text. */
export function matcher(text: string): (name: string) => boolean {
  const pattern = /^\/(.*)\/$/.exec(text);
  if (pattern) {
    try {
      const expression = new RegExp(pattern[1] ?? "");
      return (name) => expression.test(name);
    } catch {
      // It is being typed.
    }
  }
  const lower = text.toLowerCase();
  return (name) => name.toLowerCase().includes(lower);
}
