// SPDX-License-Identifier: Apache-2.0
// Steps as stacked bars, with a legend that leaves parts out and brings them back.

import type { Frame } from "../api/cols.ts";
import { CATEGORIES } from "../model/categories.ts";
import { formatTime } from "../model/units.ts";
import { usePage } from "../state/session.ts";

const HEIGHT = 120;
const MOST = 300;

function nameOf(frame: Frame, row: number): string {
  const rank = frame.text(row, "rank");
  const step = frame.text(row, "label") || frame.text(row, "step");
  return `${rank === "" ? "" : `rank ${rank}, `}step ${step}`;
}

function Bar({ frame, row, shown, most }: BarProps) {
  const total = frame.at(row, "total_ns") ?? 0;
  let y = HEIGHT;
  return (
    <g transform={`translate(${row} 0)`}>
      <title>{`${nameOf(frame, row)}: ${formatTime(total)}`}</title>
      {shown.map((category) => {
        const height = ((frame.at(row, `${category}_ns`) ?? 0) / most) * HEIGHT;
        y -= height;
        return (
          <rect
            key={category}
            class={`fill-${category}`}
            x="0.1"
            width="0.8"
            y={y}
            height={height}
          />
        );
      })}
    </g>
  );
}

interface BarProps {
  readonly frame: Frame;
  readonly row: number;
  readonly shown: readonly string[];
  readonly most: number;
}

/** What is left out is in the address: hide=kernel,memcpy. */
function useHidden(): [hidden: readonly string[], toggle: (category: string) => void] {
  const page = usePage();
  const hidden = page.place.value.hide.split(",").filter((word) => word !== "");
  const toggle = (category: string) => {
    const next = hidden.includes(category)
      ? hidden.filter((word) => word !== category)
      : [...hidden, category];
    page.go({ hide: next.join(",") });
  };
  return [hidden, toggle];
}

export function StepsChart({ frame }: { frame: Frame }) {
  const [hidden, toggle] = useHidden();
  const rows = Array.from({ length: Math.min(MOST, frame.n) }, (_, i) => i);
  const there = CATEGORIES.filter((c) => rows.some((row) => (frame.at(row, `${c}_ns`) ?? 0) > 0));
  const shown = there.filter((category) => !hidden.includes(category));
  const sum = (row: number) =>
    shown.reduce((ns, category) => ns + (frame.at(row, `${category}_ns`) ?? 0), 0);
  const most = Math.max(1, ...rows.map(sum));
  return (
    <figure class="steps-chart">
      <div class="muted">{formatTime(most)}</div>
      <svg
        viewBox={`0 0 ${rows.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${rows.length} steps of up to ${formatTime(most)}`}
      >
        {rows.map((row) => (
          <Bar key={row} frame={frame} row={row} shown={shown} most={most} />
        ))}
      </svg>
      <div class="axis muted">
        <span>{nameOf(frame, 0)}</span>
        {rows.length > 1 && <span>{nameOf(frame, rows.length - 1)}</span>}
      </div>
      {frame.rows > MOST && <p class="muted">the first {MOST} of them; the strip has more</p>}
      <div class="legend" role="group" aria-label="Parts of steps that are shown">
        {there.map((category) => (
          <button
            key={category}
            type="button"
            aria-pressed={!hidden.includes(category)}
            onClick={() => toggle(category)}
          >
            <span class={`swatch fill-${category}`} /> {category}
          </button>
        ))}
      </div>
    </figure>
  );
}
