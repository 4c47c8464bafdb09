// SPDX-License-Identifier: Apache-2.0
// The filters that the page writes itself (state/options.ts), for rows in its own file:
//     COLUMN = 'TEXT' | COLUMN like 'TEXT' | COLUMN like 'TEXT' escape '\' | (COLUMN < N) |
//     substr(COLUMN, 1, length('TEXT') + 1) <> 'TEXT/', joined by `and`

/** Whether a text, or null where it is missing, is taken. */
export type TextTest = (text: string | null) => boolean;

export interface Term {
  readonly column: string;
  /** What the column must have. */
  readonly type: "string" | "integer";
  readonly test: TextTest;
}

const TERM = /\s*([a-z_]\w*)\s*(=|like\b)\s*'((?:[^']|'')*)'\s*(escape '\\'\s*)?(and\b|$)/iy;
const LESS = /\s*\(([a-z_]\w*) < (\d+)\)\s*(and\b|$)/iy;
const OUTSIDE =
  /\s*substr\(([a-z_]\w*), 1, length\('((?:[^']|'')*)'\) \+ 1\) <> '(?:[^']|'')*'\s*(and\b|$)/iy;

const WILDCARDS: Readonly<Record<string, string>> = { "%": ".*", _: "." };

/** C as it stands, a to z in either case. */
function literal(c: string): string {
  if (/[a-z]/i.test(c)) return `[${c.toLowerCase()}${c.toUpperCase()}]`;
  return /[\\^$.*+?()[\]{}|]/.test(c) ? `\\${c}` : c;
}

/** LIKE of SQLite: % is any text, _ any character, a to z in either case. With HASESCAPE what
 * follows a backslash stands for itself. */
export function likeTest(pattern: string, hasEscape = false): (text: string) => boolean {
  const source = pattern.replace(hasEscape ? /\\?./gsu : /./gsu, (part) =>
    hasEscape && part.length > 1 && part.startsWith("\\")
      ? literal(part.slice(1))
      : (WILDCARDS[part] ?? literal(part)),
  );
  const expression = new RegExp(`^${source}$`, "su");
  return (text) => expression.test(text);
}

function testOf(operator: string, text: string, hasEscape: boolean): TextTest {
  if (operator === "=") return (value) => value === text;
  const isLike = likeTest(text, hasEscape);
  return (value) => value !== null && isLike(value);
}

function unquote(text: string): string {
  return text.replace(/''/g, "'");
}

/** Each kind of term, and what its groups say. The last group is empty at the end. */
const KINDS: readonly {
  readonly pattern: RegExp;
  readonly term: (groups: readonly string[]) => Term;
}[] = [
  {
    pattern: TERM,
    term: ([, column, operator, text, escaping]) => ({
      ...{ column: column!, type: "string" },
      test: testOf(operator!, unquote(text!), escaping !== undefined),
    }),
  },
  {
    pattern: LESS,
    term: ([, column, most]) => ({
      ...{ column: column!, type: "integer" },
      test: (value) => value !== null && Number(value) < Number(most),
    }),
  },
  {
    pattern: OUTSIDE,
    term: ([, column, path]) => ({
      ...{ column: column!, type: "string" },
      test: (value) => value === null || !value.startsWith(`${unquote(path!)}/`),
    }),
  },
];

/** The term of WHERE at AT, and where the next one begins; 0: there is none. */
function termAt(where: string, at: number): { term: Term; next: number } | null {
  for (const { pattern, term } of KINDS) {
    pattern.lastIndex = at;
    const groups = pattern.exec(where);
    if (groups) return { term: term(groups), next: groups.at(-1) === "" ? 0 : pattern.lastIndex };
  }
  return null;
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
