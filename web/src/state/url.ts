// SPDX-License-Identifier: Apache-2.0
// The state of the page in the fragment of its address: #/VIEW?v=1&fp=...
//
// FIELDS says all of a key: how its value is written, and what takes it back. Types, defaults and
// what is reset come from there. Values that are the default are left out, the order is fixed, and
// keys that this version does not know are kept. A fragment never reaches a server.

import type { Options } from "../api/api.ts";
import { type Fold, formatFold, parseFold } from "../model/fold.ts";
import { type Codec, counts, keys, oneOf, range, text } from "./codec.ts";
import { formatMore, moreOptions } from "./more_options.ts";

/** What takes a value back: another run (`run`), another table (`table`), another view (`view`, which
 * is also another table). Without a scope it stays. */
type Scope = "run" | "table" | "view";

interface Field<V, S extends Scope> {
  readonly codec: Codec<V>;
  readonly scopes: readonly S[];
}

function field<V, S extends Scope = never>(codec: Codec<V>, ...scopes: readonly S[]): Field<V, S> {
  return { codec, scopes };
}

const options: Codec<Options> = { none: {}, parse: moreOptions, format: formatMore };
const fold: Codec<Fold> = { none: parseFold(""), parse: parseFold, format: formatFold };

/** The keys, in the order in which they are written. */
const FIELDS = {
  /** Fingerprint of the traces for which ids in the link are valid; "": none. */
  fp: field(text),
  /** Which run, and which other run it is compared with, RUN or RUN:RANK:SPAN; "": the first one,
   * none. */
  run: field(text),
  cmp: field(text),
  /** The selection, as words of the command line. */
  rank: field(text, "run"),
  span: field(text, "run"),
  process: field(text, "run"),
  steps: field(text, "run"),
  /** A range of time; null: all. */
  t: field(range, "run"),
  /** The window of the timeline; null: what is shown at first. */
  w: field(range),
  /** What is selected or open, as KIND:WHICH. */
  sel: field(text, "run", "view"),
  table: field(text, "view"),
  /** Of tables: filter, grouping, and order, as the command has them. */
  q: field(text, "table", "view"),
  where: field(text, "table", "view"),
  by: field(text, "table", "view"),
  sort: field(text, "table", "view"),
  /** Of tables: "on": rows are summed over all ranks and spans. */
  merge: field(oneOf("on"), "view"),
  /** Of tables: more options of the command (more_options.ts). */
  opts: field(options, "view"),
  /** Of memory: PROCESS/DEVICE; "": the one with the highest peak. */
  device: field(text, "view"),
  /** How many rows a chart shows one by one; "": ten. */
  top: field(text, "view"),
  /** Of flame: which stacks, what they are measured by, the order of frames, and what is zoomed to. */
  stack: field(text, "view"),
  metric: field(text, "view"),
  order: field(text, "view"),
  root: field(text, "view"),
  /** How steps are counted: parts that get shared time first; "annotation": without device work;
   * "all": with the tail. */
  priority: field(text, "view"),
  length: field(text, "view"),
  kept: field(oneOf("all"), "view"),
  /** Of a tree: which branches are shut (model/fold.ts). */
  shut: field(fold, "view"),
  /** Of charts: bars or pies; of tables: columns, as the grid writes them. */
  chart: field(oneOf("pies"), "view"),
  cols: field(text, "table", "view"),
  /** Of the timeline: tracks on top, tracks that are hidden (of charts: parts), and folded ones. */
  pin: field(keys),
  hide: field(keys, "view"),
  fold: field(keys),
  /** Of the timeline: Python frames of all threads ("on"), of none ("off"), or of those where they are
   * not deep (""); processes whose sparse queues stand alone; how many lanes tracks show. */
  python: field(oneOf("on", "off")),
  unpack: field(keys),
  depth: field(counts),
  /** Of the timeline: tracks that are shown, by text or /regex/. */
  only: field(text),
  /** Of an area: the only host thread that it is of, as PROCESS/THREAD. */
  thread: field(text),
  /** Of an area: the table that is shown; "": names. */
  area: field(text),
  /** What the ruler counts from; "": the origin. */
  clock: field(oneOf("step", "wall")),
  /** Which arrows; "": of what is selected. What colours mean; "": kinds. */
  flow: field(oneOf("all", "none")),
  color: field(text),
  /** "off": no ghost of the median step; how two runs are locked; notes on times. */
  ghost: field(oneOf("off")),
  lock: field(oneOf("step", "collective", "start", "clock")),
  notes: field(text),
} as const;

