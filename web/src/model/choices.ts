// SPDX-License-Identifier: Apache-2.0
// What the pickers of the control panel offer: runs, ranks and spans, and what was not taken.

import type { InfoTable, RunState, RunsAnswer } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";

export interface Choice {
  /** What is chosen; "": all. */
  readonly value: string;
  readonly title: string;
  /** More about it. */
  readonly about: string;
}

type Row = Readonly<Record<string, string | number | boolean | null>>;

export function rowsOf(table: InfoTable | null | undefined): Row[] {
  return (table?.rows ?? []).map((row) =>
    Object.fromEntries((table?.columns ?? []).map((c, i) => [c.name, row[i] ?? null])),
  );
}

const STATES: Readonly<Record<RunState["state"], string>> = {
  idle: "not read yet",
  waiting: "waits",
  loading: "is read",
  ready: "",
  failed: "could not be read",
};

export function runChoices(runs: readonly RunState[]): Choice[] {
  return runs.map((run) => ({
    value: run.name,
    title: run.name,
    about: [STATES[run.state], run.message ?? ""].filter((text) => text !== "").join(": "),
  }));
}

/** What files of run RUN there are; NAME: rank or span. Values are in order, each once. */
function valuesOf(answer: RunsAnswer | null, run: string, name: "rank" | "span"): Choice[] {
  const found = new Map<number, { times: string[]; workers: Set<string> }>();
  for (const row of rowsOf(answer?.runs)) {
    const value = row[name];
    if (typeof value !== "number" || (row.run !== null && row.run !== run && run !== "")) continue;
    const known = found.get(value) ?? { times: [], workers: new Set() };
    if (typeof row.time === "string") known.times.push(row.time);
    if (typeof row.worker === "string") known.workers.add(row.worker);
    found.set(value, known);
  }
  return [...found]
    .sort(([a], [b]) => a - b)
    .map(([value, { times, workers }]) => ({
      value: String(value),
      title: String(value),
      about:
        name === "rank"
          ? [...workers].slice(0, 2).join(", ")
          : times.length === 0
            ? ""
            : `${times.sort()[0]} UTC`,
    }));
}

const ALL: Choice = { value: "", title: "all", about: "" };

/** RANKS: those that the table `ranks` has, for runs that are no log directory. */
export function rankChoices(
  answer: RunsAnswer | null,
  run: string,
  ranks: readonly string[],
): Choice[] {
  const named = valuesOf(answer, run, "rank");
  if (named.length > 0) return [ALL, ...named];
  return [ALL, ...ranks.map((value) => ({ value, title: value, about: "" }))];
}

export function spanChoices(answer: RunsAnswer | null, run: string): Choice[] {
  return [ALL, ...valuesOf(answer, run, "span")];
}

/** Under which Kineto writes what is about the profile. */
const NO_PROCESS = new Set(["", "Spans", "Traces"]);

/** The processes with threads that TRACKS, of the table of that name, has: [all], if ranks have no
 * more than one each. */
export function processChoices(tracks: Frame<"tracks"> | null): Choice[] {
  const found = new Map<string, Choice>();
  const ranks = new Set<string>();
  for (let row = 0; tracks !== null && row < tracks.n; row++) {
    if (tracks.text(row, "kind") !== "thread") continue;
    const value = tracks.text(row, "parent");
    if (NO_PROCESS.has(value)) continue;
    ranks.add(tracks.text(row, "rank"));
    found.set(value, { value, title: value, about: tracks.text(row, "process_name") });
  }
  return found.size <= ranks.size ? [ALL] : [ALL, ...found.values()];
}

/** What was found and not taken, and why. */
export function leftOut(answer: RunsAnswer | null): string[] {
  const files = rowsOf(answer?.runs)
    .filter((row) => typeof row.left_out === "string")
    .map((row) => `${String(row.file).split("/").pop()}: ${row.left_out}`);
  return [...files, ...(answer?.notes ?? "").split("\n").filter((l) => l.trim() !== "")];
}

/** Those of CHOICES that TEXT finds; ranges such as 0-3 are taken as they are. */
export function findChoices(choices: readonly Choice[], text: string): Choice[] {
  const words = text.trim().toLowerCase();
  if (words === "") return [...choices];
  return choices.filter((c) => `${c.title} ${c.about}`.toLowerCase().includes(words));
}
