// SPDX-License-Identifier: Apache-2.0
// All that the page knows, as signals; made once, and passed down by context. No module has
// state of its own.

import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { type Api, ApiError, type Catalog, type Progress, type Session } from "../api/api.ts";
import type { StepWord } from "../model/matches.ts";
import { parseRange } from "./codec.ts";
import { hasIds, withoutIds } from "./link_ids.ts";
import { formatPlace, type Place, parsePlace } from "./url.ts";

export type Theme = "light" | "dark";

export interface Loading {
  readonly state: "loading" | "ready" | "failed" | "lost";
  readonly done: number;
  readonly total: number;
  readonly message: string;
}

/** A row of a table: its values by their columns as texts, without missing ones. */
export interface RowHere {
  readonly table: string;
  readonly values: Readonly<Record<string, string>>;
  /** The column that is meant, if the keys are in one. */
  readonly column?: string;
}

export interface PageState {
  readonly api: Api;
  readonly place: ReadonlySignal<Place>;
  readonly session: ReadonlySignal<Session | null>;
  readonly catalog: ReadonlySignal<Catalog | null>;
  readonly loading: ReadonlySignal<Loading>;
  /** Of the traces that are shown; grows as their files change: what is shown is asked again. */
  readonly fingerprint: ReadonlySignal<string>;
  /** Grows when a server that was gone is back: what failed meanwhile is asked again. */
  readonly epoch: ReadonlySignal<number>;
  /** What was left out of the address, because it is about other traces; "": nothing. */
  readonly foreign: Signal<string>;
  /** The name of the run that is shown; "": not known yet, or there is no such run. */
  readonly run: ReadonlySignal<string>;
  /** The command that prints what is shown; "": there is none. */
  readonly command: ReadonlySignal<string>;
  /** The same with the part of the view that it is of. */
  readonly told: Signal<{ readonly part: object; readonly command: string } | null>;
  /** The number of the event that was brought into sight, or need not be, as it was clicked; -1: none. */
  inSight: number;
  readonly notice: Signal<string>;
  readonly dockIsOpen: Signal<boolean>;
  readonly helpIsOpen: Signal<boolean>;
  readonly paletteIsOpen: Signal<boolean>;
  /** The row that the keys are in, of the table of the view; null: it has none. */
  readonly rowHere: Signal<(() => RowHere | null) | null>;
  readonly theme: Signal<Theme>;
  /** The address names no view: the page chooses where to begin. */
  readonly isUndecided: Signal<boolean>;
  /** The steps of the strip, for keys and commands. */
  readonly steps: Signal<readonly StepWord[]>;
  /** Go to the current place with CHANGES. Pan, zoom and typing replace it in the history. */
  go(changes: Partial<Place>, how?: "push" | "replace"): void;
  /** Start to ask and to follow; the result ends it. */
  start(): () => void;
}

const NOTHING: Loading = { state: "loading", done: 0, total: 0, message: "" };

