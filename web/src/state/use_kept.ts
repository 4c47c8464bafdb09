// SPDX-License-Identifier: Apache-2.0
// After files have changed: keep what is selected if it is still there, or say that it is not.

import { useEffect, useRef } from "preact/hooks";
import type { EventDetail, Timeline } from "../api/api.ts";
import type { Asked } from "./asked.ts";
import { selectedEvent } from "./explain.ts";
import { findAgain, type Known, keptNotesOf } from "./kept_event.ts";
import { type PageState, usePage } from "./session.ts";

const GONE = "its file was replaced: the event that was selected is not there any more";

/** Let the address have what is left of KNOWN. */
async function keep(page: PageState, run: string, known: Known | null): Promise<void> {
  const before = page.place.value;
  const notes = await keptNotesOf(page, run);
  if (page.place.value.notes === before.notes && notes !== before.notes)
    page.go({ notes }, "replace");
  if (known === null) return;
  const number = await findAgain(page, run, known);
  // Another one may have been selected meanwhile.
  if (selectedEvent(page.place.value) !== known.event.event || number === known.event.event) return;
  page.go({ sel: number === null ? "" : `ev:${number}` }, "replace");
  if (number === null) page.foreign.value = GONE;
}

export function useKept(run: string, detail: Asked<EventDetail>, timeline: Asked<Timeline>): void {
  const page = usePage();
  const fingerprint = page.fingerprint.value;
  const known = useRef<Known | null>(null);
  const seen = useRef({ run, fingerprint });
  useEffect(() => {
    const before = seen.current;
    seen.current = { run, fingerprint };
    const hasChanged = before.run === run && before.fingerprint !== "" && fingerprint !== "";
    if (!hasChanged || before.fingerprint === fingerprint) return;
    keep(page, run, known.current).catch((cause: unknown) => {
      page.notice.value = String(cause);
    });
  }, [page, run, fingerprint]);
  const event = detail.isOld ? null : detail.value;
  const base = timeline.isOld ? null : timeline.value;
  useEffect(() => {
    if (event !== null && base !== null) known.current = { event, base: base.base_ns };
    else if (selectedEvent(page.place.value) === null) known.current = null;
  }, [page, event, base]);
}
