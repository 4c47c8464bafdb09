// SPDX-License-Identifier: Apache-2.0

/** NAME in at most MOST characters: its middle is cut, as both ends tell names apart. */
export function shorten(name: string, most = 56): string {
  const text = name.replace(/\s+/g, " ");
  if (text.length <= most) return text;
  const head = Math.ceil((most - 1) * 0.6);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}

/** A signature of C++ without what it returns and takes; other names stay as they are. */
export function foldKernel(name: string): string {
  if (!name.startsWith("void ")) return name;
  let depth = 0;
  for (let i = 5; i < name.length; i++) {
    const c = name[i];
    if (c === "<") depth++;
    else if (c === ">" && name[i - 1] !== "-") depth--;
    else if (c === "(" && depth === 0) {
      if (name.startsWith("(anonymous namespace)", i)) i += 20;
      else return name.slice(5, i);
    }
  }
  return name.slice(5);
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
  // Functions that differ in what they take alone keep that.
  const texts = separate(names, names.map(foldKernel), (some) => some).map((text) =>
    text.replace(/\s+/g, " "),
  );
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
