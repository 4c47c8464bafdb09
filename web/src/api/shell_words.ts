// SPDX-License-Identifier: Apache-2.0
// Words of command lines, as src/base/shell.c quotes them.

import type { Options } from "./api.ts";

export function shellWord(text: string): string {
  if (/^[\w\-./:@%+=,]+$/.test(text)) return text;
  return `'${text.replace(/'/g, "'\\''")}'`;
}

/** OPTIONS, each behind a blank. */
export function optionWords(options: Options): string {
  const words = Object.entries(options).map(([option, value]) => {
    if (value === true) return ` --${option}`;
    return ` --${option}${value.startsWith("--") ? "=" : " "}${shellWord(value)}`;
  });
  return words.join("");
}

/** COMMAND, which is `opscope table NAME ...`, with OPTIONS. */
export function addOptions(command: string, name: string, options: Options): string {
  const front = `opscope table ${name}`;
  return front + optionWords(options) + command.slice(front.length);
}
