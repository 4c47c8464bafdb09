// SPDX-License-Identifier: Apache-2.0
// The filters that the page writes itself (state/options.ts), for rows in its own file:
//     COLUMN = 'TEXT' | COLUMN like 'TEXT' | COLUMN like 'TEXT' escape '\' | (COLUMN < N) |
//     substr(COLUMN, 1, length('TEXT') + 1) <> 'TEXT/', joined by `and`, or some of them by `or`, in
//     parentheses or alone

/** Whether a text, or null where it is missing, is taken. */
export type TextTest = (text: string | null) => boolean;

export interface Term {
  readonly column: string;
  /** What the column must have. */
  readonly type: "string" | "integer";
  readonly test: TextTest;
}

const TERM = /\s*([a-z_]\w*)\s*(=|like\b)\s*'((?:[^']|'')*)'\s*(escape '\\')?/iy;
const LESS = /\s*\(([a-z_]\w*) < (\d+)\)/iy;
const OUTSIDE = /\s*substr\(([a-z_]\w*), 1, length\('((?:[^']|'')*)'\) \+ 1\) <> '(?:[^']|'')*'/iy;

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

/** Each kind of term, and what its groups say. */
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

/** Reads WHERE from its first character on. */
class Reader {
  private at = 0;
  private readonly where: string;

  constructor(where: string) {
    this.where = where;
  }

  /** Whether PATTERN, which is sticky, comes next: then it has been read. */
  read(pattern: RegExp): readonly string[] | null {
    pattern.lastIndex = this.at;
    const groups = pattern.exec(this.where);
    if (groups) this.at = pattern.lastIndex;
    return groups;
  }

  term(): Term | null {
    for (const { pattern, term } of KINDS) {
      const groups = this.read(pattern);
      if (groups) return term(groups);
    }
    return null;
  }

  /** Terms with `or` between them; null: there is none, or something else. */
  any(): Term[] | null {
    const terms: Term[] = [];
    do {
      const term = this.term();
      if (term === null) return null;
      terms.push(term);
    } while (this.read(/\s*or\b/iy));
    return terms;
  }
}

/** The terms of WHERE: of each list one must be true; null: it says more than the page can answer. */
export function parseWhere(where: string): readonly (readonly Term[])[] | null {
  const all: Term[][] = [];
  const reader = new Reader(where);
  do {
    // A comparison with a number has parentheses of its own.
    const term = reader.term();
    const isAlone = term !== null;
    if (!isAlone && !reader.read(/\s*\(/y)) return null;
    if (isAlone && (all.length > 0 || !reader.read(/\s*or\b/iy))) {
      all.push([term]);
      continue;
    }
    const others = reader.any();
    if (others === null) return null;
    if (isAlone) return reader.read(/\s*$/y) ? [[term, ...others]] : null;
    if (!reader.read(/\s*\)/y)) return null;
    all.push(others);
  } while (reader.read(/\s*and\b/iy));
  return reader.read(/\s*$/y) ? all : null;
}
