// SPDX-License-Identifier: Apache-2.0
// Changes as bars, up where the new run takes longer, and the line of all of them so far; and below
// the times of both runs so far, which part where the change is.

import type { Change } from "../model/diff_tree.ts";
import { formatTime } from "../model/units.ts";

const HEIGHT = 100;
const MOST = 80;

interface AccumulatedProps {
  readonly changes: readonly Change[];
  /** Of which column of which table they are, for the sum of all. */
  readonly column: string;
  readonly total: string;
}

/** The steps of VALUES as points of a polyline, from LEAST at the bottom to MOST. */
function pointsOf(values: readonly number[], least: number, most: number): string {
  const y = (v: number) => HEIGHT - ((v - least) / (most - least || 1)) * HEIGHT;
  return values.map((v, i) => `${i},${y(v)} ${i + 1},${y(v)}`).join(" ");
}

/** The times of both runs, added up from the first row on. */
function Trends({ shown }: { shown: readonly Change[] }) {
  const most = Math.max(...shown.flatMap((change) => [change.base, change.new]));
  const last = shown.at(-1);
  return (
    <>
      <svg
        class="trends"
        viewBox={`0 0 ${Math.max(1, shown.length)} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Times added up: base ${formatTime(last?.base ?? 0)}, new ${formatTime(last?.new ?? 0)}`}
      >
        {shown.map((change, i) => (
          <g key={`${i}${change.name}`}>
            <title>{`to ${change.name}: base ${formatTime(change.base)}, new ${formatTime(change.new)}`}</title>
            <rect class="hit" x={i} width="1" y="0" height={HEIGHT} />
          </g>
        ))}
        {(["base", "new"] as const).map((side) => (
          <polyline
            key={side}
            class={side}
            points={pointsOf(
              shown.map((change) => change[side]),
              0,
              most,
            )}
            vector-effect="non-scaling-stroke"
          />
        ))}
      </svg>
      <figcaption class="muted">
        times of these parts added up, the largest change first: dashed the base, whole the new run
      </figcaption>
    </>
  );
}

export function Accumulated({ changes, column, total }: AccumulatedProps) {
  const shown = changes.slice(0, MOST);
  const values = shown.flatMap(({ delta, sum }) => [delta, sum]);
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)];
  const y = (v: number) => HEIGHT - ((v - least) / (most - least || 1)) * HEIGHT;
  const points = pointsOf(
    shown.map(({ sum }) => sum),
    least,
    most,
  );
  return (
    <figure class="accumulated">
      <svg
        viewBox={`0 0 ${Math.max(1, shown.length)} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label="Changes, and the sum of them so far"
      >
        {shown.map(({ name, delta, sum }, i) => (
          <g key={`${i}${name}`}>
            <title>{`${name}: ${formatTime(delta)}; with those before it ${formatTime(sum)}`}</title>
            <rect class="hit" x={i} width="1" y="0" height={HEIGHT} />
            <rect
              class={delta > 0 ? "fill-slower" : "fill-faster"}
              x={i + 0.1}
              width="0.8"
              y={Math.min(y(0), y(delta))}
              height={Math.abs(y(delta) - y(0))}
            />
          </g>
        ))}
        <polyline points={points} vector-effect="non-scaling-stroke" />
      </svg>
      <figcaption class="muted">
        bars: change of each; line: accumulated, in the end{" "}
        <span data-v={total} data-r="0-" data-c={column}>
          {formatTime(Number(total))}
        </span>
        {changes.length > MOST && `; the first ${MOST} are drawn`}
      </figcaption>
      {shown.length > 1 && <Trends shown={shown} />}
    </figure>
  );
}
