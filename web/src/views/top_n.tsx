// SPDX-License-Identifier: Apache-2.0
// How many rows of a chart are drawn one by one; the others are summed.

import { usePage } from "../state/session.ts";
import type { Place } from "../state/url.ts";

const CHOICES = [5, 10, 20, 50, 100];
const DEFAULT = 10;
const MOST = 1000;

/** How many rows PLACE wants to see one by one. */
export function topOfPlace(place: Place): number {
  const n = Number(place.top);
  return Number.isInteger(n) && n > 0 ? Math.min(n, MOST) : DEFAULT;
}

/** The choice of any number of rows, or of all that a chart can have. */
export function TopN() {
  const page = usePage();
  const n = topOfPlace(page.place.value);
  const take = (top: string) => page.go({ top: top === String(DEFAULT) ? "" : top });
  return (
    <label class="muted">
      top{" "}
      <input
        class="top-n"
        type="number"
        min="1"
        max={MOST}
        list="top-choices"
        value={n}
        title={`Rows that are drawn one by one, up to ${MOST}; the others are one`}
        onChange={(event) => take(event.currentTarget.value)}
      />
      <datalist id="top-choices">
        {[...CHOICES, MOST].map((choice) => (
          <option key={choice} value={choice} />
        ))}
      </datalist>
    </label>
  );
}
