// SPDX-License-Identifier: Apache-2.0
// What is below a row: its shapes, stacks, durations and calls, asked when it is opened.

import { useState } from "preact/hooks";
import type { Options } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import { SmallTable } from "../grid/small_table.tsx";
import { useTable } from "../state/answers.ts";
import { showInTrace } from "../state/in_trace.ts";
import { mergedOptions, quote, selectionOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { FRESH, type Place } from "../state/url.ts";
import { Section, type Tab, Tabs } from "./parts.tsx";
import { Stacks } from "./stacks.tsx";

interface BelowTab extends Tab {
  readonly table: string;
  readonly options: (place: Place, name: string) => Options;
  readonly columns?: readonly string[];
}

const named = (place: Place, name: string) => ({
  ...mergedOptions(place),
  where: `name = ${quote(name)}`,
});

const CALLS: BelowTab = {
  name: "calls",
  title: "slowest calls",
  table: "events",
  options: (place, name) => ({
    ...selectionOptions(place),
    where: `name = ${quote(name)}`,
    sort: "dur_ns",
  }),
  columns: ["id", "rank", "thread_name", "device", "step", "start_ns", "dur_ns", "self_ns", "args"],
};

const DURATIONS: BelowTab = {
  name: "durations",
  title: "durations",
  table: "durations",
  options: (place, name) => ({ ...mergedOptions(place), name }),
};

/** Calls of a module by the name of its range. */
const MODULE_CALLS: BelowTab = {
  ...CALLS,
  options: (place, name) => ({
    ...selectionOptions(place),
    where: `name in (${quote(`nn.Module: ${name}`)}, ${quote(name)})`,
    sort: "dur_ns",
  }),
};

/** What can be asked of one operator, of one kernel, and of one module. */
export const BELOW: Readonly<Record<"operator" | "kernel" | "module", readonly BelowTab[]>> = {
  operator: [
    {
      name: "shapes",
      title: "shapes",
      table: "operators",
      options: (place, name) => ({ ...named(place, name), "group-by": "shape" }),
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
    {
      name: "stacks",
      title: "stacks",
      table: "operators",
      options: (place, name) => ({ ...named(place, name), "group-by": "stack" }),
    },
    DURATIONS,
    CALLS,
  ],
  kernel: [
    {
      name: "launches",
      title: "operators and launches",
      table: "kernels",
      options: (place, name) => ({ ...named(place, name), "group-by": "op" }),
    },
    DURATIONS,
    CALLS,
  ],
  module: [MODULE_CALLS],
};

/** The rows of TAB; a call is also a place in the trace. */
function Rows({ tab, frame }: { tab: BelowTab; frame: Frame }) {
  const page = usePage();
  if (tab.name === "stacks") return <Stacks frame={frame} />;
  const open = (row: number) =>
    void showInTrace(page, frame, row).catch((cause: unknown) => {
      page.notice.value = String(cause);
    });
  return (
    <SmallTable
      frame={frame}
      {...(tab.columns && { columns: tab.columns })}
      {...(tab.table === "events" && { onOpen: open, opens: "trace ›" })}
    />
  );
}

export function Below({ name, tabs }: { name: string; tabs: readonly BelowTab[] }) {
  const page = usePage();
  const [chosen, choose] = useState(tabs[0]!.name);
  const tab = tabs.find((t) => t.name === chosen) ?? tabs[0]!;
  const options = tab.options(page.place.value, name);
  const answer = useTable(tab.table, options, { offset: 0, limit: 100 });
  const where = typeof options.where === "string" ? options.where : "";
  const tools = (
    <>
      <Tabs label="What to show of it" tabs={tabs} value={tab.name} onChange={choose} />
      <button
        type="button"
        class="plain"
        onClick={() =>
          page.go({
            ...FRESH,
            view: "tables",
            table: "events",
            where: where === "" ? `name = ${quote(name)}` : where,
          })
        }
      >
        rows ›
      </button>
      <button type="button" class="plain" onClick={() => page.go({ sel: "" })}>
        close
      </button>
    </>
  );
  return (
    <div class="below">
      <Section title={name} answer={answer} tools={tools}>
        {(frame) => <Rows tab={tab} frame={frame} />}
      </Section>
    </div>
  );
}
