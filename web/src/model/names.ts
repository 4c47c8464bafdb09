// SPDX-License-Identifier: Apache-2.0

// What a name is called where there is little room for it: first what it is itself, then what tells
// it from others of that name, and its scopes last.

/** A label in parts: the scopes before the name, the name itself, and what it is made with. */
export interface NameParts {
  readonly scopes: string;
  readonly base: string;
  readonly rest: string;
}

const ANONYMOUS = "(anonymous namespace)";

/** LABEL, which may be of a function; other texts are a base alone. */
export function partsOf(label: string): NameParts {
  const whole = { scopes: "", base: label, rest: "" };
  let base = 0;
  let rest = -1;
  let depth = 0;
  for (let i = 0; i < label.length; i++) {
    const c = label[i]!;
    if (c === "<" && !/\boperator<?$/.test(label.slice(base, i))) {
      if (depth++ === 0 && rest < 0) rest = i;
    } else if (c === ">" && depth > 0) depth--;
    else if (depth > 0) continue;
    else if (label.startsWith("::", i) && i > base && i + 2 < label.length) {
      base = i + 2;
      rest = -1;
      i++;
    } else if (label.startsWith(ANONYMOUS, i)) i += ANONYMOUS.length - 1;
    else if (rest < 0 && !/[\w$~.@#-]/.test(c)) return whole;
  }
  if (rest === base) return whole;
  const end = rest < 0 ? label.length : rest;
  return {
    scopes: label.slice(0, base),
    base: label.slice(base, end),
    rest: label.slice(end),
  };
}

/** LABEL without the first of its scopes; the same: it has none. */
function withoutScope(label: string): string {
  const { scopes } = partsOf(label);
  if (scopes === "") return label;
  let depth = 0;
  for (let i = 0; i < scopes.length; i++) {
    if (scopes[i] === "<") depth++;
    else if (scopes[i] === ">") depth--;
    else if (depth === 0 && scopes.startsWith("::", i)) return label.slice(i + 2);
  }
  return label;
}

/** LABEL without as many of its scopes as it takes for FITS, or without all of them. */
export function fitScopes(label: string, fits: (text: string) => boolean): string {
  let text = label;
  while (!fits(text)) {
    const shorter = withoutScope(text);
    if (shorter === text) return text;
    text = shorter;
  }
  return text;
}

/** NAME in at most MOST characters: scopes give way first; then its middle is cut, as both ends tell
 * names apart, but not what it is itself. */
export function shorten(name: string, most = 56): string {
  const text = fitScopes(name.replace(/\s+/g, " "), (some) => some.length <= most);
  if (text.length <= most) return text;
  const { base, rest } = partsOf(text);
  const own = rest === "" ? 0 : Math.min(base.length + 1, most - 9);
  const head = Math.max(Math.ceil((most - 1) * 0.6), own);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}

/** Where TEXTS begin to differ. */
function differenceOf([first, ...others]: readonly string[]): number {
  let at = 0;
  while (others.every((text) => at < text.length && text[at] === first?.[at])) at++;
  return at;
}

/** How much of the word in which texts differ is shown before that place. */
const MOST_OF_WORD = 8;

/** TEXTS, which differ, so that they look so in MOST characters: how each begins, and what it has from
 * where they part. */
function apart(texts: readonly string[], most: number): string[] {
  const at = differenceOf(texts);
  const text = texts[0]!;
  let start = at;
  while (start > at - MOST_OF_WORD && start > 0 && /[a-z0-9]/i.test(text[start - 1]!)) start--;
  const labels = texts.map((one) => {
    const left = most - 2 - (one.length - start);
    const head = Math.min(start, Math.max(Math.floor(most * 0.4), left));
    const rest = one.slice(start, start + most - head - 2);
    const isEnd = start + rest.length === one.length;
    return `${one.slice(0, head)}${start > head ? "…" : ""}${rest}${isEnd ? "" : "…"}`;
  });
  return separate(texts, labels, (some) => (some.length < texts.length ? apart(some, most) : some));
}

/** LABELS of TEXTS; where different texts have the same one, those that AGAIN makes of them. */
function separate(
  texts: readonly string[],
  labels: readonly string[],
  again: (texts: readonly string[]) => readonly string[],
): string[] {
  const by = new Map<string, Set<string>>();
  for (const [i, label] of labels.entries())
    by.set(label, (by.get(label) ?? new Set()).add(texts[i]!));
  const found = new Map<string, string>();
  for (const group of by.values()) {
    const some = [...group];
    if (some.length > 1) for (const [i, label] of again(some).entries()) found.set(some[i]!, label);
  }
  return labels.map((label, i) => found.get(texts[i]!) ?? label);
}

/** NAMES in at most MOST characters, as charts and lists have them: different ones look different. */
export function labelsOf(names: readonly string[], most: number): string[] {
  const texts = names.map((text) => text.replace(/\s+/g, " "));
  const short = texts.map((text) => shorten(text, most));
  return separate(texts, short, (some) => apart(some, most));
}

const MOST_IN_CHART = 44;
/** Sizes and operators have narrow letters. */
const MOST_WITH_TAIL = 50;
const MOST_BESIDE = 22;

/** The labels of rows of a chart: NAMES, and beside them the TAILS that tell rows of one name apart. */
export function rowLabels(names: readonly string[], tails: readonly string[]): string[] {
  const whole = labelsOf(names, MOST_IN_CHART);
  const beside = labelsOf(names, MOST_BESIDE);
  const ends = new Map<string, ReadonlyMap<string, string>>();
  for (const [i, name] of names.entries()) {
    if (ends.has(name)) continue;
    const of = [...new Set(tails.filter((_, k) => names[k] === name))];
    const room = MOST_WITH_TAIL - beside[i]!.length - 1;
    ends.set(name, new Map(labelsOf(of, room).map((label, k) => [of[k]!, label])));
  }
  return names.map((name, i) =>
    tails[i] ? `${beside[i]} ${ends.get(name)?.get(tails[i]!)}` : whole[i]!,
  );
}

/** The names that all steps of a program with PyTorch have in tables, and of one without. */
const STEPS = ["ProfilerStep*", "step"] as const;

/** The row of `ranges` and `durations` in which ranges of KIND called NAME count has one of these. */
export function countedNames(kind: string, name: string): readonly string[] {
  return kind === "step" && name.startsWith("ProfilerStep#") ? STEPS : [name];
}

/** Whether a row of KIND called NAME counts all steps. */
export function countsSteps(kind: string | undefined, name: string | undefined): boolean {
  return name === STEPS[0] || (name === STEPS[1] && kind === "step");
}
