// SPDX-License-Identifier: Apache-2.0
// Which columns are shown, in which order, and which are pinned.

import type { CatalogTable } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import { usePage } from "../state/session.ts";
import { changed, formatCols, moved, parseCols, toggled, wishesOf } from "./layout.ts";

interface ColumnsMenuProps {
  readonly table: CatalogTable;
  readonly frame: Frame;
  /** Those that are shown. */
  readonly columns: readonly { readonly name: string }[];
}

export function ColumnsMenu({ table, frame, columns }: ColumnsMenuProps) {
  const page = usePage();
  const shown = columns.map((c) => c.name);
  const nHidden = frame.columns.length - shown.length;
  const wishes = wishesOf(parseCols(page.place.value.cols), shown);
  const set = (next: readonly (typeof wishes)[number][]) => page.go({ cols: formatCols(next) });
  const groups = page.place.value.by.split(",");
  const known = table.columns
    .filter((c) => c.group_by === null || groups.includes(c.group_by))
    .map((c) => c.name);
  const rest = known.filter((name) => !wishes.some((w) => w.name === name));
  return (
    <details class="columns-menu">
      <summary title={nHidden > 0 ? `${nHidden} are not shown` : undefined}>
        columns{nHidden > 0 && <span class="muted"> +{nHidden}</span>}
      </summary>
      <div class="menu">
        <ul>
          {wishes.map((wish) => (
            <li key={wish.name}>
              <label>
                <input type="checkbox" checked onChange={() => set(toggled(wishes, wish.name))} />{" "}
                {wish.name}
              </label>
              <span class="space" />
              {([-1, 1] as const).map((by) => (
                <button
                  key={by}
                  type="button"
                  class="plain"
                  aria-label={`Move ${wish.name} ${by < 0 ? "left" : "right"}`}
                  onClick={() => set(moved(wishes, wish.name, by))}
                >
                  {by < 0 ? "←" : "→"}
                </button>
              ))}
              {([-20, 20] as const).map((by) => (
                <button
                  key={by}
                  type="button"
                  class="plain"
                  aria-label={`Make ${wish.name} ${by < 0 ? "narrower" : "wider"}`}
                  onClick={() =>
                    set(
                      changed(wishes, wish.name, { width: Math.max(40, (wish.width || 120) + by) }),
                    )
                  }
                >
                  {by < 0 ? "−" : "+"}
                </button>
              ))}
              <button
                type="button"
                class="plain"
                aria-pressed={wish.isPinned}
                aria-label={`Pin ${wish.name}`}
                onClick={() => set(changed(wishes, wish.name, { isPinned: !wish.isPinned }))}
              >
                pin
              </button>
            </li>
          ))}
          {rest.map((name) => (
            <li key={name}>
              <label>
                <input
                  type="checkbox"
                  checked={false}
                  onChange={() => set(toggled(wishes, name))}
                />{" "}
                {name}
              </label>
            </li>
          ))}
        </ul>
        <button type="button" onClick={() => page.go({ cols: "" })}>
          as they come
        </button>
      </div>
    </details>
  );
}
