// SPDX-License-Identifier: Apache-2.0
// Notes on times, ranges and events: flags above the timeline, and a line to write each.

import type { ReadonlySignal } from "@preact/signals";
import { Fragment } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatTime } from "../model/units.ts";
import {
  formatNotes,
  keepNotes,
  keptNotes,
  type Note,
  noteOn,
  parseNotes,
  withNote,
} from "../state/notes.ts";
import { usePage } from "../state/session.ts";
import type { Shown } from "../state/time_window.ts";

/** Which note was added last: its field takes the keys. */
export type Fresh = Pick<Note, "at" | "dur">;

/** The notes of the page, and how to change them. */
export function useNotes() {
  const page = usePage();
  const [fresh, setFresh] = useState<Fresh | null>(null);
  const words = page.place.value.notes;
  const fingerprint = page.fingerprint.value;
  useEffect(() => {
    if (fingerprint === "") return;
    const kept = words === "" ? keptNotes(window, fingerprint) : "";
    if (kept !== "") page.go({ notes: kept }, "replace");
    // Only when a page is opened: what is taken away later stays away.
  }, [page, fingerprint]);
  const change = (notes: readonly Note[]) => {
    const next = formatNotes(notes);
    if (next === null) {
      page.notice.value = "these notes are too long for an address";
      return;
    }
    keepNotes(window, fingerprint, next);
    page.go({ notes: next }, "replace");
  };
  const notes = parseNotes(words);
  const addNote = (where: Parameters<typeof noteOn>[0]) => {
    const note = noteOn(where);
    change(withNote(notes, note));
    setFresh(note);
  };
  return { notes, changeNotes: change, addNote, fresh };
}

const MOST_WIDTH = 160;
/** Less has no room for the flag itself. */
const LEAST_WIDTH = 12;

/** A flag for each of NOTES that is in what is SHOWN; none reaches the next one. */
export function Flags({ notes, shown }: FlagsProps) {
  const { viewport: view, width } = shown.value;
  if (width === 0 || notes.length === 0) return null;
  return (
    <div class="tl-flags" aria-hidden="true">
      {notes.map((note, i) => {
        const x = view.x(note.at);
        const next = notes[i + 1];
        const room = next === undefined ? MOST_WIDTH : view.x(next.at) - x - 1;
        return view.x(note.at + note.dur) < -1 || x > width ? null : (
          <Fragment key={`${note.at}+${note.dur}`}>
            {room >= LEAST_WIDTH && (
              <span style={{ left: `${x}px`, maxWidth: `${Math.min(MOST_WIDTH, room)}px` }}>
                ⚑ {note.text}
              </span>
            )}
            {note.dur > 0 && (
              <i class="range" style={{ left: `${x}px`, width: `${note.dur / view.nsPerPx}px` }} />
            )}
          </Fragment>
        );
      })}
    </div>
  );
}

interface FlagsProps {
  readonly notes: readonly Note[];
  readonly shown: ReadonlySignal<Shown>;
}

interface NotesProps {
  readonly notes: readonly Note[];
  readonly fresh: Fresh | null;
  onChange(notes: readonly Note[]): void;
  onShow(note: Note): void;
}

/** What NOTE is about, as a person reads it. */
function placeOf({ at, dur, event }: Note): string {
  const range = dur > 0 ? `${formatTime(at)}, ${formatTime(dur)} long` : formatTime(at);
  return event === null ? range : `event at ${range}`;
}

export function NoteLines({ notes, fresh, onChange, onShow }: NotesProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, [fresh]);
  if (notes.length === 0) return null;
  return (
    <ul class="notes" aria-label="Notes">
      {notes.map((note) => {
        const others = notes.filter((one) => one !== note);
        return (
          <li key={`${note.at}+${note.dur}`}>
            <button type="button" class="plain" onClick={() => onShow(note)}>
              ⚑ {placeOf(note)}
            </button>
            <input
              ref={note.at === fresh?.at && note.dur === fresh.dur ? field : null}
              onKeyDown={(event) => {
                if (event.key === "Enter") event.currentTarget.blur();
              }}
              aria-label={`Note at ${placeOf(note)}`}
              value={note.text}
              onChange={(event) =>
                onChange([...others, { ...note, text: event.currentTarget.value }])
              }
            />
            <button type="button" class="plain" onClick={() => onChange(others)}>
              remove
            </button>
          </li>
        );
      })}
    </ul>
  );
}
