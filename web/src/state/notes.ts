// SPDX-License-Identifier: Apache-2.0
// Notes on times, ranges and events: in the address, so that a link carries them, and kept by the browser for the
// traces that they are about.

export interface Note {
  /** ns from the origin. */
  readonly at: number;
  /** How long what it is about takes; 0: it is about a time. */
  readonly dur: number;
  /** The event that it is about; null: none. */
  readonly event: number | null;
  readonly text: string;
}

/** Addresses that are longer are cut by some programs. */
const MOST_CHARACTERS = 2000;
const KEY = "opscope notes ";

/** Notes as AT~TEXT, AT+DUR~TEXT or AT+DUR@EVENT~TEXT, separated by ~~; what is none is left out. */
export function parseNotes(words: string): Note[] {
  return words.split("~~").flatMap((word) => {
    const parts = /^(\d+)(?:[+ ](\d+)(?:@(\d+))?)?~(.*)$/s.exec(word);
    if (parts === null) return [];
    const [, at, dur = "0", event, text = ""] = parts;
    const note = {
      ...{ at: Number(at), dur: Number(dur), text },
      event: event === undefined ? null : Number(event),
    };
    return Number.isSafeInteger(note.at + note.dur) ? [note] : [];
  });
}

function whereOf({ at, dur, event }: Note): string {
  if (event !== null) return `${at}+${dur}@${event}`;
  return dur > 0 ? `${at}+${dur}` : String(at);
}

/** A new note on what WHERE says. */
export function noteOn(where: { from: number; to: number; event: number | null }): Note {
  const at = Math.max(0, where.from);
  return { at, dur: Math.max(0, where.to - at), event: where.event, text: "note" };
}

/** NOTES and NOTE, if they have none on the same. */
export function withNote(notes: readonly Note[], note: Note): readonly Note[] {
  return notes.some((one) => whereOf(one) === whereOf(note)) ? notes : [...notes, note];
}

/** The same as one word, in order of time; null: it is too long for an address. */
export function formatNotes(notes: readonly Note[]): string | null {
  const words = [...notes]
    .sort((a, b) => a.at - b.at)
    .map((note) => `${whereOf(note)}~${note.text.replace(/~/g, "-")}`)
    .join("~~");
  return words.length > MOST_CHARACTERS ? null : words;
}

/** What WINDOW's browser keeps about traces with FINGERPRINT; "": nothing, or it may not. */
export function keptNotes(window: Window, fingerprint: string): string {
  try {
    return window.localStorage.getItem(KEY + fingerprint) ?? "";
  } catch {
    return "";
  }
}

export function keepNotes(window: Window, fingerprint: string, words: string): void {
  try {
    if (words === "") window.localStorage.removeItem(KEY + fingerprint);
    else window.localStorage.setItem(KEY + fingerprint, words);
  } catch {
    // The address has them.
  }
}
