// SPDX-License-Identifier: Apache-2.0
// What is searched in the timeline, how often it is there, and which of the hits is selected.

import type { EventDetail, Timeline } from "../api/api.ts";
import { whereOf } from "../model/expr.ts";
import { takeKey } from "../model/key_list.ts";
import { format } from "../model/units.ts";
import { useTable } from "../state/answers.ts";
import { goToHit, mayBeHit } from "../state/hits.ts";
import { allTimeOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { type Hits, NO_HITS } from "../timeline/use_hits.ts";
import { SEARCH_KEYS } from "./search_keys.ts";

const ONE = { offset: 0, limit: 1 };

/** Which of HITS the event of DETAIL is, from 1 on; 0: it is none, or that is not known yet. */
function useNth(detail: EventDetail | null, { starts, total }: Hits): number {
  const { place } = usePage();
  const { q } = place.value;
  const start = detail?.start_ns ?? -1;
  const mayBe = detail !== null && q !== "" && mayBeHit(q, detail.name);
  // Only the first hits are at hand: the server knows how many there are until a later one.
  const isLate = mayBe && starts.length < total && start >= (starts.at(-1) ?? 0);
  const where = `(${whereOf("name", q)}) AND start_ns <= ${start}`;
  const options = { ...allTimeOptions(place.value), where, sort: "start_ns", columns: "start_ns" };
  const { frame } = useTable(isLate ? "events" : null, options, ONE);
  if (!mayBe) return 0;
  if (!isLate) return starts.includes(start) ? starts.filter((at) => at <= start).length : 0;
  return frame !== null && frame.n > 0 && frame.at(0, "start_ns") === start ? frame.rows : 0;
}

/** "3 of 390", or "390 hits" where none is selected. */
function countOf(nth: number, total: number): string {
  if (nth > 0) return `${format(nth, null)} of ${format(total, null)}`;
  return total === 1 ? "1 hit" : `${format(total, null)} hits`;
}

interface TraceSearchProps {
  readonly timeline: Timeline;
  readonly detail: EventDetail | null;
  /** null: nothing is searched, or they are not known yet. */
  readonly hits: Hits | null;
  /** What is wrong with what is searched; null: nothing. */
  readonly wrong: string | null;
}

/** The field: Enter goes to the next hit, with Shift to the one before. */
export function TraceSearch({ timeline, detail, hits, wrong }: TraceSearchProps) {
  const page = usePage();
  const place = page.place.value;
  const nth = useNth(detail, hits ?? NO_HITS);
  const go = (delta: 1 | -1) => {
    const start = (place.w?.from ?? timeline.from_ns) - (delta > 0 ? 1 : 0);
    goToHit(page, timeline, detail?.start_ns ?? start, delta).catch((cause: unknown) => {
      page.notice.value = String(cause);
    });
  };
  return (
    <>
      <input
        type="search"
        id="search"
        placeholder="search: text, /regex/, =EXPR"
        size={28}
        title="Text, /regex/, or = and an expression of --where; Enter: the next hit, Shift+Enter: the one before"
        aria-label="Search names"
        aria-invalid={wrong === null ? undefined : true}
        value={place.q}
        onInput={(event) => page.go({ q: event.currentTarget.value }, "replace")}
        onKeyDown={(event) => takeKey(SEARCH_KEYS, { go }, event)}
      />
      {wrong !== null && (
        <output class="wrong" title={wrong}>
          wrong
        </output>
      )}
      {hits !== null && (
        <output class="muted" title="Enter: the next one; Shift+Enter: the one before">
          {countOf(nth, hits.total)}
        </output>
      )}
    </>
  );
}
