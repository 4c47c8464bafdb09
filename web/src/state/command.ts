// SPDX-License-Identifier: Apache-2.0
// From a command line `opscope table ...` to the place that shows its rows.

import { splitWords } from "../api/shell_words.ts";
import { FRESH, formatRange, type Place } from "./url.ts";

type Key = "sort" | "where" | "by" | "cols" | "rank" | "span" | "steps" | "priority" | "length";
const KEYS: Readonly<Record<string, Key>> = {
  "--sort": "sort",
  "--where": "where",
  "--group-by": "by",
  "--columns": "cols",
  "--rank": "rank",
  "--span": "span",
  "--steps": "steps",
  "--priority": "priority",
  "--step-length": "length",
};
/** Words without a value, and what they change. */
const SWITCHES: Readonly<Record<string, Partial<Place>>> = {
  "--merge": { merge: "on" },
  "--all-steps": { kept: "all" },
};
const UNITS: Readonly<Record<string, number>> = { "": 1, ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

function parseTime(text: string): number | null {
  const match = /^(-?\d+(?:\.\d+)?)(ns|us|ms|s)?$/.exec(text);
  if (!match) return null;
  const ns = Number(match[1]) * UNITS[match[2] ?? ""]!;
  return Number.isSafeInteger(ns) ? ns : null;
}

/** What to change to come to the rows that COMMAND prints; null: no place shows just them. */
export function placeOfCommand(command: string): Partial<Place> | null {
  const words = splitWords(command);
  if (words === null || words[0] !== "opscope" || words[1] !== "table") return null;
  const table = words[2];
  if (table === undefined || !/^[a-z_]+$/.test(table)) return null;
  // What a command does not say it does not select. Its file may be that of one rank and span.
  const all = { steps: "", t: "", thread: "" };
  const place: Record<string, string> = { ...FRESH, ...all, view: "tables", table };
  const times: Record<string, number> = {};
  for (let i = 3; i < words.length; i++) {
    const word = words[i]!;
    if (!word.startsWith("--")) continue;
    const cut = word.indexOf("=");
    const name = cut < 0 ? word : word.slice(0, cut);
    const change = SWITCHES[name];
    if (change !== undefined) {
      Object.assign(place, change);
      continue;
    }
    const value = cut < 0 ? words[++i] : word.slice(cut + 1);
    if (value === undefined) return null;
    const key = KEYS[name];
    if (key !== undefined) place[key] = value;
    else if (name === "--from" || name === "--to") {
      const ns = parseTime(value);
      if (ns === null) return null;
      times[name] = ns;
    } else return null;
  }
  const from = times["--from"];
  const to = times["--to"];
  if (from !== undefined && to !== undefined) place.t = formatRange({ from, to });
  else if (from !== undefined || to !== undefined) return null;
  return place;
}
