// SPDX-License-Identifier: Apache-2.0
// The bars of the step strip: one for each step, or, where there are more steps than bars fit, one
// for several that follow each other, as high as the longest of them.

import type { Frame } from "../api/cols.ts";
import { CATEGORIES, type Category } from "./categories.ts";
import { formatTime } from "./units.ts";

export interface StripPart {
  readonly fill: Category;
  /** In the unit of the bar's height. */
  readonly size: number;
}

export interface StripBar {
  /** What the bar stands for, as a person reads it. */
  readonly title: string;
  /** The first and last of what it stands for: words of --steps, or ns from the origin. */
  readonly first: string;
  readonly last: string;
  readonly height: number;
  readonly parts: readonly StripPart[];
  readonly isMarked: boolean;
  /** The annotation of the longest step, which its device work may outlast; 0: not known. */
  readonly annotation?: number;
  /** How many steps are in no average. */
  readonly left?: number;
}

interface Step {
  readonly word: string;
  /** The row of the rank on which it took longest. */
  row: number;
  total: number;
  isOutlier: boolean;
  isKept: boolean;
}

/** The step of ROW as --steps has it. */
export function wordOf(frame: Frame<"steps">, row: number): string {
  const label = frame.text(row, "label");
  return /^\d+$/.test(label) ? label : `@${frame.text(row, "step")}`;
}

/** Whether FRAME has steps that the program named; without, a trace counts as one. */
export function hasSteps(frame: Frame<"steps">): boolean {
  for (let row = 0; row < frame.n; row++)
    if (frame.text(row, "thread") !== "" || frame.at(row, "step") !== 0) return true;
  return false;
}

/** The steps of FRAME in its order, each once, also if several ranks have it. */
function stepsOf(frame: Frame<"steps">): Step[] {
  const steps = new Map<string, Step>();
  for (let row = 0; row < frame.n; row++) {
    const key = `${frame.text(row, "span")}/${frame.text(row, "step")}`;
    const total = frame.at(row, "total_ns") ?? 0;
    const isOutlier = frame.value(row, frame.index("outlier")) === true;
    const step = steps.get(key);
    const isKept = frame.value(row, frame.index("kept")) !== false;
    if (step === undefined)
      steps.set(key, { word: wordOf(frame, row), row, total, isOutlier, isKept });
    else {
      step.isKept &&= isKept;
      if (total > step.total) Object.assign(step, { row, total });
      step.isOutlier ||= isOutlier;
    }
  }
  return [...steps.values()];
}

/** How many steps FRAME has, each once, also if several ranks have it. */
export function countSteps(frame: Frame<"steps">): number {
  return stepsOf(frame).length;
}

function nameOf(frame: Frame<"steps">, step: Step): string {
  const rank = frame.text(step.row, "rank");
  return rank === "" ? `step ${step.word}` : `rank ${rank}, step ${step.word}`;
}

/** GROUPS of at most SIZE neighbours of ITEMS. */
function groups<T>(items: readonly T[], size: number): T[][] {
  const found: T[][] = [];
  for (let i = 0; i < items.length; i += size) found.push(items.slice(i, i + size));
  return found;
}

/** At most MOST bars for the rows of FRAME, which is of the table `steps`. */
export function stepBars(frame: Frame<"steps">, most: number): StripBar[] {
  const steps = stepsOf(frame);
  return groups(steps, Math.max(1, Math.ceil(steps.length / most))).map((group) => {
    const longest = group.reduce((a, b) => (b.total > a.total ? b : a));
    const [first, last] = [group[0]!.word, group[group.length - 1]!.word];
    const time = `${nameOf(frame, longest)}: ${formatTime(longest.total)}`;
    const isMarked = group.some((step) => step.isOutlier);
    return {
      title: `${group.length > 1 ? `steps ${first} to ${last}, the longest ${time}` : time}${
        isMarked ? ", an outlier" : ""
      }`,
      first,
      last,
      height: longest.total,
      parts: CATEGORIES.map((fill) => ({
        fill,
        size: frame.at(longest.row, `${fill}_ns`) ?? 0,
      })),
      isMarked,
      annotation: frame.at(longest.row, "annotation_ns") ?? 0,
      left: group.filter((step) => !step.isKept).length,
    };
  });
}

/** The same for the table `utilization`: how busy the devices were, on average. */
export function useBars(frame: Frame<"utilization">, most: number): StripBar[] {
  const parts = new Map<number, { sum: number; n: number; to: number }>();
  for (let row = 0; row < frame.n; row++) {
    const from = frame.at(row, "start_ns") ?? 0;
    const part = parts.get(from) ?? { sum: 0, n: 0, to: from };
    part.sum += frame.at(row, "utilization_ratio") ?? 0;
    part.n++;
    part.to = Math.max(part.to, from + (frame.at(row, "dur_ns") ?? 0));
    parts.set(from, part);
  }
  const times = [...parts].sort(([a], [b]) => a - b);
  return groups(times, Math.max(1, Math.ceil(times.length / most))).map((group) => {
    const sum = group.reduce((all, [, part]) => all + part.sum, 0);
    const n = group.reduce((all, [, part]) => all + part.n, 0);
    const [from, to] = [group[0]![0], group[group.length - 1]![1].to];
    const use = sum / n;
    return {
      title: `${formatTime(from)} to ${formatTime(to)}: ${(100 * use).toFixed(1)} % busy`,
      first: String(from),
      last: String(to),
      height: use,
      parts: [{ fill: "kernel", size: use }],
      isMarked: false,
    };
  });
}

/** When the steps of FRAME, which is of the table `steps`, were: at most MOST spans of neighbours. */
export function stepSpans(frame: Frame<"steps">, most: number): { from: number; to: number }[] {
  const spans = frame
    .map((row) => {
      const from = frame.at(row, "start_ns") ?? 0;
      return { from, to: from + (frame.at(row, "total_ns") ?? 0) };
    })
    .sort((a, b) => a.from - b.from);
  return groups(spans, Math.max(1, Math.ceil(spans.length / most))).map((group) => ({
    from: group[0]!.from,
    to: Math.max(...group.map(({ to }) => to)),
  }));
}

/** The height of a full bar: of BARS the highest, but no more than thrice the middle one, so that
 * one long step leaves the others to be seen. */
export function fullHeight(bars: readonly StripBar[]): number {
  const heights = bars.map((bar) => bar.height).sort((a, b) => a - b);
  const most = heights[heights.length - 1] ?? 0;
  const middle = heights[heights.length >> 1] ?? 0;
  return (middle > 0 ? Math.min(most, 3 * middle) : most) || 1;
}

/** From the first step of one bar to the last of the other, as --steps has it. */
export function stepsBetween(a: string, b: string): string {
  return a === b ? a : `${a}-${b}`;
}

/** Which of BARS the word STEPS of --steps selects. */
export function selectedBars(bars: readonly StripBar[], steps: string): boolean[] {
  const found = bars.map(() => false);
  for (const word of steps.split(",").filter((part) => part !== "")) {
    const [from = "", to = from] = word.split("-");
    const first = bars.findIndex((bar) => isWithin(from, bar));
    const last = bars.findIndex((bar) => isWithin(to, bar));
    if (first >= 0 && last >= 0) found.fill(true, Math.min(first, last), Math.max(first, last) + 1);
  }
  return found;
}

function isWithin(word: string, bar: StripBar): boolean {
  if (word.startsWith("@") !== bar.first.startsWith("@")) return false;
  const number = (text: string) => Number(text.replace("@", ""));
  return number(word) >= number(bar.first) && number(word) <= number(bar.last);
}
