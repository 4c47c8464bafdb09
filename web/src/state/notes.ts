// SPDX-License-Identifier: Apache-2.0
// Notes on times: in the address, so that a link carries them, and kept by the browser for the
// traces that they are about.

export interface Note {
  /** ns from the origin. */
  readonly at: number;
  readonly text: string;
}

/** Addresses that are longer are cut by some programs. */
const MOST_CHARACTERS = 2000;
const KEY = "opscope notes ";

/** Notes as AT~TEXT, separated by ~~; what is none is left out. */
export function parseNotes(words: string): Note[] {
  return words.split("~~").flatMap((word) => {
    const [, at = "", text = ""] = /^(\d+)~(.*)$/s.exec(word) ?? [];
    const time = Number(at);
    return at !== "" && Number.isSafeInteger(time) ? [{ at: time, text }] : [];
  });
}

/** The same as one word, in order of time; null: it is too long for an address. */
export function formatNotes(notes: readonly Note[]): string | null {
  const words = [...notes]
    .sort((a, b) => a.at - b.at)
    .map(({ at, text }) => `${at}~${text.replace(/~/g, "-")}`)
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
