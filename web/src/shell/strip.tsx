// SPDX-License-Identifier: Apache-2.0
// The steps, on every view, or how busy the devices were where there are none: what is taken there
// is selected for all views.

import { useEffect } from "preact/hooks";
import type { Window } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import type { StepWord } from "../model/matches.ts";
import {
  countSteps,
  hasSteps,
  type StripBar,
  selectedBars,
  stepBars,
  stepsBetween,
  useBars,
} from "../model/strip.ts";
import { formatTime } from "../model/units.ts";
import { LATER, useTable } from "../state/answers.ts";
import { isSameRange } from "../state/codec.ts";
import { allTimeOptions, mergedOptions, stepOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { StripBars } from "./strip_bars.tsx";

const MOST_ROWS = 10000;
const MOST_BARS = 240;
const AVERAGE = { offset: 0, limit: 1000 };
const ROWS = { offset: 0, limit: MOST_ROWS };

/** All steps of FRAME, for keys and commands. */
function wordsOf(frame: Frame<"steps">): StepWord[] {
  return stepBars(frame, Number.POSITIVE_INFINITY).map((bar) => ({
    word: bar.first,
    isOutlier: bar.isMarked,
  }));
}

/** The average step of what is selected: the number that the overview and its sentence have. */
function Mean() {
  const { catalog, place } = usePage();
  const table = catalog.value?.tables.find((t) => t.name === "overview");
  const options = { ...mergedOptions(place.value), ...stepOptions(place.value, table) };
  const { frame, isOld } = useTable("overview", options, AVERAGE, LATER);
  const mean = frame === null || frame.n === 0 ? null : frame.at(0, "avg_ns");
  return (
    <span class={isOld ? "old" : ""} {...(frame !== null && { "data-command": frame.command })}>
      {place.value.t === null ? "mean" : "range"}{" "}
      <span {...frame?.shown(0, "avg_ns")}>{mean === null ? "–" : formatTime(mean)}</span>
    </span>
  );
}

function Steps({ frame }: { frame: Frame<"steps"> }) {
  const page = usePage();
  const bars = stepBars(frame, MOST_BARS);
  const take = (first: number, last: number) => {
    const steps = stepsBetween(bars[first]!.first, bars[last]!.last);
    page.go({ steps: page.place.value.steps === steps ? "" : steps, t: null });
  };
  // Of more rows than there are here only the number of rows is known.
  const n = frame.n < frame.rows ? frame.rows : countSteps(frame);
  return (
    <section class="strip" aria-label="Steps">
      <span class="muted">
        {n} {n === 1 ? "step" : "steps"}
      </span>
      <StripBars
        label="Steps"
        bars={bars}
        selected={selectedBars(bars, page.place.value.steps)}
        onTake={take}
      />
      <Mean />
    </section>
  );
}

function selectedTimes(bars: readonly StripBar[], range: Window | null): boolean[] {
  return bars.map(
    (bar) => range !== null && Number(bar.first) < range.to && Number(bar.last) > range.from,
  );
}

function Use({ frame }: { frame: Frame<"utilization"> }) {
  const page = usePage();
  const bars = useBars(frame, MOST_BARS);
  const take = (first: number, last: number) => {
    const t = { from: Number(bars[first]!.first), to: Number(bars[last]!.last) };
    page.go({ t: isSameRange(page.place.value.t, t) ? null : t });
  };
  return (
    <section class="strip" aria-label="Use of the devices">
      <span class="muted">no steps; use of devices</span>
      <StripBars
        label="Use of the devices over time"
        bars={bars}
        selected={selectedTimes(bars, page.place.value.t)}
        onTake={take}
      />
    </section>
  );
}

export function StepStrip() {
  const page = usePage();
  const options = allTimeOptions(page.place.value);
  const table = page.catalog.value?.tables.find((t) => t.name === "steps");
  const rules = stepOptions(page.place.value, table);
  const { frame } = useTable("steps", { ...options, ...rules }, ROWS);
  const hasNone = frame !== null && !hasSteps(frame);
  const { frame: use } = useTable(hasNone ? "utilization" : null, options, ROWS);
  useEffect(() => {
    page.steps.value = frame === null || !hasSteps(frame) ? [] : wordsOf(frame);
  }, [page, frame]);
  if (frame === null) return <section class="strip muted" />;
  if (!hasNone) return <Steps frame={frame} />;
  if (use !== null && use.n > 0) return <Use frame={use} />;
  return <section class="strip muted">no steps were found</section>;
}
