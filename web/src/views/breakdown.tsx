// SPDX-License-Identifier: Apache-2.0
// The parts of the average step: bars or a ring, what each is of it, and what it is without the
// others. A part can be counted first where several run at once.

import type { Frame } from "../api/cols.ts";
import type { NumberOf } from "../api/tables.ts";
import { Shares } from "../chart/shares.tsx";
import { TimeLink } from "../grid/row_links.tsx";
import { CATEGORIES } from "../model/categories.ts";
import { first, sharesOf } from "../model/priority.ts";
import { format, formatIn, type Unit, unitFor } from "../model/units.ts";
import { Tabs } from "../parts/section.tsx";
import { usePage } from "../state/session.ts";

const CHARTS = [
  { name: "", title: "bars" },
  { name: "pies", title: "pie" },
] as const;
const PARTS = CATEGORIES.map((word) => ({ word, title: word, fill: word }));

/** All times of FRAME have one unit: that of the whole. */
function unitOf(frame: Frame<"overview">): Unit {
  return unitFor("ns", false, frame.at(0, "avg_ns") ?? 0);
}

function Time({
  frame,
  row,
  column,
}: {
  frame: Frame<"overview">;
  row: number;
  column: NumberOf<"overview">;
}) {
  const value = frame.value(row, frame.index(column));
  const shown = value === null ? "–" : formatIn(Number(value), unitOf(frame));
  return (
    <span class={column === "avg_ns" ? "number" : "number muted"} {...frame.shown(row, column)}>
      {shown}
    </span>
  );
}

function First({ name }: { name: string }) {
  const page = usePage();
  const { priority } = page.place.value;
  const place = priority.split(",").indexOf(name);
  const label = `Count ${name} first where several parts run at once`;
  return (
    <button
      type="button"
      class="plain muted first"
      aria-label={label}
      title={label}
      aria-pressed={place >= 0}
      onClick={() => page.go({ priority: first(priority, name) })}
    >
      {place >= 0 ? place + 1 : "↑"}
    </button>
  );
}

function Row({ frame, row }: { frame: Frame<"overview">; row: number }) {
  const name = frame.text(row, "category");
  const ratio = frame.at(row, "ratio") ?? 0;
  const width = `${Math.min(100, Math.max(0, ratio * 100))}%`;
  return (
    <>
      <span>
        <TimeLink row={{ table: "overview", values: { category: name } }} text={name} />
      </span>
      <span>
        <span class={`fill fill-${name}`} style={{ width }} />
      </span>
      <Time frame={frame} row={row} column="avg_ns" />
      <span class="number muted" {...frame.shown(row, "ratio")}>
        {format(ratio, "ratio")}
      </span>
      <Time frame={frame} row={row} column="avg_gross_ns" />
      {name === "other" ? <span /> : <First name={name} />}
    </>
  );
}

export function BreakdownTools() {
  const page = usePage();
  return (
    <Tabs
      label="Bars or a pie"
      tabs={CHARTS}
      value={page.place.value.chart === "pies" ? "pies" : ""}
      onChange={(name) => page.go({ chart: name })}
    />
  );
}

/** Which parts come first, if not the usual ones; a click takes it back. */
function Priority() {
  const page = usePage();
  const { priority } = page.place.value;
  if (priority === "") return <span />;
  return (
    <span>
      <button type="button" class="chip" onClick={() => page.go({ priority: "" })}>
        {priority.replaceAll(",", ", ")} first ×
      </button>
    </span>
  );
}

export function Breakdown({ frame }: { frame: Frame<"overview"> }) {
  const { chart } = usePage().place.value;
  if (chart === "pies")
    return (
      <>
        <Priority />
        <Shares<"overview">
          title="of the average step"
          unit="ns"
          sums={sharesOf(frame)}
          parts={PARTS}
          column="avg_ns"
          by="category"
          isRing
        />
      </>
    );
  return (
    <div class="bars breakdown">
      <span class="muted">part</span>
      <Priority />
      <span class="number muted">time, {unitOf(frame).label}</span>
      <span class="number muted">share</span>
      <span class="number muted" title="With what other parts have of it">
        gross
      </span>
      <span />
      {Array.from({ length: Math.max(0, frame.n - 1) }, (_, i) => (
        <Row key={frame.text(i + 1, "category")} frame={frame} row={i + 1} />
      ))}
    </div>
  );
}
