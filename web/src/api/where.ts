// SPDX-License-Identifier: Apache-2.0
// The filters that the page writes itself (state/options.ts), for rows in its own file:
//     COLUMN = 'TEXT' | COLUMN like 'TEXT', joined by `and`

/** Whether a text, or null where it is missing, is taken. */
export type TextTest = (text: string | null) => boolean;

export interface Term {
  readonly column: string;
  readonly test: TextTest;
}

const TERM = /\s*([a-z_]\w*)\s*(=|like\b)\s*'((?:[^']|'')*)'\s*(and\b|$)/iy;
/** LIKE of SQLite: % is any text, _ any character, a to z in either case. */
export function likeTest(pattern: string): (text: string) => boolean {
  const source = pattern
    .replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")
    .replace(/%/g, ".*")
    .replace(/_/g, ".")
    .replace(/[a-z]/gi, (c) => `[${c.toLowerCase()}${c.toUpperCase()}]`);
  const expression = new RegExp(`^${source}$`, "su");
  return (text) => expression.test(text);
}

function testOf(operator: string, text: string): TextTest {
  if (operator === "=") return (value) => value === text;
  const isLike = likeTest(text);
  return (value) => value !== null && isLike(value);
}

/** The terms of WHERE; null: it says more than the page can answer. */
export function parseWhere(where: string): readonly Term[] | null {
  const terms: Term[] = [];
  TERM.lastIndex = 0;
  for (let more = true; more; ) {
    const match = TERM.exec(where);
    if (!match) return null;
    const test = testOf(match[2]!, match[3]!.replace(/''/g, "'"));
    terms.push({ column: match[1]!, test });
    more = match[4] !== "";
  }
  return TERM.lastIndex === where.length ? terms : null;
}
