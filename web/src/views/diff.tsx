// SPDX-License-Identifier: Apache-2.0
// Two runs: whether the new one is faster, beyond noise, and by what.

import type { Options } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import type { ColumnOf, TableName } from "../api/tables.ts";
import { type Measure, Ranked } from "../chart/ranked.tsx";
import { TableView } from "../grid/table_view.tsx";
import { Section, Tabs, useCommand } from "../parts/section.tsx";
import { useTable } from "../state/answers.ts";
import { baseOptions, selectionOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { type Base, FRESH, formatBase, PLAIN_TABLE, parseBase } from "../state/url.ts";
import { DiffTree } from "./diff_tree.tsx";
import { textOf } from "./headline.tsx";

const TABS: readonly { readonly name: TableName; readonly title: string }[] = [
  { name: "diff_operators", title: "operators" },
  { name: "diff_kernels", title: "kernels" },
  { name: "diff_inside", title: "operators inside" },
  { name: "diff_tree", title: "tree" },
  { name: "diff_steps", title: "parts of steps" },
];
const MEASURES: readonly Measure<"diff_steps">[] = [
  { column: "mean_base_ns", title: "base, per step" },
  { column: "mean_new_ns", title: "new, per step" },
  { column: "mean_delta_ns", title: "change", isChange: true },
];

const SIDES = ["base", "new", "delta"] as const;
/** Of `diff_operators`, which has many columns: those that say what has changed. */
const OPERATORS: readonly ColumnOf<"diff_operators">[] = [
  ...SIDES.map((side) => `mean_${side}_device_self_ns` as const),
  ...SIDES.map((side) => `mean_${side}_host_self_ns` as const),
  ...(["delta_ratio", "significant", "p_value", "mean_base_calls", "mean_new_calls"] as const),
  ...(["base_calls", "new_calls", "delta_calls"] as const),
  ...(["delta_device_self_ns", "delta_host_self_ns"] as const),
  ...(["delta_device_total_ns", "delta_host_total_ns"] as const),
];

const INSIDE_TIMES = ["device_self", "host_self", "device", "host"] as const;
const inside = (mean: "" | "mean_"): readonly ColumnOf<"diff_inside">[] => [
  "name",
  ...SIDES.map((side) => `${mean}${side}_calls` as const),
  "delta_calls_ratio",
  ...INSIDE_TIMES.flatMap((time) => [
    ...SIDES.map((side) => `${mean}${side}_${time}_ns` as const),
    `delta_${time}_ratio` as const,
  ]),
];

/** What the operators inside of ROOT are asked by; HASSTEPS: both runs have some. */
function insideOptions(root: string, hasSteps: boolean): Options {
  const columns = inside(hasSteps ? "mean_" : "").join();
  return root === "" ? { columns } : { columns, name: root };
}

/** The option that chooses the columns of TABLE when it is grouped by BY. */
function columnsOf(table: TableName, by: string): Options {
  if (table !== "diff_operators") return {};
  return { columns: ["name", ...(by === "shape" ? ["input_shape"] : []), ...OPERATORS].join() };
}

interface OwnProps {
  readonly name: "rank" | "span";
  readonly value: string;
  /** That of the new run. */
  readonly now: string;
  onChange(value: string): void;
}

/** A rank or span that the base has for itself. */
function Own({ name, value, now, onChange }: OwnProps) {
  return (
    <label>
      {name}{" "}
      <input
        class="own"
        value={value}
        placeholder={now === "" ? "all" : now}
        aria-label={`${name} of the base`}
        onChange={(event) => onChange(event.currentTarget.value.replace(/[^\d,-]/g, ""))}
      />
    </label>
  );
}

/** Which run is the base, and which the new one. */
function Picker() {
  const page = usePage();
  const runs = page.session.value?.runs ?? [];
  const { cmp, rank, span } = page.place.value;
  const base = parseBase(cmp);
  const now = page.run.value;
  const change = (more: Partial<Base>) => page.go({ cmp: formatBase({ ...base, ...more }) });
  return (
    <div class="section-head">
      <label>
        base{" "}
        <select value={base.run} onChange={(event) => page.go({ cmp: event.currentTarget.value })}>
          <option value="">choose a run</option>
          {runs.map((run) => (
            <option key={run.name} value={run.name}>
              {run.name === now ? `${run.name}, itself` : run.name}
            </option>
          ))}
        </select>
      </label>
      <Own name="rank" value={base.rank} now={rank} onChange={(rank) => change({ rank })} />
      <Own name="span" value={base.span} now={span} onChange={(span) => change({ span })} />
      <button
        type="button"
        disabled={base.run === ""}
        title="Exchange base and new"
        aria-label="Exchange base and new"
        onClick={() =>
          page.go({
            ...{ run: base.run, rank: base.rank || rank, span: base.span || span },
            cmp: formatBase({
              run: now,
              rank: base.rank === "" ? "" : rank,
              span: base.span === "" ? "" : span,
            }),
          })
        }
      >
        ⇄
      </button>
      <span>new: {now}</span>
      <button
        type="button"
        class="plain"
        disabled={base.run === "" || base.run === now}
        title="Show both timelines, locked"
        onClick={() => page.go({ ...FRESH, view: "trace" })}
      >
        timelines ›
      </button>
    </div>
  );
}

/** The first note of diff_steps is about the whole step; the last one counts steps. */
function sentenceOf(steps: Frame<"diff_steps">): string {
  const note = steps.notes[0] ?? "";
  return `${note.charAt(0).toUpperCase()}${note.slice(1)}.`;
}

/** Whether the average step is known on both sides. */
function hasSteps(steps: Frame<"diff_steps"> | null): boolean {
  return steps !== null && steps.n > 0 && steps.at(0, "mean_base_ns") !== null;
}

function Comparison() {
  const page = usePage();
  const place = page.place.value;
  const options = { ...selectionOptions(place), ...baseOptions(place.cmp) };
  const steps = useTable("diff_steps", options, { offset: 0, limit: 100 });
  const tab = TABS.find((t) => t.name === place.table) ?? TABS[0]!;
  useCommand(steps);
  return (
    <>
      <h1>{textOf(steps, (frame) => sentenceOf(frame))}</h1>
      <Picker />
      <Section title="Parts of the average step" answer={steps} said={1}>
        {(frame) => (
          <Ranked
            frame={frame}
            measures={MEASURES}
            n={100}
            by="name"
            label="Parts of the average step of both runs, the largest change first"
            isShared
          />
        )}
      </Section>
      <DiffTree options={options} />
      <Tabs
        label="Tables of changes"
        tabs={TABS}
        value={tab.name}
        onChange={(table) => page.go({ ...PLAIN_TABLE, table })}
      />
      {tab.name === "diff_inside" && (
        <p class="muted">inside of {place.root === "" ? "all" : place.root}</p>
      )}
      <TableView
        key={tab.name}
        name={tab.name}
        options={{
          ...options,
          ...(tab.name === "diff_inside"
            ? insideOptions(place.root, hasSteps(steps.frame))
            : columnsOf(tab.name, place.by)),
        }}
      />
    </>
  );
}

export function Diff() {
  const page = usePage();
  const runs = page.session.value?.runs ?? [];
  const base = page.place.value.cmp;
  if (base !== "") return <Comparison />;
  return (
    <>
      <h1>Compare {page.run.value} with another run.</h1>
      <Picker />
      {runs.length < 2 && (
        <p class="empty">
          There is one run here. Compare ranks or spans of it, or open a directory with several:
          opscope view --logdir DIRECTORY
        </p>
      )}
    </>
  );
}
