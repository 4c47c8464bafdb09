// SPDX-License-Identifier: Apache-2.0
// The filters that the page writes itself (state/options.ts), for rows in its own file:
//     COLUMN = 'TEXT' | COLUMN like 'TEXT' | (COLUMN < N) |
//     substr(COLUMN, 1, length('TEXT') + 1) <> 'TEXT/', joined by `and`

/** Whether a text, or null where it is missing, is taken. */
export type TextTest = (text: string | null) => boolean;

export interface Term {
  readonly column: string;
  /** What the column must have. */
  readonly type: "string" | "integer";
  readonly test: TextTest;
}

const TERM = /\s*([a-z_]\w*)\s*(=|like\b)\s*'((?:[^']|'')*)'\s*(and\b|$)/iy;
const LESS = /\s*\(([a-z_]\w*) < (\d+)\)\s*(and\b|$)/iy;
const OUTSIDE =
  /\s*substr\(([a-z_]\w*), 1, length\('((?:[^']|'')*)'\) \+ 1\) <> '(?:[^']|'')*'\s*(and\b|$)/iy;

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

function unquote(text: string): string {
  return text.replace(/''/g, "'");
}

/** The term of WHERE at AT, and where the next one begins; 0: there is none. */
function termAt(where: string, at: number): { term: Term; next: number } | null {
  for (const expression of [TERM, LESS, OUTSIDE]) expression.lastIndex = at;
  const nextOf = (more: string | undefined, end: number) => (more === "" ? 0 : end);
  const plain = TERM.exec(where);
  if (plain) {
    const test = testOf(plain[2]!, unquote(plain[3]!));
    return {
      term: { column: plain[1]!, type: "string", test },
      next: nextOf(plain[4], TERM.lastIndex),
    };
  }
  const less = LESS.exec(where);
  if (less) {
    const test: TextTest = (value) => value !== null && Number(value) < Number(less[2]);
    return {
      term: { column: less[1]!, type: "integer", test },
      next: nextOf(less[3], LESS.lastIndex),
    };
  }
  const outside = OUTSIDE.exec(where);
  if (!outside) return null;
  const inside = `${unquote(outside[2]!)}/`;
  const test: TextTest = (value) => value === null || !value.startsWith(inside);
  return {
    term: { column: outside[1]!, type: "string", test },
    next: nextOf(outside[3], OUTSIDE.lastIndex),
  };
}

/** The terms of WHERE; null: it says more than the page can answer. */
export function parseWhere(where: string): readonly Term[] | null {
  const terms: Term[] = [];
  let at = 0;
  do {
    const found = termAt(where, at);
    if (found === null) return null;
    terms.push(found.term);
    at = found.next;
  } while (at > 0);
  return terms;
}
