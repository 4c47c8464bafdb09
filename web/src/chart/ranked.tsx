// SPDX-License-Identifier: Apache-2.0
// Ranked bars: the first rows of a table, several measures side by side, and "other".

import type { Frame } from "../api/cols.ts";
import type { ColumnOf, NumberOf, TableName } from "../api/tables.ts";
import { rowLabels } from "../model/names.ts";
import { type Sums, scaleOf, sumOf, type Top, topOf } from "../model/top.ts";
import { format, formatIn, type Unit, unitFor } from "../model/units.ts";
import { NameText } from "../parts/name_text.tsx";

export interface Measure<T extends TableName> {
  readonly column: NumberOf<T>;
  readonly title: string;
  /** Rows contain each other, so that their sum is more than the time: it sets no scale. */
  readonly nests?: boolean;
  /** Of two runs: more is slower. */
  readonly isChange?: boolean;
}

interface RankedProps<T extends TableName> {
  readonly frame: Frame<T>;
  readonly measures: readonly Measure<T>[];
  readonly n: number;
  readonly label: string;
  /** The column that names a row. */
  readonly by: ColumnOf<T>;
  /** What stands above the names, if not that. */
  readonly head?: string;
  /** What a row is called; without it, as column BY has it. */
  readonly nameOf?: (row: number) => string;
  /** What tells a row from others of its name. */
  readonly tailOf?: (row: number) => string;
  /** All bars have one scale. */
  readonly isShared?: boolean;
  readonly onOpen?: (row: number) => void;
}

interface BarProps {
  readonly value: number | bigint | null;
  readonly row: string;
  readonly sums: Sums;
  readonly unit: Unit;
  readonly largest: number;
  readonly fill: string;
  readonly isChange: boolean;
}

/** The colour of VALUE of a measure: changes say by it, too, which way they go. */
function fillOf(value: number | bigint | null, isOther: boolean, isChange: boolean): string {
  if (isChange) return Number(value ?? 0) > 0 ? "fill-slower" : "fill-faster";
  return isOther ? "fill-other" : "fill-kernel";
}

function Bar({ value, row, sums, unit, largest, fill, isChange }: BarProps) {
  const v = Number(value ?? 0);
  const isCut = Math.abs(v) > largest;
  return (
    <td
      {...(value !== null && { "data-v": String(value), "data-r": row, "data-c": sums.column })}
      title={
        isChange
          ? format(v, sums.unit)
          : `${format(v, sums.unit)}, ${format(v / (Number(sums.total) || 1), "ratio")} of all${isCut ? "; the bar is cut" : ""}`
      }
    >
      <span
        class={`ranked-bar ${fill}${isCut ? " cut" : ""}`}
        style={{ width: `${largest > 0 ? Math.min(1, Math.abs(v) / largest) * 50 : 0}%` }}
      />
      <span>
        {isChange && v > 0 && "+"}
        {value === null ? "–" : formatIn(v, unit)}
      </span>
    </td>
  );
}

/** The rows to show; columns without any time are left out, unless all are. */
function topOfProps<T extends TableName>(props: RankedProps<T>): Top {
  const { frame, measures } = props;
  const all = measures.map((m) => m.column);
  const there = props.isShared ? all : all.filter((column) => Number(sumOf(frame, column)) !== 0);
  return topOf(frame, there.length > 0 ? there : all, props.n);
}

/** The longest bar of each column of TOP. */
function scalesOf<T extends TableName>(top: Top, { measures, isShared }: RankedProps<T>): number[] {
  const most = Math.max(...top.sums.map((s) => s.largest));
  const nests = (column: string) => measures.find((m) => m.column === column)?.nests;
  return top.sums.map((s) => (isShared ? most : scaleOf(s, nests(s.column))));
}

interface RankedRow {
  /** Its whole name, and what it is called. */
  readonly title: string;
  readonly label: string;
}

/** The first N rows of PROPS. */
function rowsOf<T extends TableName>(
  { frame, by, nameOf, tailOf }: RankedProps<T>,
  n: number,
): RankedRow[] {
  const rows = Array.from({ length: n }, (_, row) => row);
  const names = rows.map((row) => nameOf?.(row) ?? frame.text(row, by));
  const tails = rows.map((row) => tailOf?.(row) ?? "");
  const labels = rowLabels(
    names.map((name) => frame.label(name, frame.index(by))),
    tails,
  );
  return rows.map((row) => ({ title: `${names[row]} ${tails[row]}`.trim(), label: labels[row]! }));
}

export function Ranked<T extends TableName>(props: RankedProps<T>) {
  const { frame, measures } = props;
  const top = topOfProps(props);
  const scales = scalesOf(top, props);
  const units = top.sums.map((s, i) => unitFor(s.unit, typeof s.total === "bigint", scales[i]!));
  const rows = rowsOf(props, top.n);
  const barOf = (i: number, value: number | bigint | null, row: string, isOther: boolean) => {
    const sums = top.sums[i]!;
    const isChange = measures.find((m) => m.column === sums.column)?.isChange === true;
    const fill = fillOf(value, isOther, isChange);
    return { value, row, sums, unit: units[i]!, largest: scales[i]!, fill, isChange };
  };
  return (
    <table class={props.by === "rank" ? "ranked narrow-names" : "ranked"} aria-label={props.label}>
      <thead>
        <tr>
          <th scope="col">{props.head ?? props.by}</th>
          {top.sums.map((s, i) => (
            <th key={s.column} scope="col">
              {measures.find((m) => m.column === s.column)?.title}
              {units[i]!.label !== "" && `, ${units[i]!.label}`}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ title, label }, row) => {
          return (
            <tr key={row}>
              <th scope="row" title={title}>
                {props.onOpen ? (
                  <button type="button" class="plain" onClick={() => props.onOpen?.(row)}>
                    <NameText label={label} />
                  </button>
                ) : (
                  <NameText label={label} />
                )}
              </th>
              {top.sums.map((s, i) => {
                const value = frame.value(row, frame.find(s.column)) as number | bigint | null;
                return <Bar key={s.column} {...barOf(i, value, String(row), false)} />;
              })}
            </tr>
          );
        })}
        {top.nOther > 0 && (
          <tr>
            <th scope="row" class="muted">
              other ({format(top.nOther, null)})
            </th>
            {top.sums.map((s, i) => {
              return <Bar key={s.column} {...barOf(i, s.other, `${top.n}-`, true)} />;
            })}
          </tr>
        )}
      </tbody>
    </table>
  );
}
