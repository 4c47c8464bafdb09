// SPDX-License-Identifier: Apache-2.0
// What is below a row: its shapes, stacks, durations and calls, asked when it is opened.

import { useState } from "preact/hooks";
import type { Options } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import type { ColumnOf, TableName } from "../api/tables.ts";
import { RowLinks } from "../grid/row_links.tsx";
import { SmallTable } from "../grid/small_table.tsx";
import { quote } from "../model/expr.ts";
import { type Opened, selOfOpened } from "../model/opened.ts";
import { Section, type Tab, Tabs } from "../parts/section.tsx";
import { useTable } from "../state/answers.ts";
import { showInTrace } from "../state/in_trace.ts";
import { mergedOptions, selectionOptions } from "../state/options.ts";
import { isOfShape } from "../state/row_events.ts";
import { usePage } from "../state/session.ts";
import type { Place } from "../state/url.ts";
import { Stacks } from "./stacks.tsx";

interface TabOf<T extends TableName> extends Tab {
  readonly table: T;
  readonly options: (place: Place, opened: Opened) => Options;
  readonly columns?: readonly ColumnOf<T>[];
}
type BelowTab = TabOf<"operators"> | TabOf<"kernels"> | TabOf<"events"> | TabOf<"durations">;

/** The rows of OPENED: those of its name, and of its shape if it has one. */
const whereOfRow = ({ name, shape }: Opened) =>
  `name = ${quote(name)}${shape === undefined ? "" : ` and input_shape = ${quote(shape)}`}`;

const named = (place: Place, opened: Opened) => ({
  ...mergedOptions(place),
  where: whereOfRow(opened),
});

/** The calls of OPENED. */
function whereOfCalls({ name, shape }: Opened): string {
  const ofName = `name = ${quote(name)}`;
  return shape === undefined ? ofName : `${ofName} and ${isOfShape(shape)}`;
}

const CALLS: TabOf<"events"> = {
  name: "calls",
  title: "slowest calls",
  table: "events",
  options: (place, opened) => ({
    ...selectionOptions(place),
    where: whereOfCalls(opened),
    sort: "dur_ns",
  }),
  columns: ["id", "rank", "thread_name", "device", "step", "start_ns", "dur_ns", "self_ns", "args"],
};

const DURATIONS: TabOf<"durations"> = {
  name: "durations",
  title: "durations",
  table: "durations",
  options: (place, { name }) => ({ ...mergedOptions(place), name }),
};

/** Calls of a module by the name of its range. */
const MODULE_CALLS: TabOf<"events"> = {
  ...CALLS,
  options: (place, { name }) => ({
    ...selectionOptions(place),
    where: `name in (${quote(`nn.Module: ${name}`)}, ${quote(name)})`,
    sort: "dur_ns",
  }),
};

const STACKS: TabOf<"operators"> = {
  name: "stacks",
  title: "stacks",
  table: "operators",
  options: (place, opened) => ({
    ...named(place, opened),
    "group-by": opened.shape === undefined ? "stack" : "shape,stack",
  }),
};

/** What can be asked of one operator, of one with inputs of one shape, of one kernel, and of one
 * module. */
export const BELOW: Readonly<
  Record<"operator" | "shape" | "kernel" | "module", readonly BelowTab[]>
> = {
  operator: [
    {
      name: "shapes",
      title: "shapes",
      table: "operators",
      options: (place, opened) => ({ ...named(place, opened), "group-by": "shape" }),
      columns: [
        "input_shape",
        "calls",
        "device_self_ns",
        "device_total_ns",
        "host_self_ns",
        "host_total_ns",
        "median_host_self_ns",
        "max_host_self_ns",
      ],
    },
    STACKS,
    DURATIONS,
    CALLS,
  ],
  shape: [STACKS, CALLS],
  kernel: [
    {
      name: "launches",
      title: "operators and launches",
      table: "kernels",
      options: (place, opened) => ({ ...named(place, opened), "group-by": "op" }),
    },
    DURATIONS,
    CALLS,
  ],
  module: [MODULE_CALLS],
};

/** The table whose row has TABS below it. */
function tableOf(tabs: readonly BelowTab[]): string {
  if (tabs === BELOW.module) return "modules";
  return tabs === BELOW.kernel ? "kernels" : "operators";
}

/** The rows of TAB; a call is also a place in the trace. */
function Rows({ tab, frame, name }: { tab: BelowTab; frame: Frame; name: string }) {
  const page = usePage();
  const columns = tab.columns && { columns: tab.columns as readonly never[] };
  if (frame.isOf("events")) {
    const open = (row: number) =>
      void showInTrace(page, frame, row).catch((cause: unknown) => {
        page.notice.value = String(cause);
      });
    return <SmallTable frame={frame} {...columns} onOpen={open} opens="trace ›" />;
  }
  if (tab.name === "stacks" && frame.isOf("operators")) return <Stacks frame={frame} />;
  if (tab.name === "shapes" && frame.isOf("operators")) {
    const open = (row: number) =>
      page.go({ sel: selOfOpened("operator", { name, shape: frame.text(row, "input_shape") }) });
    return <SmallTable frame={frame} {...columns} onOpen={open} opens="stacks ›" />;
  }
  return <SmallTable frame={frame} {...columns} />;
}

interface BelowProps {
  readonly opened: Opened;
  readonly tabs: readonly BelowTab[];
}

export function Below({ opened, tabs }: BelowProps) {
  const page = usePage();
  const { name, shape } = opened;
  const [chosen, choose] = useState(tabs[0]!.name);
  const tab = tabs.find((t) => t.name === chosen) ?? tabs[0]!;
  const options = tab.options(page.place.value, opened);
  const answer = useTable(tab.table, options, { offset: 0, limit: 100 });
  const values = shape === undefined ? { name } : { name, input_shape: shape };
  const tools = (
    <>
      <Tabs label="What to show of it" tabs={tabs} value={tab.name} onChange={choose} />
      <RowLinks row={() => ({ table: tableOf(tabs), values })} />
      {shape !== undefined && (
        <button
          type="button"
          class="plain"
          onClick={() => page.go({ sel: selOfOpened("operator", { name }) })}
        >
          all shapes ›
        </button>
      )}
      <button type="button" class="plain" onClick={() => page.go({ sel: "" })}>
        close
      </button>
    </>
  );
  return (
    <div class="below">
      <Section title={`${name} ${shape ?? ""}`.trim()} answer={answer} tools={tools}>
        {(frame) => <Rows tab={tab} frame={frame} name={name} />}
      </Section>
    </div>
  );
}
