// SPDX-License-Identifier: Apache-2.0
// Where the device spends its time, and whether with tensor cores.

import type { ColumnOf } from "../api/tables.ts";
import type { Measure } from "../chart/ranked.tsx";
import { Shares } from "../chart/shares.tsx";
import type { Usual } from "../grid/layout.ts";
import { TableView, useTableOptions } from "../grid/table_view.tsx";
import { openedOf, selOfOpened } from "../model/opened.ts";
import { sumsBy } from "../model/top.ts";
import { Section, useCommand } from "../parts/section.tsx";
import { useTable } from "../state/answers.ts";
import { mergedOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { BELOW, Below } from "./below.tsx";
import { Headline } from "./headline.tsx";
import { TopChart, TopChartTools } from "./top_chart.tsx";

const MEASURES: readonly Measure<"kernels">[] = [{ column: "total_ns", title: "total" }];
const CORES = [
  { word: "true", title: "yes", fill: "kernel" },
  { word: "false", title: "no", fill: "other" },
  { word: "null", title: "unknown", fill: "runtime" },
];

/** How a kernel was launched stands behind how often and how long. */
const HOW_LAST: Usual<ColumnOf<"kernels">> = {
  last: ["grid", "block", "registers_per_thread", "shared_memory_bytes"],
};

export function Kernels() {
  const page = usePage();
  const place = page.place.value;
  const selection = mergedOptions(place);
  const options = useTableOptions({ name: "kernels", options: selection });
  const answer = useTable("kernels", options, { offset: 0, limit: 100_000 });
  const open = (name: string) => page.go({ sel: selOfOpened("kernel", { name }) });
  const opened = openedOf("kernel", place.sel);
  useCommand(answer);
  return (
    <>
      <Headline view="kernels" />
      <Section title="Kernels by time" answer={answer} tools={<TopChartTools />}>
        {(frame) => (
          <>
            <Shares<"kernels">
              title="Tensor cores"
              unit="ns"
              sums={sumsBy(frame, "total_ns", "tensor_cores")}
              parts={CORES}
              column="total_ns"
              by="tensor_cores"
              isRing={place.chart === "pies"}
            />
            <TopChart
              frame={frame}
              measures={MEASURES}
              by="name"
              also={["cause", "operator", "grid", "block", "launch_id"]}
              label="Kernels with the most time, and all others"
              onOpen={(row) => open(frame.text(row, "name"))}
            />
          </>
        )}
      </Section>
      {opened !== undefined && <Below key={place.sel} opened={opened} tabs={BELOW.kernel} />}
      <TableView
        name="kernels"
        options={selection}
        usual={HOW_LAST}
        onOpen={(names) => open(names.name ?? "")}
      />
    </>
  );
}
