// SPDX-License-Identifier: Apache-2.0
// Where the hits of the search are, for marks on the minimap.

import { useMemo } from "preact/hooks";
import { useTable } from "../state/answers.ts";
import { allTimeOptions, whereOf } from "../state/options.ts";
import { usePage } from "../state/session.ts";

/** More hits than these have no marks, from the time of the last mark on. */
const MARKS = { offset: 0, limit: 20_000 };

export interface Hits {
  /** Starts, ascending, at most one in each of the pixels. */
  readonly at: readonly number[];
  readonly total: number;
  /** From here on there are hits without marks; null: all have one. */
  readonly unmarkedFrom: number | null;
}

const NO_HITS: Hits = { at: [], total: 0, unmarkedFrom: null };

/** STARTS, ascending, of the TOTAL hits: one for each width of APART ns. */
export function thin(starts: readonly number[], total: number, apart: number): Hits {
  const at: number[] = [];
  for (const start of starts) if (at.length === 0 || start - at.at(-1)! >= apart) at.push(start);
  return { at, total, unmarkedFrom: starts.length < total ? (starts.at(-1) ?? 0) : null };
}

/** The hits of what is searched, no closer than APART ns; if not ISWANTED, none. */
export function useHits(isWanted: boolean, apart: number): Hits {
  const { place } = usePage();
  const { q } = place.value;
  const options = {
    ...allTimeOptions(place.value),
    where: whereOf("name", q),
    sort: "start_ns:asc",
    columns: "start_ns",
  };
  const { frame } = useTable(isWanted && q !== "" ? "events" : null, options, MARKS);
  return useMemo(() => {
    if (frame === null || q === "") return NO_HITS;
    const starts = Array.from({ length: frame.n }, (_, row) => frame.at(row, "start_ns") ?? 0);
    return thin(starts, frame.rows, apart);
  }, [frame, q, apart]);
}
