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

/** The words of TEXT as a shell splits them; null: a quotation mark is open. */
export function splitWords(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (c === "'" || c === '"') {
      word ??= "";
      for (i++; text[i] !== c; i++) {
        if (i >= text.length) return null;
        if (c === '"' && text[i] === "\\" && /["\\$`]/.test(text[i + 1] ?? "")) i++;
        word += text[i];
      }
    } else if (c === " ") {
      if (word !== null) words.push(word);
      word = null;
    } else {
      if (c === "\\") i++;
      word = (word ?? "") + (text[i] ?? "");
    }
  }
  if (word !== null) words.push(word);
  return words;
}

/** The options in TEXT, whose words are options and their values; undefined TEXT: none. */
export function optionsOf(text: string | null | undefined): Options {
  const options: Record<string, string | true> = {};
  let name = "";
  for (const word of splitWords(text ?? "") ?? []) {
    const match = /^--([a-z-]+)(?:=(.*))?$/s.exec(word);
    if (match) {
      name = match[1]!;
      options[name] = match[2] ?? true;
    } else if (name !== "") options[name] = word;
  }
  return options;
}
