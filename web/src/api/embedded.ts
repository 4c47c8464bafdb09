// SPDX-License-Identifier: Apache-2.0
// The data in the page's own file: what `opscope export -o run.html` asked for it
// (src/page/questions.h). What was not asked says so, with the command that prints it.

import { type Answers, bufferOf, jsonOf, textOf } from "./answers.ts";
import {
  type Api,
  ApiError,
  type Catalog,
  type CatalogTable,
  type CellQuestion,
  type EventDetail,
  type Fixed,
  type FlameQuestion,
  type FlameStacks,
  type Name,
  type Options,
  type Progress,
  type Rows,
  type RunsAnswer,
  type Session,
  type Timeline,
} from "./api.ts";
import type { Frame } from "./cols.ts";
import { type CellPacket, decodeValues, type FlowPacket, type ValuePacket } from "./packets.ts";
import { Stored } from "./pick.ts";
import { optionWords } from "./question.ts";
import { answerRows } from "./stored_rows.ts";
import type { TableName } from "./tables.ts";
import { cutCells, cutValues, type Level, readLevel } from "./tiles.ts";

/** Tables that tell of several ranks more than of each. */
const OF_ALL = new Set(["advice", "info", "quality"]);
const NO_NAME: Name = ["(a name that is not in this file)", "(a name that is not in this file)"];

interface About {
  readonly rows: number;
  readonly quantum_ns: number;
  readonly levels: number;
  readonly is_complete: boolean;
}

function formatQuantum(ns: number): string {
  const short = (value: number) => Number(value.toPrecision(2));
  if (ns >= 1e6) return `${short(ns / 1e6)} ms`;
  return ns >= 1e3 ? `${short(ns / 1e3)} us` : `${ns} ns`;
}

/** What the file leaves out, in a sentence. */
export function reducedBy(about: About): string {
  const rows = `tables have their first ${about.rows} rows`;
  return about.is_complete
    ? `saved page: ${rows}`
    : `saved page: nothing under ${formatQuantum(about.quantum_ns)} stands alone; ${rows}`;
}

/** What OPTIONS select, as an address has it. */
function fixedBy(options: Options): Fixed {
  const word = (name: string) => (typeof options[name] === "string" ? options[name] : "");
  const [from, to] = ["from", "to"].map((name) => /^(\d+)ns$/.exec(word(name))?.[1]);
  const t = from && to ? `${from}+${Number(to) - Number(from)}` : "";
  return { rank: word("rank"), span: word("span"), steps: word("steps"), t };
}

class EmbeddedApi implements Api {
  private readonly answers: Answers;
  private readonly stored = new Map<string, Stored>();
  private readonly levels = new Map<number, Level>();
  private readonly about: About;
  private readonly told: Session;
  private readonly list: Catalog;
  /** With which the traces were opened. */
  private readonly made: Options;
  private events: Map<number, EventDetail> | null = null;
  private allValues: ValuePacket | null = null;

  /** Throws an Error if ANSWERS are not those of a page. */
  constructor(answers: Answers) {
    this.answers = answers;
    this.about = this.json<About>("about");
    const told = this.json<Session>("session");
    this.made = told.runs[0]?.options ?? {};
    this.told = { ...told, note: reducedBy(this.about), fixed: fixedBy(this.made) };
    this.list = this.json<Catalog>("catalog");
  }

  async session(): Promise<Session> {
    return this.told;
  }

  async catalog(): Promise<Catalog> {
    return this.list;
  }

  async runs(): Promise<RunsAnswer> {
    return this.json<RunsAnswer>("runs");
  }

  async flame(_run: string, question: FlameQuestion): Promise<FlameStacks> {
    const { stack, metric, root, name, q } = question;
    const selection = this.without(question.selection);
    const isAll = `${root}${name}${q}` === "" && Object.keys(selection).length === 0;
    const key = `flame?stack=${stack}&metric=${metric}&px=1000`;
    const bytes = isAll ? this.answers.get(key) : undefined;
    if (bytes) return jsonOf<FlameStacks>(bytes);
    throw this.missing(
      isAll ? "this file has no such stacks" : "these stacks are not in this file",
      `opscope export${this.traces({ ...selection, stack, metric })} -o stacks.folded`,
    );
  }

  async table<T extends TableName>(name: T, wanted: Options, rows: Rows): Promise<Frame<T>> {
    const options = this.without(wanted);
    const table = this.list.tables.find((t) => t.name === name);
    const found = table && this.find(name, options);
    const frame =
      (found && answerRows(found, table, options, rows, this.printer(name))) ??
      (table && this.ofRank(table, options, rows));
    if (!frame) throw this.absent(name, options);
    return frame as Frame<TableName> as Frame<never>;
  }

  address(): string {
    return "";
  }

  async timeline(): Promise<Timeline> {
    return this.json<Timeline>("tracks");
  }

