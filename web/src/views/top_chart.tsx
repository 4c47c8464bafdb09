// SPDX-License-Identifier: Apache-2.0
// The first rows of a table as bars, or as rings if the address says so: chart=pies.

import type { Frame } from "../api/cols.ts";
import type { ColumnOf, TableName } from "../api/tables.ts";
import { Donuts } from "../chart/donuts.tsx";
import { type Measure, Ranked } from "../chart/ranked.tsx";
import { tailOf } from "../model/top.ts";
import { Tabs } from "../parts/section.tsx";
import { usePage } from "../state/session.ts";
import { TopN, topOfPlace } from "./top_n.tsx";

const CHARTS = [
  { name: "", title: "bars" },
  { name: "pies", title: "pies" },
] as const;

interface TopChartProps<T extends TableName> {
  readonly frame: Frame<T>;
  readonly measures: readonly Measure<T>[];
  readonly by: ColumnOf<T>;
  readonly label: string;
  /** Columns that tell rows of the same name apart, if the rows are grouped by them. */
  readonly also: readonly ColumnOf<T>[];
  readonly onOpen: (row: number) => void;
}

export function TopChart<T extends TableName>({ also, ...props }: TopChartProps<T>) {
  const place = usePage().place.value;
  const tail = (row: number) => tailOf(props.frame, row, also);
  const all = { ...props, tailOf: tail, n: topOfPlace(place) };
  return place.chart === "pies" ? <Donuts {...all} /> : <Ranked {...all} />;
}

/** The choice of bars or rings, and of how many rows. */
export function TopChartTools() {
  const page = usePage();
  return (
    <>
      <Tabs
        label="Bars or pies"
        tabs={CHARTS}
        value={page.place.value.chart === "pies" ? "pies" : ""}
        onChange={(chart) => page.go({ chart })}
      />
      <TopN />
    </>
  );
}
