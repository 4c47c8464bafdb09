// SPDX-License-Identifier: Apache-2.0
// The state of the page in the fragment of its address: #/VIEW?v=1&fp=...
//
// Values that are the default are left out, the order is fixed, and keys that this version does
// not know are kept. A fragment never reaches a server.

export interface Place {
  readonly view: string;
  /** Fingerprint of the traces for which ids in the link are valid; "": none. */
  readonly fp: string;
  /** Which run, and which other run it is compared with, RUN or RUN:RANK:SPAN; "": the first one,
   * none. */
  readonly run: string;
  readonly cmp: string;
  /** The selection, as words of the command line. */
  readonly rank: string;
  readonly span: string;
  readonly process: string;
  readonly steps: string;
  /** A range of time in ns from the origin, START+DUR; "": all. */
  readonly t: string;
  /** The window of the timeline, START+DUR. */
  readonly w: string;
  readonly sel: string;
  /** Of tables: filter, grouping, and order, as the command has them. */
  readonly q: string;
  readonly where: string;
  readonly by: string;
  readonly sort: string;
  /** Of tables: "on": rows are summed over all ranks and spans. */
  readonly merge: string;
  /** Of tables: more options of the command (more_options.ts). */
  readonly opts: string;
  readonly table: string;
  /** Of memory: PROCESS/DEVICE; "": the one with the highest peak. */
  readonly device: string;
  /** How many rows a chart shows one by one; "": ten. */
  readonly top: string;
  /** Of flame: which stacks, what they are measured by, the order of frames, and what is zoomed to. */
  readonly stack: string;
  readonly metric: string;
  readonly order: string;
  readonly root: string;
  /** How steps are counted: parts that get shared time first; "annotation": without device work;
   * "all": with the tail. */
  readonly priority: string;
  readonly length: string;
  readonly kept: string;
  /** Of a tree: which branches are shut (model/fold.ts). */
  readonly shut: string;
  /** Of charts: bars or pies; of tables: columns, as the grid writes them. */
  readonly chart: string;
  readonly cols: string;
  readonly pin: string;
  readonly hide: string;
  readonly fold: string;
  /** Of the timeline: Python frames of all threads ("on"), of none ("off"), or of those where they are
   * not deep (""); processes whose sparse queues stand alone; how many lanes tracks show, as KEY:N. */
  readonly python: string;
  readonly unpack: string;
  readonly depth: string;
  /** Of the timeline: tracks that are shown, by text or /regex/. */
  readonly only: string;
  /** Of an area: the only host thread that it is of, as PROCESS/THREAD. */
  readonly thread: string;
  /** Of an area: the table that is shown; "": names. */
  readonly area: string;
  /** What the ruler counts from: "": the origin, step or wall. */
  readonly clock: string;
  /** Which arrows: "": of what is selected; all or none. What colours mean; "": kinds. */
  readonly flow: string;
  readonly color: string;
  /** "off": no ghost of the median step; how two runs are locked; notes on times. */
  readonly ghost: string;
  readonly lock: string;
  readonly notes: string;
  /** Keys that this version does not know, as they came. */
  readonly other: ReadonlyArray<readonly [key: string, value: string]>;
}

export const HOME: Place = {
  view: "overview",
  fp: "",
  run: "",
  cmp: "",
  rank: "",
  span: "",
  process: "",
  steps: "",
  t: "",
  w: "",
  sel: "",
  q: "",
  where: "",
  by: "",
  sort: "",
  merge: "",
  opts: "",
  table: "",
  device: "",
  top: "",
  stack: "",
  metric: "",
  order: "",
  root: "",
  priority: "",
  length: "",
  kept: "",
  shut: "",
  chart: "",
  cols: "",
  pin: "",
  hide: "",
  fold: "",
  python: "",
  unpack: "",
  depth: "",
  only: "",
  thread: "",
  area: "",
  clock: "",
  flow: "",
  color: "",
  ghost: "",
  lock: "",
  notes: "",
  other: [],
};

const VERSION = "1";
const KEYS = [
  "fp",
  "run",
  "cmp",
  "rank",
  "span",
  "process",
  "steps",
  "t",
  "w",
  "sel",
  "table",
  "q",
  "where",
  "by",
  "sort",
  "merge",
  "opts",
  "device",
  "top",
  "stack",
  "metric",
  "order",
  "root",
  "priority",
  "length",
  "kept",
  "shut",
  "chart",
  "cols",
  "pin",
  "hide",
  "fold",
  "python",
  "unpack",
  "depth",
  "only",
  "thread",
  "area",
  "clock",
  "flow",
  "color",
  "ghost",
  "lock",
  "notes",
] as const satisfies readonly (keyof Place)[];
type Key = (typeof KEYS)[number];

function isKey(key: string): key is Key {
  return (KEYS as readonly string[]).includes(key);
}

/** The place that FRAGMENT, with or without its #, names; anything unreadable is left out. */
export function parsePlace(fragment: string): Place {
  const text = fragment.replace(/^#?\/?/, "");
  const cut = text.indexOf("?");
  const view = cut < 0 ? text : text.slice(0, cut);
  const values: Partial<Record<Key, string>> = {};
  const other: [string, string][] = [];
  for (const [key, value] of new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1))) {
    if (isKey(key)) values[key] = value;
    else if (key !== "v") other.push([key, value]);
  }
  return { ...HOME, ...values, view: /^[a-z]+$/.test(view) ? view : HOME.view, other };
}

/** The fragment of PLACE, with its #. */
export function formatPlace(place: Place): string {
  const words = new URLSearchParams({ v: VERSION });
  for (const key of KEYS) if (place[key] !== "") words.append(key, place[key]);
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

/** START+DUR as ns; null: TEXT is none. */
export function parseRange(text: string): { from: number; to: number } | null {
  const match = /^(-?\d+)[+ ](\d+)$/.exec(text);
  if (!match) return null;
  const from = Number(match[1]);
  const to = from + Number(match[2]);
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && to > from ? { from, to } : null;
}

export function formatRange(range: { from: number; to: number } | null): string {
  return range === null ? "" : `${range.from}+${range.to - range.from}`;
}

/** A table as it is at first. */
export const PLAIN_TABLE = {
  q: "",
  where: "",
  by: "",
  sort: "",
  cols: "",
} as const satisfies Partial<Place>;

/** What is selected of a run: all of it, as of one that one comes to. */
export const WHOLE_RUN = {
  rank: "",
  span: "",
  process: "",
  steps: "",
  t: "",
  sel: "",
} as const satisfies Partial<Place>;

/** What belongs to one view only: empty, as in a view that one comes to. */
export const FRESH = {
  ...PLAIN_TABLE,
  sel: "",
  table: "",
  merge: "",
  opts: "",
  device: "",
  top: "",
  stack: "",
  metric: "",
  order: "",
  root: "",
  priority: "",
  length: "",
  kept: "",
  shut: "",
  chart: "",
  hide: "",
} as const satisfies Partial<Place>;
