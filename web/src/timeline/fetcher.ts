// SPDX-License-Identifier: Apache-2.0
// What is asked of the server while the window moves, and when it rests.
//
// Moving: snapped cells, one question at a time, the newest window wins; the picture at hand is
// stretched meanwhile. At rest for 120 ms: exact cells, whose buckets are the pixels.

import { type Api, isChanged, type Name, type Timeline, type Window } from "../api/api.ts";
import { CELL, type CellPacket, type ValuePacket } from "../api/packets.ts";
import { hashOf, stepOf } from "../model/colour.ts";
import { isExpression } from "../model/expr.ts";
import { countedNames } from "../model/names.ts";
import { matcher } from "../model/pattern.ts";
import type { Viewport } from "../model/viewport.ts";

const REST_MS = 120;
/** A search looks at this many pages of names. */
const MOST_PAGES = 400;

export interface Wanted {
  readonly viewport: Viewport;
  /** In CSS pixels, and device pixels for one of them. */
  readonly width: number;
  readonly ratio: number;
  /** The tracks in sight, with the number of their lanes. */
  readonly tracks: ReadonlyArray<readonly [id: number, lanes: number]>;
  readonly series: readonly number[];
}

/** What tells the numbers of names. */
export type TimelineNames = Pick<Timeline, "fingerprint" | "names_per_page">;

export class Fetcher {
  cells: CellPacket | null = null;
  values: ValuePacket | null = null;
  /** Why the last question failed; "": it did not. */
  problem = "";
  private readonly api: Api;
  private readonly run: string;
  readonly fingerprint: string;
  private readonly namesPerPage: number;
  private readonly changed: () => void;
  private wanted: Wanted | null = null;
  private flight: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private request = 0;
  private readonly pages = new Map<number, readonly Name[]>();
  private readonly askedPages = new Map<number, Promise<void>>();
  private readonly steps: number[] = [];
  private text = "";
  private matches: Set<number> | null = null;
  /** Only this name is in full colour; null: all. */
  only: number | null = null;
  /** The median duration of names, by their text; null: not asked for. */
  medians: ReadonlyMap<string, number> | null = null;

  /** Of RUN, which has TIMELINE; CHANGED is called when there is something new to draw. */
  constructor(api: Api, run: string, timeline: TimelineNames, changed: () => void) {
    this.api = api;
    this.run = run;
    this.fingerprint = timeline.fingerprint;
    this.namesPerPage = timeline.names_per_page;
    this.changed = changed;
  }

  /** Whether there is something to draw, if only why there is nothing. */
  get hasAnswer(): boolean {
    return this.cells !== null || this.problem !== "";
  }