  async cells(
    _run: string,
    tracks: ReadonlyArray<readonly [id: number, lanes: number]>,
    question: CellQuestion,
  ): Promise<CellPacket> {
    const { from, to } = question.window;
    const pixel = (to - from) / question.pixels;
    let level = this.level(0);
    for (let i = 1; i < this.about.levels && level[0]!.head.quantum > pixel; i++)
      level = this.level(i);
    return cutCells(level, tracks, question.window, question.request);
  }

  async values(
    _run: string,
    series: readonly number[],
    question: CellQuestion,
  ): Promise<ValuePacket> {
    const bytes = this.answers.get("values");
    if (!bytes) throw this.missing("the values over time are not in this file");
    this.allValues ??= decodeValues(bufferOf(bytes));
    return cutValues(this.allValues, series, question.window);
  }

  async flows(): Promise<FlowPacket> {
    throw this.missing("the arrows of a window are not in this file");
  }

  async names(_run: string, page: number): Promise<readonly Name[]> {
    const bytes = this.answers.get(`names/${page}`);
    if (bytes) return jsonOf<{ names: Name[] }>(bytes).names;
    return new Array<Name>(this.json<Timeline>("tracks").names_per_page).fill(NO_NAME);
  }

  async event(_run: string, event: number, fingerprint: string): Promise<EventDetail> {
    this.events ??= this.readEvents();
    const found = this.events.get(event);
    if (found) return { ...found, fingerprint };
    throw this.missing(
      "the arguments and links of this event are not in this file, which has those of the longest",
    );
  }

  follow(_run: string, hear: (news: Progress) => void): () => void {
    const fingerprint = this.told.runs[0]?.fingerprint ?? "file";
    hear({ kind: "ready", fingerprint });
    return () => {};
  }

  private json<T>(key: string): T {
    const bytes = this.answers.get(key);
    if (!bytes) throw this.missing(`the file has no ${key}`);
    return jsonOf<T>(bytes);
  }

  private level(i: number): Level {
    const known = this.levels.get(i);
    if (known) return known;
    const bytes = this.answers.get(`cells/${i}`);
    if (!bytes) throw this.missing("the timeline is not in this file");
    const level = readLevel(bytes);
    this.levels.set(i, level);
    return level;
  }

  private readEvents(): Map<number, EventDetail> {
    const events = new Map<number, EventDetail>();
    for (let i = 0; ; i++) {
      const bytes = this.answers.get(`events/${i}`);
      if (!bytes) return events;
      for (const detail of jsonOf<EventDetail[]>(bytes)) events.set(detail.event, detail);
    }
  }

  /** The stored rows of table NAME with the grouping of OPTIONS; undefined: there are none. */
  private find(name: string, options: Options): Stored | undefined {
    const words: string[] = [];
    if (typeof options["group-by"] === "string") words.push(`group-by=${options["group-by"]}`);
    if (options.merge !== undefined) words.push("merge=1");
    const key = `table/${name}${words.length > 0 ? `?${words.join("&")}` : ""}`;
    const known = this.stored.get(key);
    if (known) return known;
    const same = this.answers.get(`same?${key}`);
    const bytes = this.answers.get(same ? textOf(same) : key);
    if (!bytes) return undefined;
    const stored = new Stored(bufferOf(bytes));
    this.stored.set(key, stored);
    return stored;
  }

  /** The rows of one rank with --merge; there may be those of each. */
  private ofRank(table: CatalogTable, options: Options, rows: Rows): Frame | null {
    const { merge, ...alone } = options;
    if (merge === undefined || options.rank === undefined || OF_ALL.has(table.name)) return null;
    const found = this.find(table.name, alone);
    const print = this.printer(table.name);
    return found ? answerRows(found, table, alone, rows, print, true) : null;
  }

  private absent(name: string, options: Options): ApiError {
    const { run: _, ...words } = options;
    return this.missing(
      "these rows are not in this file; the command prints them",
      this.printer(name)(words),
    );
  }

  /** What makes options a command that prints rows of table NAME. */
  private printer(name: string): (options: Options) => string {
    return (options) => `opscope table ${name}${this.traces(options)}`;
  }

  /** The words of a command line that name OPTIONS of what the file was made of. */
  private traces(options: Options): string {
    const operands = this.told.runs[0]?.operands ?? "TRACE";
    return `${optionWords({ ...this.made, ...options })} ${operands}`;
  }

  /** OPTIONS but for those with which all in the file was made. The file does not change. */
  private without({ fp: _, ...options }: Options): Options {
    const rest = Object.entries(options).filter(([name, value]) => this.made[name] !== value);
    return Object.fromEntries(rest);
  }

  private missing(message: string, command: string | null = null): ApiError {
    const what = `or open all of it: opscope view ${this.told?.runs[0]?.operands ?? "TRACE"}`;
    return new ApiError({ status: 404, code: "absent", message, what_to_do: what, command });
  }
}

export function createEmbeddedApi(answers: Answers): Api {
  return new EmbeddedApi(answers);
}
