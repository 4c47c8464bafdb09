// SPDX-License-Identifier: Apache-2.0
// Steps as stacked bars, with a legend that leaves parts out and brings them back. Where there are
// more than fit, neighbours share a bar, as in the strip.

import type { Frame } from "../api/cols.ts";
import { CATEGORIES } from "../model/categories.ts";
import { type StripBar, stepBars } from "../model/strip.ts";
import { format, formatTime } from "../model/units.ts";
import { toggled } from "../state/codec.ts";
import { usePage } from "../state/session.ts";

const HEIGHT = 120;
const MOST = 240;
/** Words of hide= beside the parts. */
const DROPPED = "dropped";
const ANNOTATION = "annotation";

function Bar({ bar, at, shown, most, hasLine }: BarProps) {
  let y = HEIGHT;
  const isLeft = (bar.left ?? 0) > 0;
  const whole = `${bar.title}; its annotation ${formatTime(bar.annotation ?? 0)}${
    isLeft ? "; in no average" : ""
  }`;
  const share = (ns: number) => format(ns / Math.max(1, bar.height), "ratio");
  const line = HEIGHT - ((bar.annotation ?? 0) / most) * HEIGHT;
  return (
    <g transform={`translate(${at} 0)`} class={isLeft ? "left-out" : ""}>
      <title>{whole}</title>
      {bar.parts
        .filter((part) => shown.includes(part.fill) && part.size > 0)
        .map((part) => {
          const height = (part.size / most) * HEIGHT;
          y -= height;
          return (
            <rect
              key={part.fill}
              class={`fill-${part.fill}`}
              x="0.1"
              width="0.8"
              y={y}
              height={height}
            >
              <title>{`${part.fill} ${formatTime(part.size)}, ${share(part.size)}; ${whole}`}</title>
            </rect>
          );
        })}
      {hasLine && line >= 0 && <rect class="annotation-line" x="0" width="1" y={line} height="1" />}
    </g>
  );
}

interface BarProps {
  readonly bar: StripBar;
  readonly at: number;
  readonly shown: readonly string[];
  readonly most: number;
  readonly hasLine: boolean;
}

/** What is left out is in the address: hide=kernel,memcpy. */
function useHidden(): [hidden: readonly string[], toggle: (category: string) => void] {
  const page = usePage();
  const hidden = page.place.value.hide;
  return [hidden, (category) => page.go({ hide: toggled(hidden, category) })];
}

interface LegendProps {
  readonly there: readonly string[];
  readonly hidden: readonly string[];
  readonly left: number;
  readonly toggle: (word: string) => void;
}

function Legend({ there, hidden, left, toggle }: LegendProps) {
  const words = [
    ...there.map((word) => ({ word, title: word, swatch: `fill-${word}` })),
    { word: ANNOTATION, title: "annotation", swatch: "annotation-line" },
    ...(left > 0
      ? [{ word: DROPPED, title: `${format(left, null)} in no average`, swatch: "left-out" }]
      : []),
  ];
  return (
    <div class="legend" role="group" aria-label="What is shown of steps">
      {words.map(({ word, title, swatch }) => (
        <button
          key={word}
          type="button"
          aria-pressed={!hidden.includes(word)}
          onClick={() => toggle(word)}
        >
          <span class={`swatch ${swatch}`} /> {title}
        </button>
      ))}
    </div>
  );
}

export function StepsChart({ frame }: { frame: Frame<"steps"> }) {
  const [hidden, toggle] = useHidden();
  const all = stepBars(frame, MOST);
  const left = all.reduce((n, bar) => n + (bar.left ?? 0), 0);
  const kept = all.filter((bar) => (bar.left ?? 0) === 0);
  const bars = hidden.includes(DROPPED) && kept.length > 0 ? kept : all;
  const there = CATEGORIES.filter((c) =>
    all.some((bar) => bar.parts.some((part) => part.fill === c && part.size > 0)),
  );
  const shown = there.filter((category) => !hidden.includes(category));
  const sum = (bar: StripBar) =>
    bar.parts.reduce((ns, part) => ns + (shown.includes(part.fill) ? part.size : 0), 0);
  const most = Math.max(1, ...bars.map(sum));
  const steps = `${bars.length < MOST ? bars.length : format(frame.rows, null)} steps`;
  return (
    <figure class="steps-chart">
      <div class="muted">{formatTime(most)}</div>
      <svg
        viewBox={`0 0 ${bars.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${steps} of up to ${formatTime(most)}`}
      >
        {bars.map((bar, at) => (
          <Bar
            key={`${at}-${bar.first}`}
            bar={bar}
            at={at}
            shown={shown}
            most={most}
            hasLine={!hidden.includes(ANNOTATION)}
          />
        ))}
      </svg>
      <div class="axis muted">
        <span>step {bars[0]?.first}</span>
        {bars.length > 1 && <span>{bars[bars.length - 1]?.last}</span>}
      </div>
      <Legend there={there} hidden={hidden} left={left} toggle={toggle} />
    </figure>
  );
}