  /** WANTED is on the screen from now on. */
  show(wanted: Wanted): void {
    this.wanted = wanted;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(true), REST_MS);
    if (this.flight === null && !this.covers(wanted)) this.ask(false);
  }

  close(): void {
    clearTimeout(this.timer);
    this.flight?.abort();
  }

  /** The name with NUMBER, full and folded; null: it is not there yet. */
  name(number: number): Name | null {
    return (
      this.pages.get(Math.floor(number / this.namesPerPage))?.[number % this.namesPerPage] ?? null
    );
  }

  /** The same; it is asked for if it is not there. */
  named(number: number): Name | null {
    void this.fetchPage(Math.floor(number / this.namesPerPage));
    return this.name(number);
  }

  /** The step of lightness of a name, 0 until it is there; ~step if it is not searched. */
  readonly step = (number: number): number => {
    const step = this.steps[number] ?? 0;
    const isDim =
      (this.matches !== null && !this.matches.has(number)) ||
      (this.only !== null && this.only !== number);
    return isDim ? ~step : step;
  };

  median(number: number): number | null {
    const name = this.name(number);
    if (name === null) return null;
    const [medians, counted] = [this.medians, countedNames("step", name[0])];
    return [name[0], ...counted].map((n) => medians?.get(n)).find((ns) => ns !== undefined) ?? null;
  }

  hash(number: number): number | null {
    const name = this.name(number);
    return name === null ? null : hashOf(name[1]);
  }

  /** Only names that have TEXT, or match /TEXT/, are in full colour; "": all. */
  async search(text: string, nNames: number): Promise<void> {
    this.text = text;
    // What an expression says of events their names do not tell.
    if (text === "" || isExpression(text)) {
      this.matches = null;
      this.changed();
      return;
    }
    const pages = Math.min(MOST_PAGES, Math.ceil(nNames / this.namesPerPage));
    for (let page = 0; page < pages; page++) await this.fetchPage(page);
    if (this.text !== text) return;
    const isWanted = matcher(text);
    this.matches = new Set();
    for (const [page, names] of this.pages)
      for (const [k, [full]] of names.entries())
        if (isWanted(full)) this.matches.add(page * this.namesPerPage + k);
    this.changed();
  }

  /** Whether the cells at hand have all that WANTED shows, about as fine. */
  private covers(wanted: Wanted): boolean {
    const head = this.cells?.head;
    if (!head || this.cells === null) return false;
    const { from, to } = wanted.viewport.window(wanted.width, 0);
    const pixel = wanted.viewport.nsPerPx / wanted.ratio;
    const lanes = new Set(this.cells.lanes.map((lane) => lane.track));
    return (
      head.t0 <= from &&
      head.t0 + head.width >= to &&
      head.quantum <= 2 * pixel &&
      head.quantum >= pixel / 4 &&
      wanted.tracks.every(([id]) => lanes.has(id))
    );
  }

  private async ask(isExact: boolean): Promise<void> {
    const wanted = this.wanted;
    if (wanted === null || wanted.width <= 0) return;
    this.flight?.abort();
    const abort = new AbortController();
    this.flight = abort;
    const window: Window = wanted.viewport.window(wanted.width, wanted.width / 2);
    const pixels = Math.max(1, Math.round(2 * wanted.width * wanted.ratio));
    const { fingerprint } = this;
    const question = { fingerprint, window, pixels, isExact, request: ++this.request };
    try {
      const [cells, values] = await Promise.all([
        this.api.cells(this.run, wanted.tracks, question, abort.signal),
        wanted.series.length === 0
          ? null
          : this.api.values(this.run, wanted.series, question, abort.signal),
      ]);
      const named = this.wantNames(cells);
      // Without names the first picture would have other texts and shades than the next.
      if (this.cells === null) await named;
      if (abort.signal.aborted) return;
      this.cells = cells;
      this.values = values;
      this.problem = "";
    } catch (cause) {
      if (abort.signal.aborted) return;
      // What is there stays: the timeline is on its way, as its files are now.
      if (isChanged(cause)) return;
      this.problem = cause instanceof Error ? cause.message : String(cause);
    } finally {
      if (this.flight === abort) this.flight = null;
    }
    this.changed();
    // The window has moved on meanwhile: the next question is about where it is now.
    if (this.wanted !== wanted && this.wanted !== null && !this.covers(this.wanted))
      void this.ask(false);
  }

  /** Get the names in CELLS. */
  private async wantNames({ n, words }: CellPacket): Promise<void> {
    const pages = new Set<number>();
    for (let i = 0; i < n; i++)
      pages.add(Math.floor(words[i * CELL.words + CELL.name]! / this.namesPerPage));
    await Promise.all([...pages].map((page) => this.fetchPage(page)));
  }

  /** Get the names of PAGE, unless they are there or on their way. */
  private fetchPage(page: number): Promise<void> {
    const asked = this.askedPages.get(page);
    if (asked) return asked;
    const answer = this.api.names(this.run, page, this.fingerprint).then(
      (names) => {
        this.pages.set(page, names);
        for (const [k, [, folded]] of names.entries())
          this.steps[page * this.namesPerPage + k] = stepOf(folded);
        this.changed();
      },
      () => {
        this.askedPages.delete(page);
      },
    );
    this.askedPages.set(page, answer);
    return answer;
  }
}
