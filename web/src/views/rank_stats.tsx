// SPDX-License-Identifier: Apache-2.0
// The average step of all ranks: least, mean, greatest, and how far they are from the mean.

import type { Frame } from "../api/cols.ts";
import { CATEGORIES } from "../model/categories.ts";
import { statsOf } from "../model/stats.ts";
import { formatIn, unitFor } from "../model/units.ts";

const COLUMNS = ["avg_step_ns", ...CATEGORIES.map((category) => `${category}_ns`)];
const ROWS = ["min", "mean", "max", "std"] as const;

export function RankStats({ frame }: { frame: Frame }) {
  const columns = COLUMNS.flatMap((name) => {
    const stats = statsOf(frame, name);
    return stats === null || stats.max === 0
      ? []
      : { name, stats, unit: unitFor("ns", true, stats.max) };
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <div class="small-table" role="region" aria-label="statistics of ranks" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">{frame.rows} ranks</th>
            {columns.map((c) => (
              <th key={c.name} scope="col" class="number">
                {c.name.replace(/_ns$/, "").replaceAll("_", " ")}, {c.unit.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ROWS.map((word) => (
            <tr key={word}>
              <th scope="row">{word}</th>
              {columns.map((c) => (
                <td
                  key={c.name}
                  class="number"
                  data-v={String(c.stats[word])}
                  data-r={word}
                  data-c={c.name}
                >
                  {formatIn(c.stats[word], c.unit)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
