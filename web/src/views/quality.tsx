// SPDX-License-Identifier: Apache-2.0
// What was skipped, repaired, dropped or is missing, the worst first.

import type { Frame } from "../api/cols.ts";
import { TableView } from "../grid/table_view.tsx";
import { useTable } from "../state/answers.ts";
import { allTimeOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { headline } from "./parts.tsx";

function sentence(frame: Frame): string {
  if (frame.rows === 0) return "Nothing was skipped or is missing.";
  const findings = frame.rows === 1 ? "finding" : "findings";
  return `${frame.rows} ${findings}; the worst: ${frame.text(0, "message")}`;
}

export function Quality() {
  const options = allTimeOptions(usePage().place.value);
  const worst = useTable("quality", options, { offset: 0, limit: 1 });
  return (
    <>
      <h1>{headline(worst, sentence)}</h1>
      <TableView name="quality" options={options} />
    </>
  );
}
