// SPDX-License-Identifier: Apache-2.0
// What was skipped, repaired, dropped or is missing, the worst first, each with what to do about it;
// below, the same for each rank and span.

import type { Frame } from "../api/cols.ts";
import { TableView } from "../grid/table_view.tsx";
import { format } from "../model/units.ts";
import { Section } from "../parts/section.tsx";
import { useTable } from "../state/answers.ts";
import { allTimeOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { Headline } from "./headline.tsx";

const ALL = { offset: 0, limit: 1000 };

/** The findings of FRAME as texts, which columns of a table would cut. */
function List({ frame }: { frame: Frame<"quality"> }) {
  return (
    <ul class="advice">
      {frame.map((row) => (
        <li key={row}>
          <strong class={`findings ${frame.text(row, "severity")}`}>
            {frame.text(row, "severity")}
          </strong>{" "}
          {frame.text(row, "message")}{" "}
          <span class="muted" {...frame.shown(row, "count")}>
            × {format(frame.at(row, "count") ?? 0, null)}
          </span>
          {frame.text(row, "remedy") !== "" && <p class="muted">{frame.text(row, "remedy")}</p>}
        </li>
      ))}
    </ul>
  );
}

export function Quality() {
  const options = allTimeOptions(usePage().place.value);
  const findings = useTable("quality", { ...options, merge: true }, ALL);
  return (
    <>
      <Headline view="quality" />
      <Section title="What to do" answer={findings}>
        {(frame) => <List frame={frame} />}
      </Section>
      <TableView name="quality" options={options} />
    </>
  );
}
