// SPDX-License-Identifier: Apache-2.0
import type { PageState } from "../state/session.ts";

interface ExplainProps {
  readonly page: PageState;
  readonly table: string;
  readonly column: string;
}

/** The "?" of a column: the dock then says what it means. */
export function Explain({ page, table, column }: ExplainProps) {
  return (
    <button
      type="button"
      class="explain"
      aria-label={`Explain ${column}`}
      title="What this column means"
      onClick={() => {
        page.dockIsOpen.value = true;
        page.go({ sel: `col:${table}.${column}` });
      }}
    >
      ?
    </button>
  );
}
