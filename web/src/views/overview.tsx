// SPDX-License-Identifier: Apache-2.0
// The average step and its parts, all steps, devices and ranks, and what to do first.

import type { Frame } from "../api/cols.ts";
import { StepsChart } from "../chart/steps.tsx";
import { SmallTable } from "../grid/small_table.tsx";
import { format, formatTime } from "../model/units.ts";
import { useTable } from "../state/answers.ts";
import { mergedOptions, selectionOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { Advice } from "./advice.tsx";
import { Headline } from "./headline.tsx";
import { Section, useCommand } from "./parts.tsx";
import { RankStats } from "./rank_stats.tsx";

const ALL = { offset: 0, limit: 1000 };

function Breakdown({ frame }: { frame: Frame }) {
  const rows = Array.from({ length: Math.max(0, frame.n - 1) }, (_, i) => i + 1);
  return (
    <div class="bars">
      {rows.map((row) => {
        const name = frame.text(row, "category");
        const ratio = frame.at(row, "ratio") ?? 0;
        const place = { "data-r": String(row) };
        return (
          <>
            <span>{name}</span>
            <span>
              <span
                class={`fill fill-${name}`}
                style={{ width: `${Math.min(100, Math.max(0, ratio * 100))}%` }}
              />
            </span>
            <span
              class="number"
              data-v={String(frame.value(row, frame.index("avg_ns")))}
              data-c="avg_ns"
              {...place}
            >
              {formatTime(frame.at(row, "avg_ns") ?? 0)}
            </span>
            <span class="number muted" data-v={String(ratio)} data-c="ratio" {...place}>
              {format(ratio, "ratio")}
            </span>
          </>
        );
      })}
    </div>
  );
}

/** What the trace says of itself: facts, and the members of its file. */
function Info({ frame }: { frame: Frame }) {
  const meta: number[] = [];
  const facts: number[] = [];
  for (let row = 0; row < frame.n; row++)
    (frame.text(row, "key").startsWith("meta.") ? meta : facts).push(row);
  const hasRank = frame.index("rank") >= 0;
  const list = (rows: readonly number[]) => (
    <table class="plain-table facts">
      <tbody>
        {rows.map((row) => (
          <tr key={row}>
            {hasRank && <td class="muted">rank {frame.text(row, "rank")}</td>}
            <th scope="row">{frame.text(row, "key").replace(/^meta\./, "")}</th>
            <td data-v={frame.text(row, "value")} data-r={String(row)} data-c="value">
              {frame.text(row, "value") || "–"}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
  return (
    <>
      <details>
        <summary>configuration and counts ({facts.length})</summary>
        {list(facts)}
      </details>
      <details>
        <summary>trace information ({meta.length})</summary>
        {list(meta)}
      </details>
    </>
  );
}

export function Overview() {
  const place = usePage().place.value;
  const each = selectionOptions(place);
  const overview = useTable("overview", mergedOptions(place), ALL);
  const steps = useTable("steps", each, { offset: 0, limit: 100_000 });
  const devices = useTable("devices", mergedOptions(place), ALL);
  const advice = useTable("advice", mergedOptions(place), ALL);
  const ranks = useTable("ranks", each, { offset: 0, limit: 10_000 });
  const info = useTable("info", each, ALL);
  useCommand(overview.frame);
  return (
    <>
      <Headline view="overview" />
      <div class="columns">
        <Section title="Average step" answer={overview}>
          {(frame) => <Breakdown frame={frame} />}
        </Section>
        <Section title="Steps" answer={steps}>
          {(frame) => <StepsChart frame={frame} />}
        </Section>
      </div>
      <Section title="What to do" answer={advice}>
        {(frame) => <Advice frame={frame} />}
      </Section>
      <Section title="Devices" answer={devices}>
        {(frame) => <SmallTable frame={frame} />}
      </Section>
      {ranks.frame !== null && ranks.frame.rows > 1 && (
        <Section title="All ranks" answer={ranks}>
          {(frame) => <RankStats frame={frame} />}
        </Section>
      )}
      <Section title="Trace" answer={info}>
        {(frame) => <Info frame={frame} />}
      </Section>
    </>
  );
}
