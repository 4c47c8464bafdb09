// SPDX-License-Identifier: Apache-2.0
// From a question, or the command line `opscope table ...` that somebody has of it, to the place that
// shows its rows. Options that no view has are kept as they are, for the view of all tables.

import type { Question, RunState } from "../api/api.ts";
import { splitWords } from "../api/shell_words.ts";
import { isMoreOption, isSwitch } from "./more_options.ts";
import { isOfRun, isWholeRun, type OpenFiles, partOfOperands, shiftWhere } from "./operands.ts";
import { FRESH, type Place } from "./url.ts";

type Key =
  | "sort"
  | "where"
  | "by"
  | "cols"
  | "rank"
  | "span"
  | "process"
  | "steps"
  | "priority"
  | "length";
const KEYS: Readonly<Record<string, Key>> = {
  sort: "sort",
  where: "where",
  "group-by": "by",
  columns: "cols",
  rank: "rank",
  process: "process",
  span: "span",
  steps: "steps",
  priority: "priority",
  "step-length": "length",
};
const SHORT: Readonly<Record<string, string>> = {
  "-s": "sort",
  "-n": "limit",
  "-c": "columns",
  "-w": "where",
  "-g": "group-by",
  "-m": "merge",
};
/** Words without a value, and what they change. */
const SWITCHES: Readonly<Record<string, Partial<Place>>> = {
  merge: { merge: "on" },
  "all-steps": { kept: "all" },
};
const UNITS: Readonly<Record<string, number>> = { "": 1, ns: 1, us: 1e3, ms: 1e6, s: 1e9 };

function parseTime(text: string): number | null {
  const match = /^(-?\d+(?:\.\d+)?)(ns|us|ms|s)?$/.exec(text);
  if (!match) return null;
  const ns = Number(match[1]) * UNITS[match[2] ?? ""]!;
  return Number.isSafeInteger(ns) ? ns : null;
}

/** Whether COMMAND is about other files than all of one of RUNS. */
export function isOfPart(command: string, runs: readonly RunState[]): boolean {
  const operands = readCommand(command)?.operands ?? [];
  return operands.length > 0 && !isWholeRun(operands, runs);
}

type Draft = { -readonly [K in keyof Omit<Place, "other">]?: Place[K] };

interface Read {
  readonly table: string;
  readonly options: readonly (readonly [name: string, value: string | true])[];
  readonly operands: readonly string[];
}

/** The words of COMMAND; null: it prints no table. */
function readCommand(command: string): Read | null {
  const words = splitWords(command);
  if (words === null || words[0] !== "opscope" || words[1] !== "table") return null;
  const table = words[2];
  if (table === undefined || !/^[a-z_]+$/.test(table)) return null;
  const options: [string, string | true][] = [];
  const operands: string[] = [];
  for (let i = 3; i < words.length; i++) {
    const word: string = words[i]!;
    if (!/^--?[a-z]/.test(word)) {
      operands.push(word);
      continue;
    }
    const cut: number = word.startsWith("--") ? word.indexOf("=") : -1;
    const name = SHORT[word] ?? (cut < 0 ? word : word.slice(0, cut)).slice(2);
    if (SWITCHES[name] !== undefined || isSwitch(name)) {
      options.push([name, true]);
      continue;
    }
    const value = cut < 0 ? words[++i] : word.slice(cut + 1);
    if (value === undefined) return null;
    options.push([name, value]);
  }
  return { table, options, operands };
}

/** A range of which both ends are known is one of all views; else the table has its end. */
function timesOf(more: Record<string, string | true>, start: number): Partial<Place> | null {
  const ends: Record<string, number> = {};
  for (const name of ["from", "to", "at"]) {
    const text = more[name];
    if (text === undefined) continue;
    const ns = typeof text === "string" ? parseTime(text) : null;
    if (ns === null) return null;
    ends[name] = ns + start;
    if (start !== 0) more[name] = `${ns + start}ns`;
  }
  const { from, to } = ends;
  if (from === undefined || to === undefined) return {};
  delete more.from;
  delete more.to;
  return { t: { from, to } };
}

/** What to change to come to the rows of QUESTION, of the run that is shown; null: no place shows just
 * them. */
export function placeOfQuestion({ table, options }: Question): Partial<Place> | null {
  const { run: _, fp: __, ...rest } = options;
  const found = placeOfOptions(table, Object.entries(rest));
  const times = found && timesOf(found.more, 0);
  if (found === null || times === null) return null;
  return { rank: "", span: "", ...found.place, ...times, opts: found.more };
}

interface Found {
  readonly place: Draft;
  /** Options that only the view of all tables has. */
  readonly more: Record<string, string | true>;
}

/** What OPTIONS of TABLE are in an address; null: ISKNOWN has one of them neither. */
function placeOfOptions(
  table: string,
  options: Read["options"],
  isKnown: (name: string, value: string | true) => boolean = () => false,
): Found | null {
  // What a question does not say it does not select.
  const all = { process: "", steps: "", t: null, thread: "" };
  const place: Draft = { ...FRESH, ...all, view: "tables", table };
  const more: Record<string, string | true> = {};
  for (const [name, value] of options) {
    const key = KEYS[name];
    if (value === true && SWITCHES[name] !== undefined) Object.assign(place, SWITCHES[name]);
    else if (key !== undefined && value !== true) place[key] = value;
    else if (isMoreOption(name)) more[name] = value;
    else if (!isKnown(name, value)) return null;
  }
  return { place, more };
}

/** What to change to come to the rows that COMMAND prints; null: no place shows just them. FILES
 * are what is open: without them its file is taken for all that is shown. */
export function placeOfCommand(command: string, files?: OpenFiles): Partial<Place> | null {
  const read = readCommand(command);
  if (read === null) return null;
  // Its file may be that of one rank and span.
  const part = files && partOfOperands(read.operands, files);
  if (part === null) return null;
  const isKnown = (name: string, value: string | true) =>
    files !== undefined && isOfRun(files, name, value);
  const found = placeOfOptions(read.table, read.options, isKnown);
  if (found === null) return null;
  const { more } = found;
  const place = { ...part?.place, ...found.place };
  const start = part?.start ?? 0;
  const times = timesOf(more, start);
  if (times === null) return null;
  if (files !== undefined && place.where !== undefined)
    place.where = shiftWhere(place.where, files.momentsOf(read.table), start);
  return { ...place, ...times, opts: more };
}
