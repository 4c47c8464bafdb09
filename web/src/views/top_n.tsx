// SPDX-License-Identifier: Apache-2.0
import { usePage } from "../state/session.ts";
import type { Place } from "../state/url.ts";

const CHOICES = [5, 10, 20, 50];
const DEFAULT = 10;

/** How many rows PLACE wants to see one by one. */
export function topOfPlace(place: Place): number {
  const n = Number(place.top);
  return Number.isInteger(n) && n > 0 && n <= 1000 ? n : DEFAULT;
}

/** The choice of how many rows are bars; the others are summed. */
export function TopN() {
  const page = usePage();
  const n = topOfPlace(page.place.value);
  const choices = CHOICES.includes(n) ? CHOICES : [...CHOICES, n];
  return (
    <label class="muted">
      top{" "}
      <select
        value={n}
        onChange={(event) => {
          const top = event.currentTarget.value;
          page.go({ top: top === String(DEFAULT) ? "" : top });
        }}
      >
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    </label>
  );
}
