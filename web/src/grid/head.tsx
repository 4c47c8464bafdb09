// SPDX-License-Identifier: Apache-2.0
// The heads of columns: a click sorts, "?" explains, the funnel filters, the edge widens.

import type { TargetedPointerEvent } from "preact";
import { usePage } from "../state/session.ts";
import { type ShownColumn, titleOf } from "./columns.ts";
import { Explain } from "./explain.tsx";
import { Funnel } from "./funnel.tsx";
import type { PlacedColumn } from "./layout.ts";

/** The order after a click: numbers begin with the largest, texts with the first. */
export function nextSort(column: ShownColumn, sort: string): string {
  const [up, down] = [`${column.name}:asc`, `-${column.name}`];
  if (sort === down) return up;
  if (sort === up) return down;
  return column.isNumber ? down : up;
}

export function edgeOf(column: PlacedColumn) {
  return {
    width: `${column.width}px`,
    ...(column.isPinned && { left: `${column.left}px` }),
  };
}

function Edge({ column, onWiden }: { column: PlacedColumn; onWiden: (width: number) => void }) {
  const drag = (event: TargetedPointerEvent<HTMLSpanElement>) => {
    const edge = event.currentTarget;
    const from = event.clientX;
    edge.setPointerCapture(event.pointerId);
    const end = (up: PointerEvent) => {
      edge.removeEventListener("pointerup", end);
      onWiden(Math.round(column.width + up.clientX - from));
    };
    edge.addEventListener("pointerup", end);
    event.preventDefault();
  };
  return <span class="edge" title="Drag to widen" onPointerDown={drag} />;
}

interface HeadProps {
  readonly columns: readonly PlacedColumn[];
  readonly sort: string;
  readonly label: string;
  readonly onSort: (sort: string) => void;
  readonly onWiden: (name: string, width: number) => void;
}

export function Head({ columns, sort, label, onSort, onWiden }: HeadProps) {
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
            class={`${column.isNumber ? "number" : ""} ${column.isPinned ? "pinned" : ""}`}
            style={edgeOf(column)}
          >
            <button
              type="button"
              title={column.help}
              onClick={() => onSort(nextSort(column, sort))}
            >
              {titleOf(column)}
              {isUp ? " ▴" : isDown ? " ▾" : ""}
            </button>
            <Funnel column={column} />
            <Explain page={page} table={label} column={column.name} />
            <Edge column={column} onWiden={(width) => onWiden(column.name, width)} />
          </div>
        );
      })}
    </div>
  );
}
