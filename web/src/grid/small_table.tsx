// SPDX-License-Identifier: Apache-2.0
// A table of some rows, all of them in the page.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Frame, Value } from "../api/cols.ts";
import type { ColumnOf, TableName } from "../api/tables.ts";
import { NameText } from "../parts/name_text.tsx";
import { type RowHere, usePage } from "../state/session.ts";
import {
  emptyColumns,
  labelOf,
  type ShownColumn,
  shareOf,
  showColumns,
  textOf,
  titleOf,
} from "./columns.ts";
import { Explain } from "./explain.tsx";
import { TimeLink } from "./row_links.tsx";

/** ROW of FRAME with its values as texts. */
export function rowOf(frame: Frame, row: number): RowHere {
  const values: Record<string, string> = {};
  for (const [i, { name }] of frame.columns.entries()) {
    const value = frame.value(row, i);
    if (value !== null) values[name] = String(value);
  }
  return { table: frame.table, values };
}

interface SmallTableProps<T extends TableName> {
  readonly frame: Frame<T>;
  /** Which columns; without it, all. Those that the frame does not have are left out. */
  readonly columns?: readonly ColumnOf<T>[];
  readonly onOpen?: (row: number) => void;
  /** What a click into the first cell does; without it, it is the text of the cell. */
  readonly opens?: string;
  /** What the table is called; without it, by the name of its rows. */
  readonly label?: string;
  /** A column behind those of the frame. */
  readonly last?: { readonly title: string; cell(row: number): ComponentChildren };
}

interface CellProps {
  readonly value: Value;
  readonly column: ShownColumn;
  readonly frame: Frame;
  readonly row: number;
  /** What stands there instead of its text. */
  readonly children?: ((label: string) => ComponentChildren) | false;
}

function Cell({ value, column, frame, row, children }: CellProps) {
  const share = shareOf(value, column);
  const label = labelOf(value, column, frame);
  return (
    <td
      class={column.isNumber ? "number" : ""}
      title={value === null ? "missing" : textOf(value, column)}
      {...(value !== null && {
        "data-v": String(value),
        "data-r": String(row),
        "data-c": column.name,
      })}
    >
      {share > 0.004 && <span class="bar-of" style={{ width: `${share * 100}%` }} />}
      {children ? children(label) : <NameText label={label} />}
    </td>
  );
}

export function SmallTable<T extends TableName>(props: SmallTableProps<T>) {
  const { frame, columns, onOpen, opens, last } = props;
  const label = props.label ?? `table ${frame.table}`;
  const page = usePage();
  const table = page.catalog.value?.tables.find((t) => t.name === frame.table);
  const shown = useMemo(() => {
    const empty = emptyColumns(frame);
    const all = showColumns(frame, table).filter((c) => !empty.has(c.name));
    if (columns === undefined) return all;
    return columns.flatMap((name) => all.find((c) => c.name === name) ?? []);
  }, [frame, table, columns?.join()]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <div class="small-table" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {shown.map((c) => (
              <th key={c.name} scope="col" class={c.isNumber ? "number" : ""} title={c.help}>
                {titleOf(c)} <Explain page={page} table={frame.table} column={c.name} />
              </th>
            ))}
            {last && <th scope="col">{last.title}</th>}
          </tr>
        </thead>
        <tbody>
          {frame.map((row) => (
            <tr key={row}>
              {shown.map((c, i) => (
                <Cell
                  key={c.name}
                  value={frame.value(row, c.index)}
                  column={c}
                  frame={frame}
                  row={row}
                >
                  {i === 0 &&
                    ((label) =>
                      onOpen ? (
                        <button type="button" class="plain" onClick={() => onOpen(row)}>
                          {opens === undefined ? label : `${label} ${opens}`}
                        </button>
                      ) : (
                        <TimeLink row={rowOf(frame, row)} text={label} />
                      ))}
                </Cell>
              ))}
              {last && <td class="whole">{last.cell(row)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
