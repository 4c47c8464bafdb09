// SPDX-License-Identifier: Apache-2.0
// Options of a command that no other key of the address has: `opts` has them as words.

import type { Options } from "../api/api.ts";
import { optionsOf, optionWords, shellWord } from "../api/shell_words.ts";

/** Those that say which rows there are; others say how a text looks, or how a trace is read. */
const VALUES: readonly string[] = [
  ...["limit", "name", "device", "process", "thread", "event", "at", "from", "to", "compat"],
];
const SWITCHES: readonly string[] = ["no-python", "top-level"];

export function isMoreOption(name: string): boolean {
  return VALUES.includes(name) || SWITCHES.includes(name);
}

export function isSwitch(name: string): boolean {
  return SWITCHES.includes(name);
}

/** The options in OPTS of an address; what is none of them is left out. */
export function moreOptions(opts: string): Options {
  return Object.fromEntries(
    Object.entries(optionsOf(opts)).filter(
      ([name, value]) => isMoreOption(name) && (value === true) === isSwitch(name),
    ),
  );
}

export function formatMore(options: Options): string {
  return optionWords(options).trim();
}

/** OPTS without option NAME. */
export function withoutOption(opts: Options, name: string): Options {
  const { [name]: _, ...rest } = opts;
  return rest;
}

/** Each option as a person reads it. */
export function namesOf(opts: Options): { readonly name: string; readonly text: string }[] {
  return Object.entries(opts).map(([name, value]) => ({
    name,
    text: value === true ? `--${name}` : `--${name} ${shellWord(value)}`,
  }));
}
