// SPDX-License-Identifier: Apache-2.0
// The steps, on every view: a stacked bar for each; a click selects it for all views.

import { useEffect } from "preact/hooks";
import type { Frame } from "../api/cols.ts";
import { CATEGORIES } from "../model/categories.ts";
import type { StepWord } from "../model/matches.ts";
import { formatTime } from "../model/units.ts";
import { useTable } from "../state/answers.ts";
import { selectionOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";

const HEIGHT = 36;
const MOST = 2000;

/** The step of ROW as --steps has it. */
function wordOf(frame: Frame, row: number): string {
  const label = frame.text(row, "label");
  return label === "" ? `@${frame.text(row, "step")}` : label;
}

/** All steps of FRAME once, in its order, also if several ranks have them. */
function wordsOf(frame: Frame): StepWord[] {
  const words = new Map<string, StepWord>();
  for (let row = 0; row < frame.n; row++) {
    const word = wordOf(frame, row);
    const isOutlier = frame.value(row, frame.index("outlier")) === true;
    words.set(word, { word, isOutlier: isOutlier || words.get(word)?.isOutlier === true });
  }
  return [...words.values()];
}

function StepBar({ frame, row, largest }: { frame: Frame; row: number; largest: number }) {
  const page = usePage();
  const total = frame.at(row, "total_ns") ?? 0;
  const isOutlier = frame.value(row, frame.index("outlier")) === true;
  const word = wordOf(frame, row);
  const rank = frame.text(row, "rank");
  const name = rank === "" ? `step ${word}` : `rank ${rank}, step ${word}`;
  let y = HEIGHT;
  const parts = CATEGORIES.map((category) => {
    const ns = frame.at(row, `${category}_ns`) ?? 0;
    const height = (ns / largest) * (HEIGHT - 6);
    y -= height;
    return (
      <rect key={category} class={`fill-${category}`} x="0.1" width="0.8" y={y} height={height} />
    );
  });
  return (
    <g
      class={page.place.value.steps === word ? "step selected" : "step"}
      role="button"
      tabIndex={0}
      aria-label={`${name}, ${formatTime(total)}${isOutlier ? ", an outlier" : ""}`}
      transform={`translate(${row} 0)`}
      onClick={() => page.go({ steps: page.place.value.steps === word ? "" : word })}
      onKeyDown={(event) => {
        if (event.key === "Enter") page.go({ steps: word });
      }}
    >
      <title>{`${name}: ${formatTime(total)}`}</title>
      <rect
        class="target"
        x="0"
        width="1"
        y="0"
        height={HEIGHT}
        vector-effect="non-scaling-stroke"
      />
      {parts}
      {isOutlier && <rect class="fill-mark" x="0.1" width="0.8" y="0" height="3" />}
    </g>
  );
}

export function StepStrip() {
  const page = usePage();
  const { steps: _, ...options } = selectionOptions({ ...page.place.value, steps: "", t: "" });
  const { frame } = useTable("steps", options, { offset: 0, limit: MOST });
  useEffect(() => {
    page.steps.value = frame === null ? [] : wordsOf(frame);
  }, [page, frame]);
  if (frame === null || frame.n === 0)
    return <section class="strip muted">{frame === null ? "" : "no steps were recorded"}</section>;
  const rows = Array.from({ length: frame.n }, (_, i) => i);
  const largest = Math.max(1, ...rows.map((row) => frame.at(row, "total_ns") ?? 0));
  const mean = rows.reduce((sum, row) => sum + (frame.at(row, "total_ns") ?? 0), 0) / frame.n;
  return (
    <section class="strip" aria-label="Steps">
      <span class="muted">
        {frame.rows} {frame.rows === 1 ? "step" : "steps"}
      </span>
      <svg
        viewBox={`0 0 ${frame.n} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="group"
        aria-label="Steps"
      >
        {rows.map((row) => (
          <StepBar key={row} frame={frame} row={row} largest={largest} />
        ))}
      </svg>
      <span>mean {formatTime(mean)}</span>
    </section>
  );
}
