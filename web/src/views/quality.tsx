// SPDX-License-Identifier: Apache-2.0
// What was skipped, repaired, dropped or is missing, the worst first.

import { TableView } from "../grid/table_view.tsx";
import { allTimeOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { Headline } from "./headline.tsx";

export function Quality() {
  const options = allTimeOptions(usePage().place.value);
  return (
    <>
      <Headline view="quality" />
      <TableView name="quality" options={options} />
    </>
  );
}
