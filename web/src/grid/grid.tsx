// SPDX-License-Identifier: Apache-2.0
// Rows of any table: only those in sight are in the page, however many there are.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { takeKey } from "../model/key_list.ts";
import { usePage } from "../state/session.ts";
import { type Cursor, GRID_KEYS } from "./grid_keys.ts";
import { Head, nextSort } from "./head.tsx";
import type { PlacedColumn } from "./layout.ts";
import { type GridTree, ROW, Row } from "./rows.tsx";
import type { Windows } from "./windows.ts";

/** Browsers cap the height of an element; above, the scroll bar stands for row numbers. */
const MOST_PIXELS = 14_000_000;
const SPARE = 8;

interface GridProps {
  readonly windows: Windows;
  readonly columns: readonly PlacedColumn[];
  readonly rows: number;
  readonly label: string;
  /** Grows when rows have come. */
  readonly version: number;
  /** As the command has it: -COLUMN, or COLUMN:asc. */
  readonly sort: string;
  readonly selected: ReadonlySet<number>;
  readonly onSort: (sort: string) => void;
  readonly onWiden: (name: string, width: number) => void;
  readonly onSelect: (rows: ReadonlySet<number>) => void;
  readonly onOpen?: (row: number) => void;
  /** Hears which row and column the keys are in. */
  readonly onCurrent: (row: number, column: string) => void;
  /** Hears which row a click or a key goes to. */
  readonly onGo?: (row: number) => void;
  /** Hears which row the pointer is over; null: over none. */
  readonly onHover?: (row: number | null) => void;
  readonly tree?: GridTree;
  /** Below all rows. */
  readonly children?: ComponentChildren;
}

/** Which rows are in sight, and where they are. */
function useSight(rows: number, windows: Windows) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(400);
  const whole = rows * ROW;
  const pixels = Math.min(whole, MOST_PIXELS);
  const scale = pixels > height ? (whole - height) / (pixels - height) : 1;
  const first = Math.max(0, Math.floor((top * scale) / ROW) - SPARE);
  const last = Math.min(rows, Math.ceil((top * scale + height) / ROW) + SPARE);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const watch = new ResizeObserver(() => setHeight(element.clientHeight));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  useEffect(() => windows.want(first, last), [windows, first, last]);
  const reveal = (row: number) => {
    const element = box.current;
    if (element === null) return;
    const y = (row * ROW) / scale;
    const page = (height - 3 * ROW) / scale;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y > element.scrollTop + page) element.scrollTop = y - page;
  };
  const y = (row: number) => row * ROW - top * (scale - 1);
  return { box, first, last, pixels, height, setTop, reveal, y };
}

function range(a: number, b: number): Set<number> {
  const [from, to] = a < b ? [a, b] : [b, a];
  return new Set(Array.from({ length: Math.min(to - from + 1, 100_000) }, (_, i) => from + i));
}

/** Open or shut the place of ROW, where the keys are in its column. */
function foldTo(isOpening: boolean, props: GridProps, row: number, column: number): boolean {
  const { tree, windows } = props;
  if (!tree || tree.path < 0 || props.columns[column]?.name !== tree.name) return false;
  const path = String(windows.value(row, tree.path) ?? "");
  if (tree.isOpen(path) !== !isOpening) return false;
  tree.toggle(path);
  return true;
}

/** The cell that the keys are in, and the rows that are chosen. */
function useCursor(props: GridProps, sight: ReturnType<typeof useSight>) {
  const page = usePage();
  const [at, setCurrent] = useState(0);
  const current = Math.max(0, Math.min(at, props.rows - 1));
  const [column, setColumn] = useState(0);
  const anchor = useRef(0);
  const toggle = (row: number) => {
    const next = new Set(props.selected);
    if (!next.delete(row)) next.add(row);
    props.onSelect(next);
  };
  const go = (to: number, isExtending: boolean, at = column) => {
    const row = Math.min(props.rows - 1, Math.max(0, to));
    setCurrent(row);
    setColumn(at);
    props.onCurrent(row, props.columns[at]?.name ?? ""); // before the next key
    props.onGo?.(row);
    if (isExtending) props.onSelect(range(anchor.current, row));
    else anchor.current = row;
  };
  const choose = (row: number, at: number, event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey) toggle(row);
    go(row, event.shiftKey, at);
  };
  const here = props.columns[column];
  const shownHere = here?.name ?? "";
  useEffect(() => props.onCurrent(current, shownHere), [current, shownHere]);
  const cursor: Cursor = {
    ...{ row: current, column, rows: props.rows, columns: props.columns.length },
    jump: Math.max(1, Math.floor(sight.height / ROW) - 2),
    goRow: (to, isExtending) => {
      go(to, isExtending);
      sight.reveal(Math.min(props.rows - 1, Math.max(0, to)));
    },
    goColumn: (to) => setColumn(Math.min(props.columns.length - 1, Math.max(0, to))),
    fold: (isOpening) => foldTo(isOpening, props, current, column),
    open: () => props.onOpen?.(current),
    toggle: () => toggle(current),
    sort: () => {
      if (here) props.onSort(nextSort(here, props.sort));
      return here !== undefined;
    },
    explain: () => {
      if (here === undefined) return false;
      page.dockIsOpen.value = true;
      page.go({ sel: `col:${props.label}.${here.name}` });
      return true;
    },
  };
  const press = (event: KeyboardEvent) => {
    // The buttons of the head have their own keys.
    if (event.target === sight.box.current) takeKey(GRID_KEYS, cursor, event);
  };
  return { current, column, choose, press };
}

export function Grid(props: GridProps) {
  const { windows, rows, columns } = props;
  const sight = useSight(rows, windows);
  const cursor = useCursor(props, sight);
  const { first, last } = sight;
  const visible = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i);
  const isInSight = cursor.current >= first && cursor.current < last;
  return (
    <div
      ref={sight.box}
      class="grid"
      role="grid"
      aria-label={props.label}
      aria-rowcount={rows + 1}
      aria-colcount={columns.length}
      aria-multiselectable="true"
      aria-activedescendant={
        isInSight ? `${props.label}-${cursor.current}-${cursor.column}` : undefined
      }
      tabIndex={0}
      onScroll={(event) => sight.setTop(event.currentTarget.scrollTop)}
      onKeyDown={cursor.press}
    >
      <Head
        columns={columns}
        sort={props.sort}
        label={props.label}
        onSort={props.onSort}
        onWiden={props.onWiden}
      />
      <div
        class="rows"
        role="rowgroup"
        style={{ height: `${sight.pixels}px` }}
        onMouseLeave={() => props.onHover?.(null)}
      >
        {visible.map((row) => (
          <Row
            key={row}
            windows={windows}
            columns={columns}
            row={row}
            y={sight.y(row)}
            id={props.label}
            isCurrent={row === cursor.current}
            column={cursor.column}
            isSelected={props.selected.has(row)}
            onChoose={cursor.choose}
            onOpen={props.onOpen}
            onHover={props.onHover}
            tree={props.tree}
          />
        ))}
      </div>
      {props.children}
    </div>
  );
}
