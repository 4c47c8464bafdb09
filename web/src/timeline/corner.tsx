// SPDX-License-Identifier: Apache-2.0
// Which tracks are shown: a filter, and a way back for those that are hidden.

import { usePage } from "../state/session.ts";
import { parseValue } from "../state/url.ts";
import { formatOrder, type OrderWord, parseOrder } from "./order.ts";

const NO_TIMES: ReadonlyMap<string, number> = new Map();

const CLOCKS = [
  { value: "", title: "from 0" },
  { value: "step", title: "from step" },
  { value: "wall", title: "UTC" },
];

/** HASDATE: the origin of the traces has a Unix time. */
export function Corner({ hasDate }: { hasDate: boolean }) {
  const page = usePage();
  const { only, hide, clock, order } = page.place.value;
  const { word, moves } = parseOrder(order, NO_TIMES);
  const nHidden = hide.length;
  return (
    <div class="tl-corner">
      <input
        type="search"
        placeholder="filter tracks"
        title="Show the tracks whose title has the text, or fits the /regex/"
        aria-label="Filter tracks"
        value={only}
        onInput={(event) => page.go({ only: event.currentTarget.value }, "replace")}
      />
      <select
        aria-label="What the ruler counts from"
        value={clock === "wall" && !hasDate ? "" : clock}
        onChange={(event) =>
          page.go({ clock: parseValue("clock", event.currentTarget.value) }, "replace")
        }
      >
        {CLOCKS.map(({ value, title }) => (
          <option key={value} value={value} disabled={value === "wall" && !hasDate}>
            {title}
          </option>
        ))}
      </select>
      <select
        class="order"
        aria-label="Order of tracks"
        value={word}
        onChange={(event) => {
          const next = event.currentTarget.value as OrderWord;
          page.go({ order: formatOrder({ word: next, moves: [] }) }, "replace");
        }}
      >
        <option value="">{moves.length > 0 && word === "" ? "moved" : "tracks as given"}</option>
        <option value="busy">by busy time</option>
        <option value="name">by name</option>
      </select>
      {nHidden > 0 && (
        <button type="button" class="plain" onClick={() => page.go({ hide: [] })}>
          {nHidden} hidden
        </button>
      )}
    </div>
  );
}
