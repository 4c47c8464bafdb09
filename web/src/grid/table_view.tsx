// SPDX-License-Identifier: Apache-2.0
// One table with all that it can do: filter, group, sort, save.

import { useEffect, useMemo, useReducer } from "preact/hooks";
import type { Options } from "../api/api.ts";
import { whereOf } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { Empty, Problem, useCommand } from "../views/parts.tsx";
import { type ShownColumn, showColumns } from "./columns.ts";
import { Grid } from "./grid.tsx";
import { Windows } from "./windows.ts";

interface TableViewProps {
  readonly name: string;
  /** Options beside filter, grouping and order, which the page has in its address. */
  readonly options: Options;
  /** NAMES are the values of the columns of text in the row that was opened. */
  readonly onOpen?: (names: Readonly<Record<string, string>>) => void;
  /** In a tree: the column that names a place, and the column with its depth. */
  readonly tree?: { readonly name: string; readonly depth: string };
}

/** The first column with text that tells rows apart: what the filter looks at. */
function filterColumn(columns: readonly { name: string; type: string }[]): string | null {
  const texts = columns.filter((c) => c.type === "string");
  return (texts.find((c) => c.name === "name") ?? texts[0])?.name ?? null;
}

/** The options of a table with filter, grouping and order as the address has them. */
export function useTableOptions(props: Pick<TableViewProps, "name" | "options">): Options {
  const page = usePage();
  const place = page.place.value;
  const table = page.catalog.value?.tables.find((t) => t.name === props.name);
  const column = filterColumn(table?.columns ?? []);
  const key = JSON.stringify(props.options);
  // the key has the options
  return useMemo(() => {
    const options: Record<string, string | true> = { ...props.options };
    if (place.by !== "") options["group-by"] = place.by;
    if (place.sort !== "") options.sort = place.sort;
    if (place.where !== "") options.where = place.where;
    else if (place.q !== "" && column !== null) options.where = whereOf(column, place.q);
    return options;
  }, [key, place.by, place.sort, place.where, place.q, column]);
}

function Tools({ name, options, rows }: { name: string; options: Options; rows: number | null }) {
  const page = usePage();
  const place = page.place.value;
  const table = page.catalog.value?.tables.find((t) => t.name === name);
  return (
    <div class="tools">
      <input
        type="search"
        placeholder="filter: text or /regex/"
        aria-label="Filter"
        value={place.q}
        onInput={(event) => page.go({ q: event.currentTarget.value }, "replace")}
      />
      {table && table.group_by.length > 0 && (
        <label>
          group by{" "}
          <select value={place.by} onChange={(event) => page.go({ by: event.currentTarget.value })}>
            <option value="">–</option>
            {table.group_by.map((by) => (
              <option key={by} value={by}>
                {by}
              </option>
            ))}
          </select>
        </label>
      )}
      <span class="muted">{rows === null ? "" : `${rows} rows`}</span>
      <span class="space" />
      {(["csv", "json", "md"] as const).map((format) => (
        <a
          key={format}
          href={page.api.address(name, options, format)}
          download={`${name}.${format}`}
        >
          {format}
        </a>
      ))}
    </div>
  );
}

/** The texts of ROW by the names of their columns. */
function namesOf(windows: Windows, columns: readonly ShownColumn[], row: number) {
  const texts: Record<string, string> = {};
  for (const column of columns) {
    const value = windows.value(row, column.index);
    if (typeof value === "string") texts[column.name] = value;
  }
  return texts;
}

export function TableView(props: TableViewProps) {
  const page = usePage();
  const options = useTableOptions(props);
  const fingerprint = page.fingerprint.value;
  const [version, changed] = useReducer((n: number) => n + 1, 0);
  // other traces are other rows
  const windows = useMemo(
    () => new Windows(page.api, props.name, options, () => changed(undefined)),
    [page.api, props.name, options, fingerprint, page.epoch.value],
  );
  useEffect(() => {
    if (fingerprint !== "") windows.want(0, 1);
    return () => windows.close();
  }, [windows, fingerprint]);
  const frame = windows.latest;
  const columns = useMemo<ShownColumn[]>(
    () => (frame === null ? [] : showColumns(frame)),
    [windows, frame === null],
  );
  useCommand(frame);
  const sort = page.place.value.sort;
  const depth = props.tree && sort === "" ? (frame?.index(props.tree.depth) ?? -1) : -1;
  return (
    <div class="table-view" data-command={frame?.command ?? ""}>
      <Tools name={props.name} options={options} rows={frame?.rows ?? null} />
      {windows.problem && <Problem problem={windows.problem} />}
      {frame !== null && frame.rows === 0 && <Empty frame={frame} />}
      {frame !== null && frame.rows > 0 && (
        <Grid
          windows={windows}
          columns={columns}
          rows={frame.rows}
          label={props.name}
          version={version}
          sort={sort}
          onSort={(sort) => page.go({ sort })}
          {...(props.onOpen && {
            onOpen: (row: number) => props.onOpen?.(namesOf(windows, columns, row)),
          })}
          {...(props.tree && depth >= 0 && { tree: { name: props.tree.name, depth } })}
        />
      )}
    </div>
  );
}
