// SPDX-License-Identifier: Apache-2.0
// Rows of any table: only those in sight are in the page, however many there are.

import { useEffect, useRef, useState } from "preact/hooks";
import { usePage } from "../state/session.ts";
import { type ShownColumn, shareOf, textOf, titleOf } from "./columns.ts";
import { Explain } from "./explain.tsx";
import type { Windows } from "./windows.ts";

const ROW = 24;
/** Browsers cap the height of an element; above, the scroll bar stands for row numbers. */
const MOST_PIXELS = 14_000_000;
const SPARE = 8;

interface GridProps {
  readonly windows: Windows;
  readonly columns: readonly ShownColumn[];
  readonly rows: number;
  readonly label: string;
  /** Grows when rows have come. */
  readonly version: number;
  /** As the command has it: -COLUMN, or COLUMN:asc. */
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  readonly onOpen?: (row: number) => void;
  /** In a tree: the column that names a place, and the index of the column with its depth. */
  readonly tree?: { readonly name: string; readonly depth: number };
}

/** The order after a click: numbers begin with the largest, texts with the first. */
export function nextSort(column: ShownColumn, sort: string): string {
  const [up, down] = [`${column.name}:asc`, `-${column.name}`];
  if (sort === down) return up;
  if (sort === up) return down;
  return column.isNumber ? down : up;
}

function Head({
  columns,
  sort,
  label,
  onSort,
}: Pick<GridProps, "columns" | "sort" | "label" | "onSort">) {
  const page = usePage();
  return (
    <div class="head" role="row" aria-rowindex={1}>
      {columns.map((column, i) => {
        const isUp = sort === `${column.name}:asc`;
        const isDown = sort === `-${column.name}`;
        return (
          <div
            key={column.name}
            role="columnheader"
            aria-colindex={i + 1}
            aria-sort={isUp ? "ascending" : isDown ? "descending" : "none"}
            class={column.isNumber ? "number" : ""}
            style={{ width: `${column.width}px` }}
          >
            <button
              type="button"
              title={column.help}
              onClick={() => onSort(nextSort(column, sort))}
            >
              {titleOf(column)}
              {isUp ? " ▴" : isDown ? " ▾" : ""}
            </button>
            <Explain page={page} table={label} column={column.name} />
          </div>
        );
      })}
    </div>
  );
}

function Cell({ props, row, i }: { props: GridProps; row: number; i: number }) {
  const column = props.columns[i]!;
  const value = props.windows.value(row, column.index);
  const text = value === undefined ? "" : textOf(value, column);
  const share = shareOf(value, column);
  const depth =
    props.tree?.name === column.name ? Number(props.windows.value(row, props.tree.depth) ?? 0) : 0;
  return (
    <div
      class={column.isNumber ? "cell number" : "cell"}
      role="gridcell"
      aria-colindex={i + 1}
      title={value === null ? "missing" : text}
      {...(value !== undefined &&
        value !== null && {
          "data-v": String(value),
          "data-r": String(row),
          "data-c": column.name,
        })}
      style={{
        width: `${column.width}px`,
        ...(depth > 0 && { paddingLeft: `${8 + depth * 12}px` }),
      }}
    >
      {share > 0.004 && <span class="bar-of" style={{ width: `${share * 100}%` }} />}
      {text}
    </div>
  );
}

export function Grid(props: GridProps) {
  const { windows, rows, columns } = props;
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(400);
  const [current, setCurrent] = useState(0);
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

  const move = (row: number) => {
    const next = Math.min(rows - 1, Math.max(0, row));
    const element = box.current;
    setCurrent(next);
    if (element === null) return;
    const y = (next * ROW) / scale;
    const page = (height - 3 * ROW) / scale;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y > element.scrollTop + page) element.scrollTop = y - page;
  };
  const press = (event: KeyboardEvent) => {
    // The buttons of the head have their own keys.
    if (event.target !== box.current) return;
    const page = Math.max(1, Math.floor(height / ROW) - 2);
    const steps: Record<string, number> = {
      ArrowDown: current + 1,
      ArrowUp: current - 1,
      PageDown: current + page,
      PageUp: current - page,
      Home: 0,
      End: rows - 1,
    };
    const next = steps[event.key];
    if (next !== undefined) move(next);
    else if (event.key === "Enter") props.onOpen?.(current);
    else return;
    event.preventDefault();
  };
  const visible = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i);
  return (
    <div
      ref={box}
      class="grid"
      role="grid"
      aria-label={props.label}
      aria-rowcount={rows + 1}
      aria-colcount={columns.length}
      tabIndex={0}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={press}
    >
      <Head columns={columns} sort={props.sort} label={props.label} onSort={props.onSort} />
      <div class="rows" role="rowgroup" style={{ height: `${pixels}px` }}>
        {visible.map((row) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the grid takes the keys for its rows
          <div
            key={row}
            class="row"
            role="row"
            aria-rowindex={row + 2}
            aria-selected={row === current}
            style={{ transform: `translateY(${row * ROW - top * (scale - 1)}px)` }}
            onClick={() => setCurrent(row)}
            onDblClick={() => props.onOpen?.(row)}
          >
            {columns.map((column, i) => (
              <Cell key={column.name} props={props} row={row} i={i} />
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}
