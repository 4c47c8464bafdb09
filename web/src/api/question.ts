// SPDX-License-Identifier: Apache-2.0
// A question about a table, as one value: what the server calls evidence, and what the page asks. The
// address is one spelling of it (state/question_place.ts), the command line another; nothing is read
// from a command line.

/** Options of `opscope table` by their long names; true: a switch. Where numbers of events or tracks
 * go with the answer, `fp` is the fingerprint of the files that they are of. */
export type Options = Readonly<Record<string, string | true>>;

/** Which rows of a table. */
export interface Question {
  readonly table: string;
  readonly options: Options;
}

/** TEXT as a word of a command line, as src/base/shell.c quotes it. */
export function shellWord(text: string): string {
  if (/^[\w\-./:@%+=,]+$/.test(text)) return text;
  return `'${text.replace(/'/g, "'\\''")}'`;
}

/** OPTIONS on a command line, each behind a blank. */
export function optionWords(options: Options): string {
  const words = Object.entries(options).map(([option, value]) => {
    if (value === true) return ` --${option}`;
    return ` --${option}${value.startsWith("--") ? "=" : " "}${shellWord(value)}`;
  });
  return words.join("");
}
