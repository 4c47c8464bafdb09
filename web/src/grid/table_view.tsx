// SPDX-License-Identifier: Apache-2.0
// One table with all that it can do: filter, group, sort, save.

import { useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { CatalogTable, Options } from "../api/api.ts";
import { both } from "../model/funnel.ts";
import { whereOf } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { Empty, Problem, TableNotes, useCommand } from "../views/parts.tsx";
import { type ShownColumn, showColumns } from "./columns.ts";
import { Grid } from "./grid.tsx";
import {
  type ColumnWish,
  changed,
  columnsOption,
  formatCols,
  parseCols,
  placeColumns,
  wishesOf,
} from "./layout.ts";
import { type GridTree, SumRow } from "./rows.tsx";
import { Tools } from "./tools.tsx";
import { Windows } from "./windows.ts";

interface TableViewProps {
  readonly name: string;
  /** Options beside filter, grouping and order, which the page has in its address. */
  readonly options: Options;
  /** NAMES are the values of the row that was opened, without missing ones, as texts. */
  readonly onOpen?: (names: Readonly<Record<string, string>>) => void;
  /** In a tree: the column that names a place, those with its depth and path, and its branches. */
  readonly tree?: Pick<GridTree, "name" | "isOpen" | "toggle"> & {
    readonly depth: string;
    readonly path: string;
  };
  /** Whether the search of the page leaves out rows; false: there are no names to search. */
  readonly isSearched?: boolean;
}

/** The first column with text that tells rows apart: what the filter looks at. */
function filterColumn(columns: readonly { name: string; type: string }[]): string | null {
  const texts = columns.filter((c) => c.type === "string");
  return (texts.find((c) => c.name === "name") ?? texts[0])?.name ?? null;
}

/** The options of a table with filter, grouping and order as the address has them. */
export function useTableOptions(
  props: Pick<TableViewProps, "name" | "options" | "isSearched">,
): Options {
  const page = usePage();
  const place = page.place.value;
  const table = page.catalog.value?.tables.find((t) => t.name === props.name);
  const column = filterColumn(table?.columns ?? []);
  const key = JSON.stringify(props.options);
  const isSearched = place.q !== "" && props.isSearched !== false;
  // the key has the options
  return useMemo(() => {
    const options: Record<string, string | true> = { ...props.options };
    const groupings = [props.options["group-by"], place.by].filter(Boolean);
    if (groupings.length > 0) options["group-by"] = groupings.join(",");
    if (place.sort !== "") options.sort = place.sort;
    const filter = isSearched && column !== null ? whereOf(column, place.q) : "";
    const given = typeof props.options.where === "string" ? props.options.where : "";
    const where = both(both(given, place.where), filter);
    if (where !== "") options.where = where;
    return options;
  }, [key, place.by, place.sort, place.where, place.q, column, isSearched]);
}

/** The values of ROW by the names of their columns. */
function namesOf(windows: Windows, columns: readonly ShownColumn[], row: number) {
  const texts: Record<string, string> = {};
  for (const column of columns) {
    const value = windows.value(row, column.index);
    if (value !== null) texts[column.name] = String(value);
  }
  return texts;
}

/** What the address wants of the columns of TABLE. */
function useWishes(table: CatalogTable | undefined): ColumnWish[] {
  const { cols } = usePage().place.value;
  return useMemo(
    () => parseCols(cols).filter((w) => table?.columns.some((c) => c.name === w.name)),
    [cols, table],
  );
}

const NO_ROWS: ReadonlySet<number> = new Set();

/** The columns of TABLE that add up, unless their rows contain each other. */
function summed(table: CatalogTable | undefined): Set<string> {
  const names = new Set(table?.columns.map((c) => c.name));
  const nests = (name: string) =>
    names.has(`self_${name}`) ||
    (name.includes("_total_") && names.has(name.replace("_total_", "_self_"))) ||
    names.has("depth");
  return new Set(table?.columns.filter((c) => c.sums && !nests(c.name)).map((c) => c.name));
}

/** The rows of table NAME by OPTIONS, in windows. */
function useWindows(name: string, options: Options) {
  const page = usePage();
  const fingerprint = page.fingerprint.value;
  const [version, changed] = useReducer((n: number) => n + 1, 0);
  // other traces are other rows
  const windows = useMemo(
    () => new Windows(page.api, name, options, () => changed(undefined)),
    [page.api, name, options, fingerprint, page.epoch.value],
  );
  useEffect(() => {
    if (fingerprint !== "") windows.want(0, 1);
    return () => windows.close();
  }, [windows, fingerprint]);
  // The old rows stay until the new ones are there.
  const shown = useRef(windows);
  if (windows.latest !== null || windows.problem !== null) shown.current = windows;
  return { windows: shown.current, version, isOld: shown.current !== windows };
}

export function TableView(props: TableViewProps) {
  const page = usePage();
  const asked = useTableOptions(props);
  const table = page.catalog.value?.tables.find((t) => t.name === props.name);
  const wishes = useWishes(table);
  const chosen = columnsOption(wishes);
  const options = useMemo(
    () => (chosen === null ? asked : { ...asked, columns: chosen }),
    [asked, chosen],
  );
  const { windows, version, isOld } = useWindows(props.name, options);
  const [selected, select] = useState(NO_ROWS);
  useEffect(() => select(NO_ROWS), [windows]);
  const frame = windows.latest;
  const shown = useMemo<ShownColumn[]>(
    () => (frame === null ? [] : showColumns(frame, table)),
    [windows, frame === null, table],
  );
  const columns = useMemo(() => placeColumns(shown, wishes), [shown, wishes]);
  const sums = useMemo(() => summed(table), [table]);
  const { first } = windows;
  const isSummed =
    first !== null && columns.some((c) => sums.has(c.name) && first.sum(c.name) !== null);
  useCommand(frame);
  const current = useRef(0);
  useEffect(() => {
    current.current = 0;
    const here = () =>
      windows.latest === null || windows.latest.rows === 0
        ? null
        : { table: props.name, values: namesOf(windows, shown, current.current) };
    page.rowHere.value = here;
    return () => {
      if (page.rowHere.value === here) page.rowHere.value = null;
    };
  }, [page, windows, shown, props.name]);
  const sort = page.place.value.sort;
  const depth = props.tree && sort === "" ? (frame?.index(props.tree.depth) ?? -1) : -1;
  const widen = (name: string, width: number) => {
    const now = wishesOf(
      wishes,
      columns.map((c) => c.name),
    );
    page.go({ cols: formatCols(changed(now, name, { width: Math.max(40, width) })) });
  };
  return (
    <div
      class={isOld ? "table-view old" : "table-view"}
      data-command={windows.problem && frame === null ? undefined : (frame?.command ?? "")}
    >
      <Tools name={props.name} options={options} frame={frame} selected={selected} />
      {windows.problem && <Problem problem={windows.problem} />}
      {frame !== null && frame.rows === 0 && <Empty frame={frame} />}
      {frame !== null && frame.rows > 0 && <TableNotes frame={frame} />}
      {frame !== null && frame.rows > 0 && (
        <Grid
          windows={windows}
          columns={columns}
          rows={frame.rows}
          label={props.name}
          version={version}
          sort={sort}
          selected={selected}
          onSort={(sort) => page.go({ sort })}
          onWiden={widen}
          onSelect={select}
          onCurrent={(row) => {
            current.current = row;
          }}
          {...(props.onOpen && {
            onOpen: (row: number) => props.onOpen?.(namesOf(windows, columns, row)),
          })}
          {...(props.tree &&
            depth >= 0 && {
              tree: { ...props.tree, depth, path: frame.index(props.tree.path) },
            })}
        >
          {isSummed && (
            <SumRow frame={first} columns={columns} names={sums} rowIndex={frame.rows + 2} />
          )}
        </Grid>
      )}
    </div>
  );
}
