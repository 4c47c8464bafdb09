// SPDX-License-Identifier: Apache-2.0
// Any table of the catalog.

import { tableNamed } from "../api/tables.ts";
import { TableView } from "../grid/table_view.tsx";
import { namesOf, withoutOption } from "../state/more_options.ts";
import { selectionOptions, stepOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";

/** Options of the command that no view has; a click leaves one out. */
function MoreOptions() {
  const page = usePage();
  const { opts } = page.place.value;
  return (
    <>
      {namesOf(opts).map(({ name, text }) => (
        <button
          key={name}
          type="button"
          class="chip"
          title="Leave it out"
          onClick={() => page.go({ opts: withoutOption(opts, name) })}
        >
          {text} ×
        </button>
      ))}
    </>
  );
}

export function Tables() {
  const page = usePage();
  const tables = (page.catalog.value?.tables ?? []).filter((table) => !table.compares);
  const name = tableNamed(page.place.value.table || "operators");
  const table = tables.find((t) => t.name === name);
  const place = page.place.value;
  const isMerged = place.merge === "on";
  const options = {
    ...place.opts,
    ...selectionOptions(place),
    ...stepOptions(place, table),
    ...(isMerged && { merge: true as const }),
  };
  return (
    <>
      <h1>
        <label>
          <select
            aria-label="Table"
            value={name}
            onChange={(event) =>
              page.go({
                table: event.currentTarget.value,
                sort: "",
                where: "",
                q: "",
                by: "",
                cols: "",
                opts: {},
              })
            }
          >
            {tables.map((t) => (
              <option key={t.name} value={t.name}>
                {t.name}
              </option>
            ))}
          </select>
        </label>
      </h1>
      {table && <p class="muted">{table.help}</p>}
      {isMerged && (
        <button
          type="button"
          class="chip"
          title="Show a block of rows for each"
          onClick={() => page.go({ merge: "" })}
        >
          ranks and spans together ×
        </button>
      )}
      <MoreOptions />
      {table && <TableView key={name} name={name} options={options} />}
    </>
  );
}
