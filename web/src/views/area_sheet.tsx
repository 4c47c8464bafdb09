// SPDX-License-Identifier: Apache-2.0
// What an area or a search of the timeline holds: the same rows as tables of the command, with its
// range of time and thread.

import type { Options } from "../api/api.ts";
import type { TableName } from "../api/tables.ts";
import { TableView } from "../grid/table_view.tsx";
import { isExpression, quote } from "../model/expr.ts";
import { Tabs } from "../parts/section.tsx";
import { selectionOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import type { Place } from "../state/url.ts";

interface AreaTab {
  readonly name: string;
  readonly title: string;
  readonly table: TableName;
  readonly more: Options;
}

const TABS: readonly AreaTab[] = [
  { name: "", title: "names", table: "ranges", more: {} },
  { name: "kinds", title: "kinds", table: "ranges", more: { "group-by": "kind" } },
  {
    ...{ name: "counters", title: "counters", table: "points" },
    more: { where: `kind = ${quote("counter")}` },
  },
  { name: "flows", title: "flows", table: "flows", more: {} },
  { name: "events", title: "events", table: "events", more: {} },
];

/** The options of an area: its range of time, and its thread if it is of one. */
function areaOptions(place: Place, tab: AreaTab): Options {
  const [, process, thread] = /^([^/]*)\/(.*)$/s.exec(place.thread) ?? [];
  const one = process !== undefined && thread !== undefined ? { process, thread } : {};
  return { ...selectionOptions(place), ...one, ...tab.more };
}

/** Whether a search leaves out rows of TAB. Kinds and arrows have no names; expressions are about
 * events. */
function isSearched(tab: AreaTab, q: string): boolean {
  if (isExpression(q)) return tab.name === "events";
  return tab.name !== "kinds" && tab.name !== "flows";
}

export function AreaSheet() {
  const page = usePage();
  const { value: place } = page.place;
  const first = isExpression(place.q) ? "events" : "";
  const tab = TABS.find((one) => one.name === (place.area || first)) ?? TABS[0]!;
  return (
    <section class="sheet" aria-label={`Area, ${tab.title}`}>
      <div class="tools">
        <Tabs
          label="What to show of the area"
          tabs={TABS}
          value={tab.name}
          onChange={(area) => page.go({ area, sort: "", where: "", by: "", cols: "" })}
        />
        {place.thread !== "" && (
          <button
            type="button"
            class="plain"
            title="Take all threads and queues"
            onClick={() => page.go({ thread: "" })}
          >
            thread {place.thread.replace(/^[^/]*\//, "")}, with the device work of it ×
          </button>
        )}
      </div>
      <TableView
        key={tab.name}
        name={tab.table}
        options={areaOptions(place, tab)}
        isSearched={isSearched(tab, place.q)}
      />
    </section>
  );
}
