// SPDX-License-Identifier: Apache-2.0
// What the ruler of the timeline counts from, which is in the address, and its steps.

import { useEffect, useMemo } from "preact/hooks";
import type { Timeline } from "../api/api.ts";
import { stepMarks } from "../model/step_marks.ts";
import { useTable } from "../state/answers.ts";
import { allTimeOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { type Clock, FROM_ORIGIN, type StepMark } from "./ruler.ts";
import type { TimelineState } from "./timeline_state.ts";

const ROWS = { offset: 0, limit: 10000 };

/** From the step that is selected, or else from the first one. */
function clockOf(wish: string, steps: readonly StepMark[], chosen: string, unix: string | null) {
  if (wish === "wall" && unix !== null) return { origin: 0, unix: BigInt(unix) };
  const step = steps.find((one) => one.word === chosen) ?? steps[0];
  if (wish === "step" && step !== undefined) return { origin: step.from, unix: null };
  return FROM_ORIGIN;
}

export function useRuler(state: TimelineState | null, timeline: Timeline, isRun: boolean): void {
  const { place } = usePage();
  const { clock: wish, steps: chosen } = place.value;
  const { frame } = useTable(isRun ? "steps" : null, allTimeOptions(place.value), ROWS);
  const steps = useMemo(() => (frame === null ? [] : stepMarks(frame)), [frame]);
  const clock: Clock = useMemo(
    () => clockOf(wish, steps, chosen, timeline.base_ns),
    [wish, steps, chosen, timeline],
  );
  useEffect(() => {
    if (state !== null) state.ruler.value = { clock, steps };
  }, [state, clock, steps]);
}
