// SPDX-License-Identifier: Apache-2.0
// One table with all that it can do: filter, group, sort, save.

import { useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { CatalogTable, Options } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import type { ColumnOf, TableName, TextsOf } from "../api/tables.ts";
import { whereOfAny } from "../model/expr.ts";
import { both } from "../model/funnel.ts";
import { Empty, Problem, TableNotes, useCommand } from "../parts/section.tsx";
import { usePage } from "../state/session.ts";
import { emptyColumns, type ShownColumn, showColumns } from "./columns.ts";
import { Grid } from "./grid.tsx";
import {
  type ColumnWish,
  changed,
  columnsOption,
  formatCols,
  type PlacedColumn,
  parseCols,
  placeColumns,
  type Usual,
  usualColumns,
  wishesOf,
} from "./layout.ts";
import { type GridTree, SumRow } from "./rows.tsx";
import { searchedColumns } from "./searched.ts";
import { Tools } from "./tools.tsx";
import { Windows } from "./windows.ts";

interface TableViewProps<T extends TableName = TableName> {
  readonly name: T;
  /** Options beside filter, grouping and order, which the page has in its address. */
  readonly options: Options;
  /** NAMES are the values of the row that was opened, without missing ones, as texts. */
  readonly onOpen?: (names: TextsOf<T>) => void;
  /** The same for the row that is clicked or that the keys are in, and for the one that the pointer
   * is over; null: it is over none. */
  readonly onCurrent?: (names: TextsOf<T>) => void;
  readonly onHover?: (names: TextsOf<T> | null) => void;
  /** In a tree: the column that names a place, those with its depth and path, and its branches. */
  readonly tree?: Pick<GridTree, "name" | "isOpen" | "toggle"> & {
    readonly depth: ColumnOf<T>;
    readonly path: ColumnOf<T>;
  };
  /** What is shown of its columns at first; without it all. */
  readonly usual?: Usual<ColumnOf<T>>;
  /** Whether the search of the page leaves out rows; false: there are no names to search. */
  readonly isSearched?: boolean;
}

/** The options of a table with filter, grouping and order as the address has them. */
export function useTableOptions(
  props: Pick<TableViewProps, "name" | "options" | "isSearched">,
): Options {
  const page = usePage();
  const place = page.place.value;
  const table = page.catalog.value?.tables.find((t) => t.name === props.name);
  const groups = [props.options["group-by"], place.by].filter(Boolean).join();
  const searched = searchedColumns(table?.columns ?? [], groups).join();
  const key = JSON.stringify(props.options);
  const isSearched = place.q !== "" && props.isSearched !== false;
  // the key has the options
  return useMemo(() => {
    const options: Record<string, string | true> = { ...props.options };
    if (groups !== "") options["group-by"] = groups;
    if (place.sort !== "") options.sort = place.sort;
    const filter = isSearched && searched !== "" ? whereOfAny(searched.split(","), place.q) : "";
    const given = typeof props.options.where === "string" ? props.options.where : "";
    const where = both(both(given, place.where), filter);
    if (where !== "") options.where = where;
    return options;
  }, [key, groups, place.sort, place.where, place.q, searched, isSearched]);
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
function useWindows(name: TableName, options: Options) {
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

const INDENT = 12;
const TWIG = 28;
const WHOLE: Usual = {};

/** COLUMNS of which that with the names of a tree has room for them where they stand. */
function indented(columns: readonly ShownColumn[], frame: Frame, name: string, depth: number) {
  let deepest = 0;
  for (let row = 0; row < frame.n; row++)
    deepest = Math.max(deepest, frame.number(row, depth) ?? 0);
  return columns.map((c) =>
    c.name === name ? { ...c, width: Math.min(420, c.width + TWIG + INDENT * deepest) } : c,
  );
}

/** The columns of the rows in WINDOWS, and those that are shown, as the address has WISHES. */
function useColumns<T extends TableName>(
  props: TableViewProps<T>,
  windows: Windows,
  wishes: readonly ColumnWish[],
  depth: number,
): { shown: readonly ShownColumn[]; columns: readonly PlacedColumn[] } {
  const page = usePage();
  const table = page.catalog.value?.tables.find((t) => t.name === props.name);
  const { first } = windows;
  const frame = first ?? windows.latest;
  const key = JSON.stringify(props.usual);
  // the key has what is usual
  return useMemo(() => {
    if (frame === null) return { shown: [], columns: [] };
    const shown = showColumns(frame, table);
    if (wishes.length > 0) return { shown, columns: placeColumns(shown, wishes) };
    const { name } = props.tree ?? { name: "" };
    const wide = depth < 0 ? shown : indented(shown, frame, name, depth);
    const usual = usualColumns(wide, props.usual ?? WHOLE, emptyColumns(frame));
    return { shown, columns: placeColumns(usual, wishes) };
  }, [windows, frame, table, wishes, key, depth]);
}

export function TableView<T extends TableName>(props: TableViewProps<T>) {
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
  const sort = page.place.value.sort;
  const depth = props.tree && sort === "" ? (frame?.find(props.tree.depth) ?? -1) : -1;
  const { shown, columns } = useColumns(props, windows, wishes, depth);
  const textsOf = (row: number) => namesOf(windows, shown, row) as TextsOf<T>;
  const sums = useMemo(() => summed(table), [table]);
  const { first } = windows;
  const isSummed =
    first !== null &&
    columns.some((c) => sums.has(c.name) && first.sum(first.find(c.name)) !== null);
  useCommand({ frame, problem: windows.problem });
  const current = useRef({ row: 0, column: "" });
  useEffect(() => {
    const here = () =>
      windows.latest === null || windows.latest.rows === 0
        ? null
        : {
            table: props.name,
            values: namesOf(windows, shown, current.current.row),
            column: current.current.column,
          };
    page.rowHere.value = here;
    return () => {
      if (page.rowHere.value === here) page.rowHere.value = null;
    };
  }, [page, windows, shown, props.name]);
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
      <Tools
        name={props.name}
        options={options}
        frame={frame}
        columns={columns}
        selected={selected}
      />
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
          onCurrent={(row, column) => {
            current.current = { row, column };
          }}
          {...(props.onCurrent && {
            onGo: (row: number) => props.onCurrent?.(textsOf(row)),
          })}
          {...(props.onHover && {
            onHover: (row: number | null) => props.onHover?.(row === null ? null : textsOf(row)),
          })}
          {...(props.onOpen && {
            onOpen: (row: number) => props.onOpen?.(textsOf(row)),
          })}
          {...(props.tree &&
            depth >= 0 && {
              tree: { ...props.tree, depth, path: frame.find(props.tree.path) },
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
