// SPDX-License-Identifier: Apache-2.0
// What the view of the timeline asks for: the step that is selected, the command of what is in sight.

import { useMemo } from "preact/hooks";
import type { Timeline, Window } from "../api/api.ts";
import { besideMedian } from "../model/median_step.ts";
import { formatTime } from "../model/units.ts";
import { useCommand } from "../parts/section.tsx";
import { useTable } from "../state/answers.ts";
import { allTimeOptions, selectionOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import type { GhostOf } from "../timeline/ghost.ts";
import { firstWindow } from "../timeline/spans.ts";

const NOTHING = { frame: null, problem: null };
const NO_ROWS = { offset: 0, limit: 0 };
const STEPS = { offset: 0, limit: 10000 };

export interface StepShown {
  readonly focus: Window;
  readonly ghost: GhostOf | null;
  readonly text: string;
}

/** The step that is selected, and the median one as its ghost; null: none, or several, are. */
export function useStep(): StepShown | null {
  const page = usePage();
  const { steps, ghost: wish } = page.place.value;
  const isOne = /^@?\d+$/.test(steps);
  const options = allTimeOptions(page.place.value);
  const { frame } = useTable(isOne ? "steps" : null, options, STEPS);
  return useMemo(() => {
    const found = isOne && frame !== null ? besideMedian(frame, steps) : null;
    if (found === null) return null;
    const { step, median } = found;
    const focus = { from: step.from, to: step.to };
    if (median === null || wish === "off") return { focus, ghost: null, text: "" };
    const ghost = { from: median.from, to: median.to, shift: step.from - median.from };
    const longer = formatTime(step.to - step.from - (median.to - median.from));
    return { focus, ghost, text: `below: step ${median.word}, the median one (${longer})` };
  }, [isOne, frame, steps, wish]);
}

/** Let the status line have the command that lists what is in sight. */
export function useEventsCommand(timeline: Timeline | null): void {
  const { place } = usePage();
  const { w, t, q, span } = place.value;
  const window = t ?? w ?? (timeline && firstWindow(timeline, span));
  // The picture may reach before the first event; no event is there.
  const from = Math.max(0, window?.from ?? 0);
  const range = window && { from, to: Math.max(from + 1, window.to) };
  const options = selectionOptions({ ...place.value, t: range });
  const answer = useTable(timeline === null ? null : "events", options, NO_ROWS);
  const { problem } = answer;
  // A page in a file draws what it has no rows of: the command prints them nevertheless.
  const shown = problem?.code === "absent" ? { frame: problem, problem: null } : answer;
  // Of an area or a search the sheet below has the command.
  useCommand(t === null && q === "" ? shown : NOTHING);
}
