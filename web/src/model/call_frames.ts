// SPDX-License-Identifier: Apache-2.0
// Call stacks as a column has them: frames with `;` between them, innermost first, most of them
// `file(line): function`.

export interface CallFrame {
  readonly text: string;
  readonly function: string;
  /** file:line as editors take it; "": the frame has no place in a file. */
  readonly place: string;
}

export function framesOf(stack: string): CallFrame[] {
  return stack
    .split(";")
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .map((text) => {
      const match = /^(.+)\((\d+)\): (.+)$/.exec(text);
      return match
        ? { text, function: match[3]!, place: `${match[1]}:${match[2]}` }
        : { text, function: text, place: "" };
    });
}
