// SPDX-License-Identifier: Apache-2.0
// The same as ranked bars, as one ring for each measure. Parts have the numbers of the legend, and
// all others are one part; below each ring stands of what it is the whole.

import type { Frame } from "../api/cols.ts";
import type { ColumnOf, TableName } from "../api/tables.ts";
import { arcsOf } from "../model/arcs.ts";
import { rowLabels } from "../model/names.ts";
import { type Sums, topOf } from "../model/top.ts";
import { format } from "../model/units.ts";
import { NameText } from "../parts/name_text.tsx";
import type { Measure } from "./ranked.tsx";

const SHADES = 5;
/** Parts below this have no room for their number. */
const LEAST_LABEL = 0.035;

interface DonutsProps<T extends TableName> {
  readonly frame: Frame<T>;
  readonly measures: readonly Measure<T>[];
  readonly n: number;
  readonly label: string;
  /** The column that names a row. */
  readonly by: ColumnOf<T>;
  /** What tells a row from others of its name. */
  readonly tailOf: (row: number) => string;
  readonly onOpen?: (row: number) => void;
}

interface RingProps {
  readonly frame: Frame;
  readonly sums: Sums;
  readonly n: number;
  readonly nOther: number;
  readonly measure: { readonly title: string; readonly nests?: boolean } | undefined;
  readonly nameOf: (row: number) => string;
}

function Ring({ frame, sums, n, nOther, measure, nameOf }: RingProps) {
  const title = measure?.title ?? sums.column;
  const index = frame.find(sums.column);
  const rows = Array.from({ length: n }, (_, row) => frame.value(row, index));
  const values = [...rows.map((v) => Number(v ?? 0)), Number(sums.other)];
  const arcs = arcsOf(values.map((v) => Math.max(0, v)));
  const told = (i: number) => {
    const name = i < n ? nameOf(i) : `other (${format(nOther, null)})`;
    return `${name}: ${format(values[i]!, sums.unit)}, ${format(arcs[i]!.share, "ratio")}`;
  };
  return (
    <figure class="donut">
      <svg viewBox="-1.02 -1.02 2.04 2.04" role="img" aria-label={`${title} in its parts`}>
        {arcs.map((arc, i) => (
          <g key={i < n ? i : "other"}>
            {arc.share > 0 && (
              <path
                d={arc.path}
                class={i < n ? `fill-kernel shade-${i % SHADES}` : "fill-other"}
                {...((i === n || rows[i] !== null) && {
                  "data-v": String(i < n ? rows[i] : sums.other),
                  "data-r": i < n ? String(i) : `${n}-`,
                  "data-c": sums.column,
                })}
              >
                <title>{told(i)}</title>
              </path>
            )}
            {arc.share >= LEAST_LABEL && (
              <text x={arc.x} y={arc.y}>
                {i < n ? i + 1 : "…"}
              </text>
            )}
          </g>
        ))}
      </svg>
      <figcaption>
        {title}
        <br />
        <span class="muted">
          of {format(Number(sums.total), sums.unit)}
          {measure?.nests ? "; rows contain each other" : " of all rows"}
        </span>
      </figcaption>
    </figure>
  );
}

export function Donuts<T extends TableName>(props: DonutsProps<T>) {
  const { frame, measures, n, label, by, tailOf, onOpen } = props;
  const nameOf = (row: number) => `${frame.text(row, by)} ${tailOf(row)}`.trim();
  const all = topOf(
    frame,
    measures.map((m) => m.column),
    n,
  );
  const rows = Array.from({ length: all.n }, (_, row) => row);
  const labels = rowLabels(
    rows.map((row) => frame.label(frame.text(row, by), frame.index(by))),
    rows.map(tailOf),
  );
  const there = all.sums.filter((s) => Number(s.total) > 0);
  return (
    <div class="donuts" role="group" aria-label={label}>
      {there.map((sums) => (
        <Ring
          key={sums.column}
          frame={frame}
          sums={sums}
          n={all.n}
          nOther={all.nOther}
          measure={measures.find((m) => m.column === sums.column)}
          nameOf={nameOf}
        />
      ))}
      <ol class="donut-legend">
        {rows.map((row) => {
          const name = nameOf(row);
          const text = labels[row]!;
          return (
            <li key={row} title={name}>
              <span class="muted">{row + 1} </span>
              {onOpen ? (
                <button type="button" class="plain" onClick={() => onOpen(row)}>
                  <NameText label={text} />
                </button>
              ) : (
                <NameText label={text} />
              )}
            </li>
          );
        })}
        {all.nOther > 0 && <li class="muted rest">other ({format(all.nOther, null)})</li>}
      </ol>
    </div>
  );
}
