// SPDX-License-Identifier: Apache-2.0
// The average step and its parts, all steps, devices and ranks, and what to do first.

import type { Frame } from "../api/cols.ts";
import type { ColumnOf } from "../api/tables.ts";
import { StepsChart } from "../chart/steps.tsx";
import { SmallTable } from "../grid/small_table.tsx";
import { CATEGORIES } from "../model/categories.ts";
import { hasSteps } from "../model/strip.ts";
import { Section, useCommand } from "../parts/section.tsx";
import { useTable } from "../state/answers.ts";
import { mergedOptions, selectionOptions, stepOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { Advice } from "./advice.tsx";
import { Breakdown, BreakdownTools } from "./breakdown.tsx";
import { Headline } from "./headline.tsx";
import { StepRules } from "./step_rules.tsx";
import { Configuration, Info } from "./trace_info.tsx";

/** Of more ranks than that the table has them all. */
const MOST_RANKS = 32;
const ALL = { offset: 0, limit: 1000 };

const RANK_COLUMNS: readonly ColumnOf<"ranks">[] = [
  "rank",
  "span",
  "worker",
  "host",
  "device",
  "steps",
  "avg_step_ns",
  ...CATEGORIES.map((category) => `avg_${category}_ns` as const),
];

/** The options of tables, which count steps as the address wants it. */
function useOptions() {
  const page = usePage();
  const place = page.place.value;
  const rules = (name: string) =>
    stepOptions(
      place,
      page.catalog.value?.tables.find((t) => t.name === name),
    );
  return {
    each: (name: string) => ({ ...selectionOptions(place), ...rules(name) }),
    merged: (name: string) => ({ ...mergedOptions(place), ...rules(name) }),
  };
}

function countRanks(frame: Frame): number {
  return new Set(frame.map((row) => frame.text(row, "rank"))).size;
}

export function Overview() {
  const { each, merged } = useOptions();
  const overview = useTable("overview", merged("overview"), ALL);
  const steps = useTable("steps", each("steps"), { offset: 0, limit: 100_000 });
  const devices = useTable("devices", merged("devices"), ALL);
  const advice = useTable("advice", merged("advice"), ALL);
  const ranks = useTable("ranks", each("ranks"), { offset: 0, limit: MOST_RANKS });
  const isSeveral = ranks.frame !== null && ranks.frame.rows > 1;
  // A rank of several spans is one.
  const hasRanks = ranks.frame !== null && countRanks(ranks.frame) > 1;
  const stats = useTable(hasRanks ? "rank_stats" : null, each("rank_stats"), ALL);
  const configuration = useTable("info", merged("info"), ALL);
  const info = useTable("info", each("info"), ALL);
  useCommand(overview);
  // Without steps there is no average one: all of the time is in one row.
  const isOfSteps = steps.frame === null || hasSteps(steps.frame);
  const whole = usePage().place.value.t === null ? "All of the time" : "The range";
  return (
    <>
      <Headline view="overview" />
      <div class="columns">
        <Section
          title={isOfSteps ? "Average step" : whole}
          answer={overview}
          tools={<BreakdownTools />}
        >
          {(frame) => <Breakdown frame={frame} />}
        </Section>
        {isOfSteps && (
          <Section title="Steps" answer={steps} tools={<StepRules steps={steps.frame} />}>
            {(frame) => <StepsChart frame={frame} />}
          </Section>
        )}
      </div>
      <Section title="Devices" answer={devices}>
        {(frame) => (
          <>
            <SmallTable frame={frame} />
            <p class="muted">
              A utilization of 100 % can be one thread of one block: see the other columns, too.
            </p>
          </>
        )}
      </Section>
      <Section title="What to do" answer={advice}>
        {(frame) => <Advice frame={frame} />}
      </Section>
      {isSeveral && (
        <>
          {hasRanks && (
            <Section title="All ranks together" answer={stats}>
              {(frame) => <SmallTable frame={frame} />}
            </Section>
          )}
          <Section title="Each rank" answer={ranks}>
            {(frame) => <SmallTable frame={frame} columns={RANK_COLUMNS} />}
          </Section>
        </>
      )}
      <Section title="Configuration" answer={configuration}>
        {(frame) => <Configuration frame={frame} />}
      </Section>
      <Section title="Trace" answer={info}>
        {(frame) => <Info frame={frame} />}
      </Section>
    </>
  );
}
