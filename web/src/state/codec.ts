// SPDX-License-Identifier: Apache-2.0
// How values of the address are written: text, words of a list, a range of time, keys.

import type { Window } from "../api/api.ts";

export interface Codec<V> {
  /** What is meant where the address has no such key; it is not written. */
  readonly none: V;
  parse(text: string): V;
  /** "": V is `none`. */
  format(value: V): string;
}

export const text: Codec<string> = { none: "", parse: (t) => t, format: (value) => value };

/** One of WORDS; "" stands for what is usual, and any other text is that, too. */
export function oneOf<W extends string>(...words: readonly W[]): Codec<W | ""> {
  return {
    none: "",
    parse: (t) => words.find((word) => word === t) ?? "",
    format: (value) => value,
  };
}

/** A range of time in ns from the origin, START+DUR; null: none. */
export const range: Codec<Window | null> = { none: null, parse: parseRange, format: formatRange };

/** Keys with commas between. */
export const keys: Codec<readonly string[]> = {
  none: [],
  parse: (t) => t.split(",").filter((key) => key !== ""),
  format: (value) => value.join(","),
};

/** Numbers from 1 to 999 by key, as KEY:N with commas between. */
export const counts: Codec<ReadonlyMap<string, number>> = {
  none: new Map(),
  parse: (t) =>
    new Map(
      t.split(",").flatMap((word) => {
        const [, key, n] = /^(.+):(\d{1,3})$/.exec(word) ?? [];
        return key === undefined || Number(n) < 1 ? [] : [[key, Number(n)] as const];
      }),
    ),
  format: (value) => [...value].map(([key, n]) => `${key}:${n}`).join(","),
};

/** COUNTS where KEY has N; null: it has none. */
export function withCount(
  counts: ReadonlyMap<string, number>,
  key: string,
  n: number | null,
): ReadonlyMap<string, number> {
  const rest = [...counts].filter(([other]) => other !== key);
  return new Map(n === null ? rest : [...rest, [key, n]]);
}

/** START+DUR as ns; null: TEXT is none. */
export function parseRange(text: string): Window | null {
  const match = /^(-?\d+)[+ ](\d+)$/.exec(text);
  if (!match) return null;
  const from = Number(match[1]);
  const to = from + Number(match[2]);
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && to > from ? { from, to } : null;
}

export function formatRange(range: Window | null): string {
  return range === null ? "" : `${range.from}+${range.to - range.from}`;
}

export function isSameRange(a: Window | null, b: Window | null): boolean {
  return a?.from === b?.from && a?.to === b?.to;
}

/** KEYS with KEY, or without it if they have it. */
export function toggled(keys: readonly string[], key: string): readonly string[] {
  return keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key];
}
