// SPDX-License-Identifier: Apache-2.0
// Which operator takes most: bars of four measures, the table, and what is below one row.

import type { Frame } from "../api/cols.ts";
import type { Measure } from "../chart/ranked.tsx";
import { TableView, useTableOptions } from "../grid/table_view.tsx";
import { openedOf, selOfOpened } from "../model/opened.ts";
import { Section, useCommand } from "../parts/section.tsx";
import { useTable } from "../state/answers.ts";
import { mergedOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { BELOW, Below } from "./below.tsx";
import { Headline } from "./headline.tsx";
import { TopChart, TopChartTools } from "./top_chart.tsx";

const MEASURES: readonly Measure<"operators">[] = [
  { column: "device_self_ns", title: "device self" },
  { column: "device_total_ns", title: "device total", nests: true },
  { column: "host_self_ns", title: "host self" },
  { column: "host_total_ns", title: "host total", nests: true },
];

/** The shape of ROW, if FRAME has a row for each; undefined: it has not. */
const shapeOf = (frame: Frame<"operators">, row: number) =>
  frame.index("input_shape") < 0 ? undefined : frame.text(row, "input_shape");

export function Operators() {
  const page = usePage();
  const place = page.place.value;
  const selection = mergedOptions(place);
  const options = useTableOptions({ name: "operators", options: selection });
  const answer = useTable("operators", options, { offset: 0, limit: 100_000 });
  const open = (name: string, shape: string | undefined) =>
    page.go({ sel: selOfOpened("operator", { name, ...(shape && { shape }) }) });
  const opened = openedOf("operator", place.sel);
  useCommand(answer);
  return (
    <>
      <Headline view="operators" />
      <Section title="Operators by time" answer={answer} tools={<TopChartTools />}>
        {(frame) => (
          <TopChart
            frame={frame}
            measures={MEASURES}
            by="name"
            also={["input_shape", "call_stack"]}
            label="Operators with the most time, and all others"
            onOpen={(row) => open(frame.text(row, "name"), shapeOf(frame, row))}
          />
        )}
      </Section>
      {opened !== undefined && (
        <Below
          key={place.sel}
          opened={opened}
          tabs={opened.shape === undefined ? BELOW.operator : BELOW.shape}
        />
      )}
      <TableView
        name="operators"
        options={selection}
        onOpen={(names) => open(names.name ?? "", names.input_shape)}
      />
    </>
  );
}