export function createPageState(api: Api, window: Window): PageState {
  const place = signal(parsePlace(window.location.hash));
  const session = signal<Session | null>(null);
  const catalog = signal<Catalog | null>(null);
  const loading = signal<Loading>(NOTHING);
  const fingerprint = signal("");
  const epoch = signal(0);
  const foreign = signal("");
  const told = signal<PageState["told"]["value"]>(null);
  let wasLost = false;
  // A run that there is not, as of an old link, is not asked about.
  const run = computed(() => {
    const wanted = place.value.run;
    const runs = session.value?.runs ?? [];
    if (wanted === "") return session.value?.run ?? "";
    return runs.some(({ name }) => name === wanted) ? wanted : "";
  });
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)").matches;

  const hear = (news: Progress) => {
    batch(() => {
      switch (news.kind) {
        case "load":
          loading.value = { state: "loading", done: news.done, total: news.total, message: "" };
          break;
        case "ready":
        case "model":
          loading.value = { ...NOTHING, state: "ready" };
          // What was selected in a file before it grew stays selected.
          if (place.value.fp !== "" && place.value.fp === fingerprint.value)
            replace({ ...place.value, fp: news.fingerprint });
          fingerprint.value = news.fingerprint;
          checkIds();
          if (wasLost) epoch.value++;
          wasLost = false;
          break;
        case "failed":
        case "stale":
          loading.value = {
            ...loading.value,
            state: news.kind === "failed" ? "failed" : "ready",
            message: news.message,
          };
          break;
        case "lost":
          loading.value = {
            ...loading.value,
            state: "lost",
            message: `the server is gone; what was read stays; next try in ${news.seconds} s`,
          };
          break;
        case "back":
          loading.value = NOTHING;
          wasLost = true;
          void ask();
          break;
        case "idle":
          loading.value = NOTHING;
          break;
      }
    });
  };

  /** NEXT with the selection that cannot be taken back. */
  const fix = (next: Place): Place => {
    const fixed = session.value?.fixed;
    if (fixed === undefined) return next;
    const { rank, span, steps, t } = next;
    return {
      ...next,
      rank: rank || fixed.rank,
      span: span || fixed.span,
      steps: steps || fixed.steps,
      t: t ?? parseRange(fixed.t),
    };
  };

  /** Leave ids out of the address if they are of other traces, and say so. */
  const checkIds = () => {
    const { fp } = place.value;
    if (fp === "" || fingerprint.value === "" || fp === fingerprint.value) return;
    foreign.value = "the link is of other traces: events that it selected by number are left out";
    replace(withoutIds(place.value));
  };

  const replace = (next: Place) => {
    place.value = next;
    write(formatPlace(next), "replace");
  };

  const go: PageState["go"] = (changes, how = "push") => {
    const wanted = fix({ ...place.value, ...changes });
    const next = { ...wanted, fp: hasIds(wanted) ? wanted.fp || fingerprint.value : "" };
    const fragment = formatPlace(next);
    if (fragment === formatPlace(place.value)) return;
    place.value = next;
    if (how === "push") foreign.value = "";
    write(fragment, how);
  };

  const write = (fragment: string, how: "push" | "replace") => {
    try {
      if (how === "push") window.history.pushState(null, "", fragment);
      else window.history.replaceState(null, "", fragment);
    } catch {
      // In a frame of a notebook the page has no address of its own.
    }
  };

  const ask = async () => {
    try {
      const [s, c] = await Promise.all([api.session(), api.catalog()]);
      batch(() => {
        session.value = s;
        catalog.value = c;
        if (s.fixed !== undefined) replace(fix(place.value));
      });
    } catch (cause) {
      const message = cause instanceof ApiError ? cause.message : String(cause);
      loading.value = { ...NOTHING, state: "failed", message };
    }
  };

  /** Have run NAME loaded: a question does that. What comes of it, the progress says. */
  const wake = (name: string) => {
    api.table("info", { run: name }, { offset: 0, limit: 0 }).catch(() => {});
  };

  const start = () => {
    const read = () => {
      const next = parsePlace(window.location.hash);
      if (session.value?.fixed === undefined) place.value = next;
      else replace(fix(next));
      foreign.value = "";
      checkIds();
    };
    window.addEventListener("popstate", read);
    window.addEventListener("hashchange", read);
    void ask();
    let stop = () => {};
    const unfollow = run.subscribe((name) => {
      stop();
      if (name === "") return;
      stop = api.follow(name, (news) => {
        hear(news);
        if (news.kind === "idle") wake(name);
      });
    });
    return () => {
      unfollow();
      stop();
      window.removeEventListener("popstate", read);
      window.removeEventListener("hashchange", read);
    };
  };

  return {
    api,
    place,
    session,
    catalog,
    loading,
    fingerprint,
    epoch,
    foreign,
    run,
    command: computed(() => told.value?.command ?? ""),
    told,
    inSight: -1,
    notice: signal(""),
    dockIsOpen: signal(true),
    helpIsOpen: signal(false),
    paletteIsOpen: signal(false),
    rowHere: signal<(() => RowHere | null) | null>(null),
    isUndecided: signal(/^#?\/?$/.test(window.location.hash)),
    steps: signal<readonly StepWord[]>([]),
    theme: signal<Theme>(prefersDark ? "dark" : "light"),
    go,
    start,
  };
}

export const PageContext = createContext<PageState | null>(null);

/** The state of the page; only below its provider. */
export function usePage(): PageState {
  const state = useContext(PageContext);
  if (state === null) throw new Error("there is no page around this component");
  return state;
}