type Fields = typeof FIELDS;
type Key = keyof Fields;
type ValueOf<K extends Key> = Fields[K] extends Field<infer V, Scope> ? V : never;
type KeyIn<S extends Scope> = {
  [K in Key]: S extends Fields[K]["scopes"][number] ? K : never;
}[Key];

export type Place = { readonly view: string } & { readonly [K in Key]: ValueOf<K> } & {
  /** Keys that this version does not know, as they came. */
  readonly other: ReadonlyArray<readonly [key: string, value: string]>;
};

const KEYS = Object.keys(FIELDS) as Key[];

function codecOf(key: Key): Codec<unknown> {
  return FIELDS[key].codec as Codec<unknown>;
}

/** What SOME keys are if the address does not have them. */
function defaults<K extends Key>(some: readonly K[]): Pick<Place, K> {
  return Object.fromEntries(some.map((key) => [key, codecOf(key).none])) as Pick<Place, K>;
}

/** The defaults of those KEYS that SCOPE takes back. */
function fresh<S extends Scope>(scope: S): Pick<Place, KeyIn<S>> {
  const scopesOf = (key: Key): readonly Scope[] => FIELDS[key].scopes;
  const isIn = (key: Key): key is KeyIn<S> => scopesOf(key).includes(scope);
  return defaults(KEYS.filter(isIn));
}

/** What is selected of a run: all of it, as of one that one comes to. */
export const WHOLE_RUN = fresh("run");
/** A table as it is at first. */
export const PLAIN_TABLE = fresh("table");
/** What belongs to one view only: empty, as in a view that one comes to. */
export const FRESH = fresh("view");

export const HOME: Place = {
  view: "overview",
  ...defaults(KEYS),
  other: [],
};

const VERSION = "1";

function isKey(key: string): key is Key {
  return Object.hasOwn(FIELDS, key);
}

/** The place that FRAGMENT, with or without its #, names; anything unreadable is left out. */
export function parsePlace(fragment: string): Place {
  const text = fragment.replace(/^#?\/?/, "");
  const cut = text.indexOf("?");
  const view = cut < 0 ? text : text.slice(0, cut);
  const values: Partial<Record<Key, unknown>> = {};
  const other: [string, string][] = [];
  for (const [key, value] of new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1))) {
    if (isKey(key)) values[key] = codecOf(key).parse(value);
    else if (key !== "v") other.push([key, value]);
  }
  return {
    ...HOME,
    ...(values as Partial<Place>),
    view: /^[a-z]+$/.test(view) ? view : HOME.view,
    other,
  };
}

/** What TEXT means as the value of KEY, in the address or of a field of a form. */
export function parseValue<K extends Key>(key: K, text: string): Place[K] {
  return codecOf(key).parse(text) as Place[K];
}

/** What the address has for KEY of PLACE; "": nothing. */
export function formatValue(place: Place, key: Key): string {
  return codecOf(key).format(place[key]);
}

/** The fragment of PLACE, with its #. */
export function formatPlace(place: Place): string {
  const words = new URLSearchParams({ v: VERSION });
  for (const key of KEYS) {
    const value = formatValue(place, key);
    if (value !== "") words.append(key, value);
  }
  for (const [key, value] of place.other) words.append(key, value);
  // Fragments need few of the escapes of forms, and people read them.
  const text = words.toString().replace(/%2C/g, ",").replace(/%3A/g, ":").replace(/%2F/g, "/");
  return `#/${place.view}?${text}`;
}

/** What a run is compared with; "": as the run has it. */
export interface Base {
  readonly run: string;
  readonly rank: string;
  readonly span: string;
}

export function parseBase(text: string): Base {
  const match = /^(.*):([\d,-]*):([\d,-]*)$/s.exec(text);
  return match
    ? { run: match[1]!, rank: match[2]!, span: match[3]! }
    : { run: text, rank: "", span: "" };
}

export function formatBase({ run, rank, span }: Base): string {
  return rank === "" && span === "" ? run : `${run}:${rank}:${span}`;
}
