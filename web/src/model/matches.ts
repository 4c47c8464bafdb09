// SPDX-License-Identifier: Apache-2.0

/** Whether TEXT has each word of QUERY, in any order and case. */
export function matches(text: string, query: string): boolean {
  const low = text.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word));
}

export interface StepWord {
  /** As --steps has it. */
  readonly word: string;
  readonly isOutlier: boolean;
}

/** The step that is DELTA behind the one CURRENT; with none, the first or last. */
export function stepBeside(steps: readonly StepWord[], current: string, delta: 1 | -1): string {
  if (steps.length === 0) return "";
  const at = steps.findIndex((step) => step.word === current);
  const next = at < 0 ? (delta > 0 ? 0 : steps.length - 1) : at + delta;
  return steps[Math.min(steps.length - 1, Math.max(0, next))]!.word;
}

/** The outlier behind the step CURRENT, round the end; "": there is none. */
export function nextOutlier(steps: readonly StepWord[], current: string): string {
  const at = steps.findIndex((step) => step.word === current);
  const order = [...steps.slice(at + 1), ...steps.slice(0, at + 1)];
  return order.find((step) => step.isOutlier)?.word ?? "";
}
