// SPDX-License-Identifier: Apache-2.0
// Whether the number of the selected event still names it, after files have grown or were replaced.
// Where traces came before it, its number is another one; in another file it is not there.

import { ApiError, type EventDetail, type Timeline } from "../api/api.ts";
import { formatNotes, type Note, parseNotes } from "./notes.ts";
import type { PageState } from "./session.ts";

/** An event as it was, and the Unix time of the origin then. */
export interface Known {
  readonly event: EventDetail;
  readonly base: string | null;
}

/** When it started, whatever the origin was. */
function momentOf({ event, base }: Known): bigint {
  return BigInt(base ?? 0) + BigInt(event.start_ns);
}

/** Whether B, which was read later, is A: it may have ended meanwhile. */
export function isSame(a: Known, b: Known): boolean {
  const [was, is] = [a.event, b.event];
  return (
    was.name === is.name &&
    was.kind === is.kind &&
    was.rank === is.rank &&
    was.id === is.id &&
    (was.dur_ns === null || was.dur_ns === is.dur_ns) &&
    momentOf(a) === momentOf(b) &&
    (was.dur_ns === null || JSON.stringify(was.args) === JSON.stringify(is.args))
  );
}

/** Where KNOWN may be in TIMELINE: its old number, or that by its rank. */
export function numbersOf({ event }: Known, timeline: Timeline): number[] {
  const traces = timeline.traces.filter((trace) => trace.rank === event.rank);
  return [...new Set([event.event, ...traces.map((trace) => trace.first_event + event.id)])];
}

/** Event NUMBER of RUN as FINGERPRINT has it; null: there is none. Whatever else goes wrong says nothing
 * of it. */
async function eventOf(
  page: PageState,
  run: string,
  number: number,
  fingerprint: string,
): Promise<EventDetail | null> {
  return page.api.event(run, number, fingerprint).catch((cause: unknown) => {
    if (cause instanceof ApiError && [400, 404].includes(cause.problem.status)) return null;
    throw cause;
  });
}

/** The number that KNOWN has now; null: it is not there any more. */
export async function findAgain(
  page: PageState,
  run: string,
  known: Known,
): Promise<number | null> {
  const timeline = await page.api.timeline(run);
  for (const number of numbersOf(known, timeline)) {
    const event = await eventOf(page, run, number, timeline.fingerprint);
    if (event !== null && isSame(known, { event, base: timeline.base_ns })) return number;
  }
  return null;
}

/** Whether EVENT is what NOTE was written about. */
export function isOfNote(note: Note, event: EventDetail): boolean {
  return Math.max(0, event.start_ns) === note.at && (event.dur_ns ?? 0) === note.dur;
}

/** The notes of the address without numbers of events that are others now. */
export async function keptNotesOf(page: PageState, run: string): Promise<string> {
  const { notes } = page.place.value;
  const fingerprint = page.fingerprint.value;
  const all = await Promise.all(
    parseNotes(notes).map(async (note) => {
      if (note.event === null) return note;
      const event = await eventOf(page, run, note.event, fingerprint);
      return event !== null && isOfNote(note, event) ? note : { ...note, event: null };
    }),
  );
  return formatNotes(all) ?? notes;
}
