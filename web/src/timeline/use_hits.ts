// SPDX-License-Identifier: Apache-2.0
// Where the hits of the search are: for marks on the minimap, and to count them.

import { useMemo } from "preact/hooks";
import type { ApiProblem } from "../api/api.ts";
import { whereOf } from "../model/expr.ts";
import { useTable } from "../state/answers.ts";
import { allTimeOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";

/** More hits than these are not at hand, from the time of the last one on. */
const MARKS = { offset: 0, limit: 20_000 };

export interface Hits {
  /** When the first ones start, ascending. */
  readonly starts: readonly number[];
  readonly total: number;
}

export interface Marks {
  /** Starts, ascending, at most one in each of the pixels. */
  readonly at: readonly number[];
  readonly total: number;
  /** From here on there are hits without marks; null: all have one. */
  readonly unmarkedFrom: number | null;
}

export const NO_HITS: Hits = { starts: [], total: 0 };

/** Marks for the hits: one for each width of APART ns. */
export function thin({ starts, total }: Hits, apart: number): Marks {
  const at: number[] = [];
  for (const start of starts) if (at.length === 0 || start - at.at(-1)! >= apart) at.push(start);
  return { at, total, unmarkedFrom: starts.length < total ? (starts.at(-1) ?? 0) : null };
}

interface Searched {
  /** null: nothing is searched, or they are not known. */
  readonly hits: Hits | null;
  /** Why they are not: those of the search before are none of this one. */
  readonly problem: ApiProblem | null;
}

/** The hits of what is searched. */
export function useHits(): Searched {
  const { place } = usePage();
  const { q } = place.value;
  const options = {
    ...allTimeOptions(place.value),
    where: whereOf("name", q),
    sort: "start_ns:asc",
    columns: "start_ns",
  };
  const { frame, problem } = useTable(q !== "" ? "events" : null, options, MARKS);
  const hits = useMemo(() => {
    if (frame === null || problem !== null || q === "") return null;
    const starts = frame.map((row) => frame.at(row, "start_ns") ?? 0);
    return { starts, total: frame.rows };
  }, [frame, problem, q]);
  return { hits, problem };
}
