// SPDX-License-Identifier: Apache-2.0
// The rows of a grid that are in sight, and below them the sums of all.

import type { Frame } from "../api/cols.ts";
import { formatIn } from "../model/units.ts";
import { NameText } from "../parts/name_text.tsx";
import { labelOf, shareOf, textOf } from "./columns.ts";
import { edgeOf } from "./head.tsx";
import type { PlacedColumn } from "./layout.ts";
import type { Windows } from "./windows.ts";

export const ROW = 24;

/** In a tree: the column that names a place, and the indexes of its depth and of its path. */
export interface GridTree {
  readonly name: string;
  readonly depth: number;
  readonly path: number;
  /** Whether what is inside of a place is shown; null: nothing is inside. */
  isOpen(path: string): boolean | null;
  toggle(path: string): void;
}

/** Shows what is inside of a place, or no longer. */
function Twig({ tree, path }: { tree: GridTree; path: string }) {
  const isOpen = tree.isOpen(path);
  if (isOpen === null) return <span class="twig" />;
  return (
    <button
      type="button"
      class="plain twig"
      tabIndex={-1}
      aria-label={isOpen ? "Shut" : "Open"}
      aria-expanded={isOpen}
      onClick={(event) => {
        event.stopPropagation();
        tree.toggle(path);
      }}
    >
      {isOpen ? "▾" : "▸"}
    </button>
  );
}

interface RowProps {
  readonly windows: Windows;
  readonly columns: readonly PlacedColumn[];
  readonly row: number;
  readonly y: number;
  readonly id: string;
  readonly isCurrent: boolean;
  /** The column that the keys are in. */
  readonly column: number;
  readonly isSelected: boolean;
  readonly onChoose: (row: number, column: number, event: MouseEvent) => void;
  readonly onOpen?: ((row: number) => void) | undefined;
  readonly onHover?: ((row: number) => void) | undefined;
  readonly tree?: GridTree | undefined;
}

function Cell({ props, i }: { props: RowProps; i: number }) {
  const { row, windows, tree } = props;
  const column = props.columns[i]!;
  const value = windows.value(row, column.index);
  const frame = windows.frameOf(row);
  const text = value === undefined ? "" : textOf(value, column);
  const share = shareOf(value, column);
  const depth = tree?.name === column.name ? Number(windows.value(row, tree.depth) ?? 0) : 0;
  const path =
    tree?.name === column.name && tree.path >= 0
      ? String(windows.value(row, tree.path) ?? "")
      : undefined;
  const isHere = props.isCurrent && props.column === i;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid takes the keys for its cells
    <div
      id={`${props.id}-${row}-${i}`}
      class={`cell${column.isNumber ? " number" : ""}${column.isPinned ? " pinned" : ""}${isHere ? " here" : ""}`}
      role="gridcell"
      aria-colindex={i + 1}
      title={value === null ? "missing" : (path ?? text)}
      onClick={(event) => props.onChoose(row, i, event)}
      {...(value !== undefined &&
        value !== null && {
          "data-v": String(value),
          "data-r": String(row),
          "data-c": column.name,
        })}
      style={{ ...edgeOf(column), ...(depth > 0 && { paddingLeft: `${8 + depth * 12}px` }) }}
    >
      {tree && path !== undefined && <Twig tree={tree} path={path} />}
      {share > 0.004 && <span class="bar-of" style={{ width: `${share * 100}%` }} />}
      {value !== undefined && frame && <NameText label={labelOf(value, column, frame)} />}
    </div>
  );
}

export function Row(props: RowProps) {
  const { row, columns, isCurrent, isSelected } = props;
  return (
    <div
      class={isCurrent ? "row current" : "row"}
      role="row"
      aria-rowindex={row + 2}
      aria-selected={isSelected}
      style={{ transform: `translateY(${props.y}px)` }}
      onDblClick={() => props.onOpen?.(row)}
      onMouseEnter={() => props.onHover?.(row)}
    >
      {columns.map((column, i) => (
        <Cell key={column.name} props={props} i={i} />
      ))}
    </div>
  );
}

interface SumsProps {
  /** With the sums of all rows. */
  readonly frame: Frame;
  readonly columns: readonly PlacedColumn[];
  /** Which columns add up. */
  readonly names: ReadonlySet<string>;
  readonly rowIndex: number;
}

export function SumRow({ frame, columns, names, rowIndex }: SumsProps) {
  return (
    <div class="row sums" role="row" aria-rowindex={rowIndex}>
      {columns.map((column, i) => {
        const sum = names.has(column.name) ? frame.sum(frame.find(column.name)) : null;
        return (
          <div
            key={column.name}
            class={`cell${column.isNumber ? " number" : ""}${column.isPinned ? " pinned" : ""}`}
            role="gridcell"
            aria-colindex={i + 1}
            style={edgeOf(column)}
            {...(sum !== null && {
              "data-v": String(sum),
              "data-r": "0-",
              "data-c": column.name,
            })}
          >
            {sum === null ? i === 0 && "Σ of all rows" : formatIn(Number(sum), column.shownUnit)}
          </div>
        );
      })}
    </div>
  );
}
