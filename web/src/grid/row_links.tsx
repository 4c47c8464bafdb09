// SPDX-License-Identifier: Apache-2.0
// From a row to what it counts: its place in time, and its events as rows.

import { rowsOfRow, timeOfRow, traceOfRow } from "../state/row_here.ts";
import { type PageState, type RowHere, usePage } from "../state/session.ts";

function show(page: PageState, row: RowHere): void {
  traceOfRow(page, row).catch((cause: unknown) => {
    page.notice.value = String(cause);
  });
}

/** TEXT, which leads to ROW in time if it has a place there. */
export function TimeLink({ row, text }: { row: RowHere; text: string }) {
  const page = usePage();
  if (!timeOfRow(row)) return <>{text}</>;
  return (
    <button
      type="button"
      class="plain in-time"
      title={`${text}: the longest of it in time, with all of them marked`}
      onClick={() => show(page, row)}
    >
      {text}
    </button>
  );
}

/** Links for ROW, which is asked when they are used. */
export function RowLinks({ row, keys }: { row: () => RowHere | null; keys?: boolean }) {
  const page = usePage();
  const go = (to: (page: PageState, row: RowHere) => void) => {
    const here = row();
    if (here !== null) to(page, here);
  };
  const [inTime, asRows] = keys === true ? ["trace (t)", "rows (r)"] : ["trace ›", "rows ›"];
  return (
    <>
      <button
        type="button"
        class="plain"
        title="The longest of its events in time, with all of them marked"
        onClick={() => go(show)}
      >
        {inTime}
      </button>
      <button type="button" class="plain" title="All of its events" onClick={() => go(rowsOfRow)}>
        {asRows}
      </button>
    </>
  );
}
