// SPDX-License-Identifier: Apache-2.0
// From the files that a command names to the run, rank and span that have them. Times of a file
// alone count from its own start, those of a run from the first start of all.

import type { RunState, RunsAnswer, TraceOfRun } from "../api/api.ts";
import { optionsOf, splitWords } from "../api/shell_words.ts";
import { rowsOf } from "../model/choices.ts";
import type { Place } from "./url.ts";

export interface OpenFiles {
  readonly runs: readonly RunState[];
  /** The run that is shown, and its files; null: they are not known yet. */
  readonly run: string;
  readonly answer: RunsAnswer | null;
  readonly traces: readonly TraceOfRun[];
  /** The columns of a table that are times since the origin. */
  momentsOf(table: string): readonly string[];
}

/** Which part of what is open OPERANDS are, and when it starts. */
interface Part {
  readonly place: Partial<Place>;
  readonly start: number;
}

const WHOLE: Part = { place: {}, start: 0 };

/** Whether NAME and VALUE are an option with which a run was opened, as commands of it have. */
export function isOfRun({ runs }: OpenFiles, name: string, value: string | true): boolean {
  return runs.some((run) => {
    const options = optionsOf(run.options);
    return options[name] === value;
  });
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && [...a].sort().join("\n") === [...b].sort().join("\n");
}

/** VALUES, each once, as the command takes them; "": one is not known. */
function listOf(values: readonly unknown[]): string {
  if (values.some((value) => typeof value !== "number")) return "";
  return [...new Set(values as number[])].sort((a, b) => a - b).join(",");
}

/** Whether OPERANDS are all of a run. */
export function isWholeRun(operands: readonly string[], runs: readonly RunState[]): boolean {
  return runs.some((run) => isSame(splitWords(run.operands ?? "") ?? [], operands));
}

/** What to change so that just OPERANDS are shown; null: none of them is open. */
export function partOfOperands(operands: readonly string[], files: OpenFiles): Part | null {
  const whole = files.runs.find((run) => isSame(splitWords(run.operands ?? "") ?? [], operands));
  if (whole !== undefined)
    return {
      place: { ...(whole.name !== files.run && { run: whole.name }), rank: "", span: "" },
      start: 0,
    };
  const all = rowsOf(files.answer?.runs);
  const isOpen = operands.length === 0 || all.some((row) => operands.includes(String(row.file)));
  if (files.answer !== null && !isOpen) return null;
  const rows = all.filter((row) => typeof row.left_out !== "string");
  const named = rows.filter((row) => operands.includes(String(row.file)));
  if (operands.length === 0 || named.length !== operands.length) return WHOLE;
  const rank = listOf(named.map((row) => row.rank));
  const isOfRank = (row: (typeof rows)[number]) => rank.split(",").includes(String(row.rank));
  const needsSpan = rows.filter(isOfRank).length !== named.length;
  const span = needsSpan ? listOf(named.map((row) => row.span)) : "";
  const isIn = (row: (typeof rows)[number]) =>
    isOfRank(row) && (span === "" || span.split(",").includes(String(row.span)));
  // Ranks and spans may say more than these files.
  if (rank === "" || rows.filter(isIn).length !== named.length) return WHOLE;
  const starts = files.traces
    .filter((trace) => named.some((r) => r.rank === trace.rank && (r.span ?? 1) === trace.span))
    .flatMap((trace) => trace.from_ns ?? []);
  return { place: { rank, span }, start: starts.length > 0 ? Math.min(...starts) : 0 };
}

/** WHERE with BY added to what is compared with COLUMNS. */
export function shiftWhere(where: string, columns: readonly string[], by: number): string {
  if (by === 0 || columns.length === 0) return where;
  const name = new RegExp(`\\b(${columns.join("|")})\\b`, "g");
  return where
    .split(/('(?:[^']|'')*')/)
    .map((part, i) => (i % 2 === 1 ? part : part.replace(name, `($1 - ${by})`)))
    .join("");
}
