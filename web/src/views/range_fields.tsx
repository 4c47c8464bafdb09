// SPDX-License-Identifier: Apache-2.0
// A range of time by keys: two fields in ms.

import { usePage } from "../state/session.ts";

const MS = 1e6;

export function RangeFields({ range }: { range: { from: number; to: number } | null }) {
  const page = usePage();
  return (
    <form
      class="range-fields"
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        const from = Math.round(Number(fields.get("from")) * MS);
        const to = Math.round(Number(fields.get("to")) * MS);
        if (Number.isSafeInteger(from) && Number.isSafeInteger(to) && to > from)
          page.go({ t: { from, to } });
      }}
    >
      <label class="muted">
        from{" "}
        <input
          name="from"
          size={7}
          inputMode="decimal"
          defaultValue={range === null ? "" : String(range.from / MS)}
          key={`from${range?.from}`}
        />
      </label>
      <label class="muted">
        to{" "}
        <input
          name="to"
          size={7}
          inputMode="decimal"
          defaultValue={range === null ? "" : String(range.to / MS)}
          key={`to${range?.to}`}
        />{" "}
        ms
      </label>
      <button type="submit">set</button>
    </form>
  );
}
