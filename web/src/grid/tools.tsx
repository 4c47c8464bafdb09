// SPDX-License-Identifier: Apache-2.0
// Above a grid: filters, grouping, columns, and its rows as text.

import type { CatalogTable, Options } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import { pickRows } from "../model/records.ts";
import { format } from "../model/units.ts";
import { save } from "../parts/picture.ts";
import { usePage } from "../state/session.ts";
import { ColumnsMenu } from "./columns_menu.tsx";
import { RowLinks } from "./row_links.tsx";
import { groupingOfOperators, searchedColumns } from "./searched.ts";

const FORMATS = ["csv", "json", "md"] as const;

interface ToolsProps {
  readonly name: string;
  readonly options: Options;
  readonly frame: Frame | null;
  /** Those that are shown. */
  readonly columns: readonly { readonly name: string }[];
  readonly selected: ReadonlySet<number>;
}

/** The rows as text, as the command prints them: all, or those that are chosen. */
function Copies({ name, options, selected }: ToolsProps) {
  const page = usePage();
  const textOf = async (form: string): Promise<string> => {
    const response = await fetch(page.api.address(name, options, form));
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    const text = await response.text();
    return selected.size === 0 ? text : pickRows(text, form, selected);
  };
  const say = (promise: Promise<void>, done: string) =>
    promise.then(
      () => {
        page.notice.value = done;
      },
      (cause: unknown) => {
        page.notice.value = String(cause);
      },
    );
  const copy = (form: string) =>
    void say(
      textOf(form).then((text) => navigator.clipboard.writeText(text)),
      "rows copied",
    );
  const take = (event: MouseEvent, form: string) => {
    if (selected.size === 0) return;
    event.preventDefault();
    void say(
      textOf(form).then((text) => save(new Blob([text]), `${name}.${form}`)),
      "rows saved",
    );
  };
  // A saved page has no server to write them.
  if (page.api.address(name, options, "csv") === "") return null;
  return (
    <>
      {selected.size > 0 && <span class="muted">{format(selected.size, null)} chosen</span>}
      <span class="muted">copy</span>
      {FORMATS.map((form) => (
        <button
          key={form}
          type="button"
          class="plain"
          aria-label={`Copy rows as ${form}`}
          onClick={() => copy(form)}
        >
          {form}
        </button>
      ))}
      <span class="muted">save</span>
      {FORMATS.map((form) => (
        <a
          key={form}
          href={page.api.address(name, options, form)}
          download={`${name}.${form}`}
          aria-label={`Save rows as ${form}`}
          onClick={(event) => take(event, form)}
        >
          {form}
        </a>
      ))}
    </>
  );
}

function Grouping({ groups }: { groups: readonly string[] }) {
  const page = usePage();
  const { by } = page.place.value;
  return (
    <label>
      group by{" "}
      <select value={by} onChange={(event) => page.go({ by: event.currentTarget.value, cols: "" })}>
        <option value="">–</option>
        {groups.map((group) => (
          <option key={group} value={group}>
            {group}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The filter by text, of the columns that tell rows apart. */
function Search({ table, groups }: { table: CatalogTable | undefined; groups: string }) {
  const page = usePage();
  const { q } = page.place.value;
  const columns = table?.columns ?? [];
  const searched = searchedColumns(columns, groups);
  const by = groupingOfOperators(columns, groups);
  return (
    <>
      <input
        type="search"
        placeholder={searched.length > 1 ? searched.join(" or ") : "filter: text, /regex/"}
        aria-label="Filter"
        title={`Rows whose ${searched.join(" or ")} has this text, or matches /regex/`}
        value={q}
        onInput={(event) => page.go({ q: event.currentTarget.value }, "replace")}
      />
      {q !== "" && by !== "" && (
        <button
          type="button"
          class="plain"
          title={`Group by ${by}, and search names and operators`}
          onClick={() => page.go({ by: groups === "" ? by : `${groups},${by}`, cols: "" })}
        >
          operators, too ›
        </button>
      )}
    </>
  );
}

export function Tools(props: ToolsProps) {
  const { name, options, frame } = props;
  const page = usePage();
  const place = page.place.value;
  const table = page.catalog.value?.tables.find((t) => t.name === name);
  return (
    <div class="tools">
      <Search table={table} groups={String(options["group-by"] ?? "")} />
      <input
        class="where"
        placeholder="EXPR of --where"
        aria-label="Rows for which this is true"
        title="As in --where: the funnels of columns write here, too"
        value={place.where}
        onChange={(event) => page.go({ where: event.currentTarget.value.trim() })}
      />
      {table && table.group_by.length > 0 && <Grouping groups={table.group_by} />}
      {table && frame && <ColumnsMenu table={table} frame={frame} columns={props.columns} />}
      <span class="muted">{frame === null ? "" : `${format(frame.rows, null)} rows`}</span>
      {frame !== null && frame.rows > 0 && (
        <RowLinks row={() => page.rowHere.value?.() ?? null} keys />
      )}
      <span class="space" />
      <Copies {...props} />
    </div>
  );
}
