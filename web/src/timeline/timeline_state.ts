// SPDX-License-Identifier: Apache-2.0
// All that a timeline shows, as signals, and the cells that are asked for it. The screen draws what
// `scene` says; nobody else knows what is on it.

import { batch, computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { Api, Timeline, Window } from "../api/api.ts";
import { CELL } from "../api/packets.ts";
import type { Shown, TimeWindow } from "../state/time_window.ts";
import type { Selected, Tag } from "./arrows.ts";
import { Fetcher } from "./fetcher.ts";
import { Flows } from "./flows.ts";
import { Ghost, type GhostOf } from "./ghost.ts";
import type { Layout, Row } from "./layout.ts";
import { type Hit, hitIn, lanesOf } from "./places.ts";
import { type Clock, FROM_ORIGIN, type StepMark } from "./ruler.ts";

/** How high the screen is, and how many device pixels it has for one of the page. */
interface Size {
  readonly height: number;
  readonly ratio: number;
}

/** What the ruler counts from, and the steps in it. */
interface Ruler {
  readonly clock: Clock;
  readonly steps: readonly StepMark[];
}

/** What one picture shows. */
export interface Scene extends Size, Ruler {
  readonly shown: Shown;
  /** The rows in sight, and how far they are scrolled. */
  readonly rows: readonly Row[];
  readonly top: number;
  readonly selected: Selected | null;
  readonly area: Window | null;
  /** Times that are marked on the ruler, ascending. */
  readonly hits: readonly number[];
  readonly ghost: GhostOf | null;
  /** Which arrows, and what colours mean, as the address has them. */
  readonly flow: string;
  readonly mode: string;
  /** Which colours the page has. */
  readonly theme: string;
}

export class TimelineState {
  readonly timeline: Timeline;
  readonly window: TimeWindow;
  readonly fetcher: Fetcher;
  readonly ghosts: Ghost;
  readonly flows: Flows;
  readonly size = signal<Size>({ height: 0, ratio: 1 });
  readonly top = signal(0);
  /** null: nothing is known of what to ask for; it may have no rows. */
  readonly layout = signal<Layout | null>(null);
  /** What is selected, with what it is linked to. */
  readonly selected = signal<Selected | null>(null);
  readonly area = signal<Window | null>(null);
  readonly hits = signal<readonly number[]>([]);
  readonly ruler = signal<Ruler>({ clock: FROM_ORIGIN, steps: [] });
  readonly ghost = signal<GhostOf | null>(null);
  readonly flow = signal("");
  readonly mode = signal("");
  /** Ends of arrows that are not in sight, as they were drawn. */
  readonly tags = signal<readonly Tag[]>([]);
  /** Grows when there is something new to draw that `scene` does not say. */
  readonly news = signal(0);
  readonly scene: ReadonlySignal<Scene>;
  /** In pixels; 0: there is no screen yet. */
  readonly width: ReadonlySignal<number>;
  private readonly end: () => void;

  /** Of RUN, which has TIMELINE; THEME is that of the page. */
  constructor(
    api: Api,
    { run, timeline }: { readonly run: string; readonly timeline: Timeline },
    window: TimeWindow,
    theme: ReadonlySignal<string>,
  ) {
    this.timeline = timeline;
    this.window = window;
    const changed = () => {
      this.news.value++;
    };
    this.fetcher = new Fetcher(api, run, timeline, changed);
    this.ghosts = new Ghost(api, run, timeline, changed);
    this.flows = new Flows(api, run, timeline.fingerprint, changed);
    this.width = computed(() => window.shown.value.width);
    const rows = computed(() => {
      const { top } = this;
      const bottom = top.value + this.size.value.height;
      const all = this.layout.value?.rows ?? [];
      return all.filter((row) => row.y + row.height > top.value && row.y < bottom);
    });
    this.scene = computed(() => ({
      ...this.size.value,
      ...this.ruler.value,
      shown: window.shown.value,
      rows: rows.value,
      top: this.top.value,
      selected: this.selected.value,
      area: this.area.value,
      hits: this.hits.value,
      ghost: this.ghost.value,
      flow: this.flow.value,
      mode: this.mode.value,
      theme: theme.value,
    }));
    this.end = effect(() => {
      const { viewport, width } = window.shown.value;
      const [ghost, flow] = [this.ghost.value, this.flow.value];
      if (width === 0 || this.layout.value === null) return;
      const series = rows.value.flatMap((row) => (row.kind === "series" ? [row.series.id] : []));
      const { ratio } = this.size.value;
      const wanted = { viewport, width, ratio, tracks: lanesOf(rows.value), series };
      this.fetcher.show(wanted);
      this.ghosts.show(wanted, ghost);
      this.flows.show(wanted, flow === "all");
    });
  }

  close(): void {
    this.end();
    for (const part of [this.fetcher, this.ghosts, this.flows]) part.close();
  }

  resize(width: number, height: number, ratio: number): void {
    batch(() => {
      this.window.resize(width);
      this.size.value = { height, ratio };
    });
  }

  /** Colours mean MODE (colour_modes.ts), which may need MEDIANS of names. */
  colourBy(mode: string, medians: ReadonlyMap<string, number> | null): void {
    batch(() => {
      this.mode.value = mode;
      this.fetcher.medians = medians;
      this.news.value++;
    });
  }

  /** Dim all names but the selected one, or do no longer; false: nothing is selected. */
  dim(): boolean {
    const name = this.fetcher.only === null ? this.selectedName() : null;
    if (this.fetcher.only === null && name === null) return false;
    this.fetcher.only = name;
    this.news.value++;
    return true;
  }

  /** What is at pixel (X, Y) of the canvas. */
  hit(x: number, y: number): Hit | null {
    const { cells } = this.fetcher;
    return hitIn(cells, this.rowAt(y), this.window.viewport, x, y + this.top.peek());
  }

  /** The row at pixel Y of the canvas. */
  rowAt(y: number): Row | undefined {
    return this.rowsBetween(y, y).find((row) => row.y + row.height > y + this.top.peek());
  }

  /** The rows from pixel TOP to BOTTOM of the canvas. */
  rowsBetween(top: number, bottom: number): Row[] {
    const scrolled = this.top.peek();
    const rows = this.layout.peek()?.rows ?? [];
    return rows.filter((r) => r.y <= bottom + scrolled && r.y + r.height > top + scrolled);
  }

  /** The number of the name of what is selected; null: it has no cell at hand. */
  private selectedName(): number | null {
    const [event, cells] = [this.selected.peek()?.event, this.fetcher.cells];
    for (let i = 0; cells !== null && event !== undefined && i < cells.n; i++)
      if (cells.words[i * CELL.words + CELL.event] === event)
        return cells.words[i * CELL.words + CELL.name]!;
    return null;
  }
}
