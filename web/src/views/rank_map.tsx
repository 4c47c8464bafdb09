// SPDX-License-Identifier: Apache-2.0
// Who let the others wait in which step, and what a step of each rank is made of; below, one cell:
// who, what, where.

import { useMemo } from "preact/hooks";
import type { Frame } from "../api/cols.ts";
import { HeatMapChart, heatSentence, rowHeight } from "../chart/heat_map.tsx";
import { RowLinks } from "../grid/row_links.tsx";
import { SmallTable } from "../grid/small_table.tsx";
import { type HeatMap, type HeatOrder, heatOf } from "../model/heat.ts";
import { type RankPart, rankParts } from "../model/rank_parts.ts";
import { formatTime } from "../model/units.ts";
import { Section, Tabs } from "../parts/section.tsx";
import { useTable } from "../state/answers.ts";
import { allRanksOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { FRESH } from "../state/url.ts";

const METRICS = [
  { name: "caused_wait_ns", title: "wait caused" },
  { name: "waited_ns", title: "waits" },
] as const;
const ORDERS = [
  { name: "late", title: "late" },
  { name: "rank", title: "rank" },
  { name: "alike", title: "alike" },
];

function orderOf(text: string): HeatOrder {
  return text === "rank" || text === "alike" ? text : "late";
}

function metricOf(text: string): (typeof METRICS)[number]["name"] {
  return METRICS.find((m) => m.name === text)?.name ?? "caused_wait_ns";
}

function Tools() {
  const page = usePage();
  const { metric, order } = page.place.value;
  return (
    <>
      <Tabs
        label="What the map shows"
        tabs={METRICS}
        value={metricOf(metric)}
        onChange={(name) => page.go({ metric: name === "caused_wait_ns" ? "" : name })}
      />
      <Tabs
        label="Order of ranks"
        tabs={ORDERS}
        value={orderOf(order)}
        onChange={(name) => page.go({ order: name === "late" ? "" : name })}
      />
    </>
  );
}

function PartBar({ part, most }: { part: RankPart | undefined; most: number }) {
  if (part === undefined) return <span class="muted">–</span>;
  return (
    <span class="part-bar" title={part.title}>
      {part.parts.map(({ fill, ns }) => (
        <span key={fill} class={`fill-${fill}`} style={{ width: `${(ns / most) * 100}%` }} />
      ))}
    </span>
  );
}

function MapOf({
  frame,
  overlap,
}: {
  frame: Frame<"stragglers">;
  overlap: Frame<"rank_overlap"> | null;
}) {
  const page = usePage();
  const place = page.place.value;
  const map = useMemo<HeatMap>(
    () => heatOf(frame, metricOf(place.metric), orderOf(place.order)),
    [frame, place.metric, place.order],
  );
  const parts = useMemo(() => rankParts(overlap), [overlap]);
  const most = Math.max(1, ...[...parts.values()].map((p) => p.total));
  const style = { height: `${rowHeight(map)}px`, lineHeight: `${rowHeight(map)}px` };
  const open = (cell: { row: number; step: number }) => {
    const row = map.rows[cell.row];
    if (row !== undefined)
      page.go({ sel: `cell:${row.rank}:${row.span}:${map.steps[cell.step] ?? ""}` });
  };
  return (
    <>
      <p>
        {map.worst === null ? "Nobody waits." : `Most: ${heatSentence(map, map.worst)}.`}
        {map.rows.length < map.ranks &&
          ` ${map.ranks} ranks in ${map.rows.length} rows: those that are alike share one.`}
      </p>
      <div class="rank-map">
        <div>
          {map.rows.map((row) => (
            <div key={row.label} class="rank-label" style={style} title={row.label}>
              {row.label}
            </div>
          ))}
        </div>
        <HeatMapChart map={map} label="Ranks by steps" onOpen={open} />
        <div>
          {map.rows.map((row) => (
            <div key={row.label} style={style}>
              <PartBar part={parts.get(`${row.rank} ${row.span}`)} most={most} />
            </div>
          ))}
        </div>
        <span />
        <span class="axis muted">
          <span>step {map.steps[0]}</span>
          {map.steps.length > 1 && <span>{map.steps[map.steps.length - 1]}</span>}
        </span>
        <span class="muted">
          <span class="swatch fill-kernel" /> computes <span class="swatch fill-memcpy" /> both{" "}
          <span class="swatch fill-communication" /> communicates, of {formatTime(most)}
        </span>
      </div>
    </>
  );
}

/** What happened in the cell that the address names. */
function OpenCell({ rank, span, step }: { rank: string; span: string; step: string }) {
  const page = usePage();
  const place = page.place.value;
  const options = allRanksOptions({ ...place, steps: step || place.steps });
  const calls = useTable(
    "collective_calls",
    { ...options, where: `last_rank = ${rank}`, sort: "-skew_ns" },
    { offset: 0, limit: 20 },
  );
  const go = (view: string) => page.go({ ...FRESH, view, rank, span, steps: step });
  const title = `Where rank ${rank} came last${step === "" ? "" : ` in step ${step}`}`;
  const tools = (
    <>
      <RowLinks row={() => ({ table: "stragglers", values: { rank, span, step } })} />
      <button type="button" class="plain" onClick={() => go("operators")}>
        operators ›
      </button>
      <button type="button" class="plain" onClick={() => page.go({ sel: "" })}>
        close
      </button>
    </>
  );
  return (
    <Section title={title} answer={calls} tools={tools}>
      {(frame) => (
        <SmallTable
          frame={frame}
          columns={["name", "group", "bytes", "participants", "start_ns", "skew_ns", "transfer_ns"]}
        />
      )}
    </Section>
  );
}

export function RankMap({ overlap }: { overlap: Frame<"rank_overlap"> | null }) {
  const place = usePage().place.value;
  const options = { ...allRanksOptions(place), "group-by": "step" };
  const cells = useTable("stragglers", options, { offset: 0, limit: 1_000_000 });
  const opened = /^cell:(\d+):(\d*):(.*)$/s.exec(place.sel);
  if (cells.frame !== null && cells.frame.n === 0) return null;
  return (
    <>
      <Section title="Ranks by steps" answer={cells} tools={<Tools />}>
        {(frame) => <MapOf frame={frame} overlap={overlap} />}
      </Section>
      {opened !== null && <OpenCell rank={opened[1]!} span={opened[2]!} step={opened[3]!} />}
    </>
  );
}
