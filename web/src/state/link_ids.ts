// SPDX-License-Identifier: Apache-2.0
// Ids in the address are row numbers of the traces with one fingerprint; of others they would name
// something else. Names, times and steps are words, which are good everywhere.

import { formatNotes, parseNotes } from "./notes.ts";
import type { Place } from "./url.ts";

const IS_EVENT = /^ev:/;

/** Whether PLACE has ids. */
export function hasIds(place: Place): boolean {
  return IS_EVENT.test(place.sel) || parseNotes(place.notes).some((note) => note.event !== null);
}

/** PLACE without them: its notes are about times. */
export function withoutIds(place: Place): Place {
  const notes = parseNotes(place.notes).map((note) => ({ ...note, event: null }));
  return {
    ...place,
    fp: "",
    sel: IS_EVENT.test(place.sel) ? "" : place.sel,
    notes: formatNotes(notes) ?? place.notes,
  };
}
