// SPDX-License-Identifier: Apache-2.0
// What the page asks: of a server (remote.ts), or of the data in its own file.

import type { Frame } from "./cols.ts";
import type { CellPacket, FlowPacket, ValuePacket } from "./packets.ts";
import type { Options, Question } from "./question.ts";
import type { TableName } from "./tables.ts";

export type { Options, Question } from "./question.ts";

export interface RunState {
  readonly name: string;
  readonly state: "idle" | "waiting" | "loading" | "ready" | "failed";
  readonly done_bytes: number;
  readonly total_bytes: number;
  readonly fingerprint: string | null;
  readonly message: string | null;
  /** The operands of the run as words of a command line. */
  readonly operands: string | null;
  /** The options with which it was opened. */
  readonly options: Options;
  readonly paths: readonly string[];
}

/** A table of the answer `runs`, as `opscope info` makes it. */
export interface InfoTable {
  readonly columns: ReadonlyArray<{ readonly name: string }>;
  readonly rows: ReadonlyArray<ReadonlyArray<string | number | boolean | null>>;
}

export interface RunsAnswer {
  readonly run: string;
  readonly runs?: InfoTable | null;
  /** What was said while files were read, in lines. */
  readonly notes?: string | null;
}

export interface Session {
  readonly opscope: string;
  readonly run: string;
  readonly runs: readonly RunState[];
  /** What the data of the page leave out, in a sentence; undefined: nothing. */
  readonly note?: string;
  /** The selection that the data of the page have been made with: there is nothing else. */
  readonly fixed?: Fixed;
}

/** Ranks, spans and steps as words of the command line, and a range as the address has it; "": all. */
export interface Fixed {
  readonly rank: string;
  readonly span: string;
  readonly steps: string;
  readonly t: string;
}

export interface CatalogColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean";
  readonly unit: string | null;
  readonly help: string;
  readonly optional: boolean;
  readonly deep: boolean;
  readonly symbol: boolean;
  readonly long: boolean;
  /** Rows add up: the sum of all of them means something. */
  readonly sums: boolean;
  readonly moment: boolean;
  readonly group_by: string | null;
  /** Indexes of the rules of the catalog that it follows. */
  readonly rules: readonly number[];
}

/** A paragraph of the manual; its text is Markdown. */
export interface CatalogRule {
  readonly title: string;
  readonly text: string;
  readonly source: string;
}

export interface CatalogTable {
  readonly name: string;
  readonly help: string;
  readonly source: string | null;
  readonly sorted_by: string | null;
  readonly group_by: readonly string[];
  readonly options: readonly string[];
  readonly patterns: boolean;
  readonly compares: boolean;
  readonly joins_ranks: boolean;
  readonly streams: boolean;
  readonly columns: readonly CatalogColumn[];
}

export interface Catalog {
  readonly opscope: string;
  readonly tables: readonly CatalogTable[];
  /** Columns before all others if there are several ranks or spans. */
  readonly leading: readonly CatalogColumn[];
  readonly rules: readonly CatalogRule[];
}

export interface Rows {
  readonly offset: number;
  readonly limit: number;
  /** With the sums of columns over all rows. */
  readonly sums?: true;
}

export type TrackSort = "thread" | "queue" | "async" | "instants";

export interface Track {
  readonly id: number;
  readonly sort: TrackSort;
  readonly trace: number;
  readonly process: string;
  readonly process_name: string;
  readonly thread: string;
  readonly thread_name: string;
  readonly device: string | null;
  /** Which ranges its lanes have: all of the track, those that are no Python frames, or those of
   * all packed queues of its process, or the tasks of an ITT domain. */
  readonly of: "all" | "no_frames" | "packed" | "domain";
  /** Of a track of tasks of one ITT domain: its name. */
  readonly domain: string | null;
  readonly has_frames: boolean;
  readonly is_packed: boolean;
  readonly lanes: number;
  readonly ranges: number;
}

export interface Series {
  readonly id: number;
  readonly trace: number;
  /** The last two: how much of a device is used, from 0 to 1. */
  readonly sort: "counter" | "allocated" | "reserved" | "utilization" | "sm_efficiency";
  readonly process: string;
  readonly name: string;
  readonly key: string;
  readonly device: string | null;
  /** Of memory: how much the device has; null: unknown. */
  readonly capacity_bytes: number | null;
}

export interface TraceOfRun {
  readonly rank: number;
  readonly span: number;
  /** The number of its first event; the id of an event in its table counts from there. */
  readonly first_event: number;
  readonly worker: string | null;
  /** From its first start to its last end; null: it has no events. */
  readonly from_ns: number | null;
  readonly to_ns: number | null;
}

export interface Timeline {
  /** Of the run as it was: what the numbers of tracks and names mean. */
  readonly fingerprint: string;
  readonly from_ns: number;
  readonly to_ns: number;
  /** Unix time of the origin in ns, as decimal digits; null: the clock has no date. */
  readonly base_ns: string | null;
  /** The words for the kinds of cells, by number. */
  readonly kinds: readonly string[];
  readonly names: number;
  /** So many come with one question. */
  readonly names_per_page: number;
  readonly traces: readonly TraceOfRun[];
  readonly tracks: readonly Track[];
  readonly series: readonly Series[];
}

