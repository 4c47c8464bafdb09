// SPDX-License-Identifier: Apache-2.0
// What was skipped, repaired, dropped or is missing, the worst first.

import { TableView } from "../grid/table_view.tsx";
import { useTable } from "../state/answers.ts";
import { selectionOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";

export function Quality() {
  const options = selectionOptions({ ...usePage().place.value, steps: "", t: "" });
  const { frame } = useTable("quality", options, { offset: 0, limit: 1 });
  return (
    <>
      <h1>
        {frame === null
          ? "…"
          : frame.rows === 0
            ? "Nothing was skipped or is missing."
            : `${frame.rows} ${frame.rows === 1 ? "finding" : "findings"}; the worst: ${frame.text(0, "message")}`}
      </h1>
      <TableView name="quality" options={options} />
    </>
  );
}
