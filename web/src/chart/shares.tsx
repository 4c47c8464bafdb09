// SPDX-License-Identifier: Apache-2.0
// One bar of all, in its parts, with a legend that has the numbers.

import type { ColumnOf, NumberOf, TableName } from "../api/tables.ts";
import { arcsOf } from "../model/arcs.ts";
import { format } from "../model/units.ts";

interface SharesProps<T extends TableName> {
  readonly title: string;
  readonly unit: string;
  readonly sums: ReadonlyMap<string, number | bigint>;
  readonly parts: ReadonlyArray<{
    readonly word: string;
    readonly title: string;
    readonly fill: string;
  }>;
  /** Whose sums these are, by the words of which column, of a table that has to be named: <Shares<T>. */
  readonly column: NumberOf<T>;
  readonly by: ColumnOf<T>;
  /** A ring, not a bar. */
  readonly isRing?: boolean;
}

export function Shares<T extends TableName>(props: SharesProps<T>) {
  const { title, unit, sums, parts, column, by, isRing } = props;
  const whole = [...sums.values()].reduce<number>((sum, v) => sum + Number(v), 0) || 1;
  const there = parts.filter((part) => sums.has(part.word));
  const told = (part: { word: string; title: string }) => {
    const v = Number(sums.get(part.word) ?? 0);
    return `${part.title}: ${format(v / whole, "ratio")} (${format(v, unit)})`;
  };
  return (
    <figure class="shares">
      <figcaption>{title}</figcaption>
      {isRing ? (
        <svg class="shares-ring" viewBox="-1.02 -1.02 2.04 2.04" role="img" aria-label={title}>
          {arcsOf(there.map((part) => Number(sums.get(part.word)))).map((arc, i) => (
            <path key={there[i]!.word} d={arc.path} class={`fill-${there[i]!.fill}`}>
              <title>{told(there[i]!)}</title>
            </path>
          ))}
        </svg>
      ) : (
        <div class="shares-bar" aria-hidden="true">
          {there.map((part) => (
            <span
              key={part.word}
              class={`fill-${part.fill}`}
              style={{ width: `${(Number(sums.get(part.word)) / whole) * 100}%` }}
              title={told(part)}
            />
          ))}
        </div>
      )}
      <ul class="legend">
        {there.map((part) => {
          const v = sums.get(part.word) ?? 0;
          return (
            <li key={part.word} data-v={String(v)} data-r={`${by}=${part.word}`} data-c={column}>
              <span class={`swatch fill-${part.fill}`} /> {told(part)}
            </li>
          );
        })}
      </ul>
    </figure>
  );
}
