// SPDX-License-Identifier: Apache-2.0
// Options of a question that no other key of the address has. `opts` has them as NAME:VALUE, or the
// name of a switch, with commas between them.

import { type Options, shellWord } from "../api/question.ts";

/** Those that say which rows there are; others say how a text looks, or how a trace is read. */
const VALUES: readonly string[] = [
  ...["limit", "name", "device", "process", "thread", "event", "at", "from", "to", "compat"],
];
const SWITCHES: readonly string[] = ["no-python", "top-level"];

export function isMoreOption(name: string): boolean {
  return VALUES.includes(name) || SWITCHES.includes(name);
}

/** The options in OPTS of an address; what is none of them is left out. */
export function moreOptions(opts: string): Options {
  const options: Record<string, string | true> = {};
  for (const word of opts.split(",")) {
    const [, name, value] = /^([a-z-]+)(?::(.*))?$/s.exec(word) ?? [];
    if (name === undefined || !(value === undefined ? SWITCHES : VALUES).includes(name)) continue;
    try {
      options[name] = value === undefined || decodeURIComponent(value);
    } catch {
      // No part of an address that the page wrote.
    }
  }
  return options;
}

export function formatMore(options: Options): string {
  return Object.entries(options)
    .map(([name, value]) => (value === true ? name : `${name}:${encodeURIComponent(value)}`))
    .join(",");
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