/** A window of time in ns from the origin. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

export interface CellQuestion {
  /** Of the timeline whose tracks are meant; the answer is 409 if the files have changed since. */
  readonly fingerprint: string;
  readonly window: Window;
  readonly pixels: number;
  readonly isExact: boolean;
  readonly request: number;
}

/** A name as the file has it, and folded. */
export type Name = readonly [full: string, folded: string];

/** An event that is linked to another one. */
export interface Linked {
  readonly relation:
    | "launched_by"
    | "launched"
    | "operator"
    | "forward"
    | "parent"
    | "leads_to"
    | "comes_from";
  readonly event: number;
  readonly name: string;
  readonly track: number | null;
  readonly start_ns: number;
  readonly dur_ns: number | null;
}

export interface EventDetail {
  /** Of the files in which it has this number. */
  readonly fingerprint: string;
  readonly event: number;
  readonly rank: number;
  readonly span: number;
  /** As in the table `events` of its rank and span. */
  readonly id: number;
  readonly name: string;
  readonly folded: string;
  readonly kind: string;
  readonly category: string;
  readonly track: number | null;
  readonly start_ns: number;
  readonly dur_ns: number | null;
  readonly self_ns: number | null;
  readonly args: Readonly<Record<string, unknown>>;
  readonly links: readonly Linked[];
}

/** Which stacks, with which value; SELECTION has options of the command. */
export interface FlameQuestion {
  readonly stack: string;
  readonly metric: string;
  /** Frames from the outside in, with ";" between them: only what is below; "": all. */
  readonly root: string;
  /** Only stacks of this frame: whom it calls, or who calls it; "": all. */
  readonly name: string;
  readonly way: "callees" | "callers";
  /** Text or /regex/. */
  readonly q: string;
  /** What would be less than a pixel wide is left out. */
  readonly pixels: number;
  readonly selection: Options;
}

/** Frames that call each other; those around others come first. */
export interface FlameStacks {
  readonly total: number;
  /** The value of all stacks with a frame that matches; null: nothing is searched. */
  readonly matched: number | null;
  /** How many stacks there are, with those that are left out. */
  readonly stacks: number;
  readonly command: string;
  /** What takes most, in one sentence; "": the table headlines says it. */
  readonly text: string;
  /** By frame: the frame around it, or -1. */
  readonly caller: readonly number[];
  readonly name: readonly number[];
  readonly names: readonly string[];
  readonly self: readonly number[];
  readonly total_of: readonly number[];
  readonly matches?: readonly number[];
  /** Frames that are left out, but together wide enough, by the frame around them. */
  readonly small_caller?: readonly number[];
  readonly small_count?: readonly number[];
  readonly small_total?: readonly number[];
}

export type Progress =
  | { readonly kind: "load"; readonly done: number; readonly total: number }
  | { readonly kind: "ready" | "model"; readonly fingerprint: string }
  | { readonly kind: "failed" | "stale"; readonly message: string }
  /** The server is gone; it is asked again in so many seconds. */
  | { readonly kind: "lost"; readonly seconds: number }
  | { readonly kind: "idle" | "back" };

export interface ApiProblem {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly what_to_do: string | null;
  readonly command: string | null;
  /** What was asked for; undefined: no rows of a table. */
  readonly question?: Question;
}

/** Why a question has no answer, with what to do about it. */
export class ApiError extends Error {
  readonly problem: ApiProblem;

  constructor(problem: ApiProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** Whether CAUSE says that the files of the run have changed since the page was told of them. */
export function isChanged(cause: unknown): boolean {
  return cause instanceof ApiError && cause.problem.status === 409;
}

/** All questions can be cancelled by their signal; they reject with an ApiError or AbortError. */
export interface Api {
  session(signal?: AbortSignal): Promise<Session>;
  catalog(signal?: AbortSignal): Promise<Catalog>;
  /** Files of RUN and of its log directory, with those that were not taken. */
  runs(run: string, signal?: AbortSignal): Promise<RunsAnswer>;
  table<T extends TableName>(
    name: T,
    options: Options,
    rows: Rows,
    signal?: AbortSignal,
  ): Promise<Frame<T>>;
  /** The address of a table as a file: csv, json or md; "": there is none. */
  address(name: string, options: Options, format: string): string;
  timeline(run: string, signal?: AbortSignal): Promise<Timeline>;
  cells(
    run: string,
    tracks: ReadonlyArray<readonly [id: number, lanes: number]>,
    question: CellQuestion,
    signal?: AbortSignal,
  ): Promise<CellPacket>;
  values(
    run: string,
    series: readonly number[],
    question: CellQuestion,
    signal?: AbortSignal,
  ): Promise<ValuePacket>;
  /** Arrows between ranges of TRACKS. */
  flows(
    run: string,
    tracks: readonly number[],
    question: CellQuestion,
    signal?: AbortSignal,
  ): Promise<FlowPacket>;
  names(
    run: string,
    page: number,
    fingerprint: string,
    signal?: AbortSignal,
  ): Promise<readonly Name[]>;
  flame(run: string, question: FlameQuestion, signal?: AbortSignal): Promise<FlameStacks>;
  /** EVENT is its number in the files with FINGERPRINT; the answer is 409 if they have changed. */
  event(
    run: string,
    event: number,
    fingerprint: string,
    signal?: AbortSignal,
  ): Promise<EventDetail>;
  /** Calls HEAR with news of RUN until the result is called. */
  follow(run: string, hear: (news: Progress) => void): () => void;
}
