// SPDX-License-Identifier: Apache-2.0
// The selected event. After files have changed it stays selected if it is still there, else that it
// is not is said; until either is known what was shown of it stays.

import { useEffect, useRef, useState } from "preact/hooks";
import { type EventDetail, isChanged, type Timeline } from "../api/api.ts";
import { type Asked, NOTHING, useAsked } from "./asked.ts";
import { selectedEvent } from "./explain.ts";
import { findAgain, type Known, keptNotesOf } from "./kept_event.ts";
import { type PageState, usePage } from "./session.ts";

const GONE = "its file was replaced: the event that was selected is not there any more";

/** Let the address have what is left of KNOWN in the files that the page knows now. The result is
 * KNOWN with its number there. */
async function keep(page: PageState, run: string, known: Known | null): Promise<Known | null> {
  const fingerprint = page.fingerprint.value;
  const before = page.place.value;
  const notes = await keptNotesOf(page, run);
  if (page.fingerprint.value !== fingerprint) return known;
  if (page.place.value.notes === before.notes && notes !== before.notes)
    page.go({ notes }, "replace");
  const selected = selectedEvent(before);
  if (selected === null) return null;
  // Of one that was not shown before its files changed nothing is known.
  const number = known?.event.event === selected ? await findAgain(page, run, known) : null;
  // Another one may have been selected meanwhile.
  if (page.fingerprint.value !== fingerprint) return known;
  if (selectedEvent(page.place.value) !== selected) return known;
  if (number === null || known === null) {
    page.go({ sel: "" }, "replace");
    page.foreign.value = GONE;
    return null;
  }
  if (number !== selected) {
    page.inSight = number;
    page.go({ sel: `ev:${number}` }, "replace");
  }
  return { ...known, event: { ...known.event, event: number } };
}

/** The event that the address selects in RUN, which has TIMELINE. */
export function useKept(run: string, timeline: Asked<Timeline>): Asked<EventDetail> {
  const page = usePage();
  const fingerprint = page.fingerprint.value;
  const event = selectedEvent(page.place.value);
  const known = useRef<Known | null>(null);
  // Of which files the numbers in the address are.
  const [of, setOf] = useState({ run, fingerprint });
  const isOf = of.run === run && of.fingerprint === fingerprint;
  useEffect(() => {
    if (isOf) return;
    if (of.run !== run || of.fingerprint === "" || fingerprint === "") {
      setOf({ run, fingerprint });
      return;
    }
    const isNow = () => page.run.value === run && page.fingerprint.value === fingerprint;
    keep(page, run, known.current).then(
      (kept) => {
        if (!isNow()) return;
        known.current = kept;
        setOf({ run, fingerprint });
      },
      (cause: unknown) => {
        // They have changed again, which the page will hear of.
        if (!isNow() || isChanged(cause)) return;
        if (selectedEvent(page.place.value) !== null) page.go({ sel: "" }, "replace");
        page.notice.value = String(cause);
        setOf({ run, fingerprint });
      },
    );
  }, [page, run, fingerprint, isOf]);
  const asked = useAsked(isOf && event !== null ? ["event", run, event] : null, (signal) =>
    page.api.event(run, event!, fingerprint, signal),
  );
  const held = useRef<Asked<EventDetail>>(NOTHING);
  const isAnswered = asked.value !== null || asked.problem !== null;
  const detail = isAnswered || event === null ? asked : { ...held.current, isOld: true };
  held.current = detail;
  const shown = asked.isOld ? null : asked.value;
  const base = timeline.isOld ? null : timeline.value;
  useEffect(() => {
    if (shown !== null && base !== null) known.current = { event: shown, base: base.base_ns };
    else if (event === null) known.current = null;
  }, [page, shown, base, event]);
  return detail;
}
