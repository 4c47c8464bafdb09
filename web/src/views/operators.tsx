// SPDX-License-Identifier: Apache-2.0
// Which operator takes most: bars of four measures, the table, and what is below one row.

import { TableView, useTableOptions } from "../grid/table_view.tsx";
import { useTable } from "../state/answers.ts";
import { mergedOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { BELOW, Below } from "./below.tsx";
import { Headline } from "./headline.tsx";
import { Section, useCommand } from "./parts.tsx";
import { TopChart, TopChartTools } from "./top_chart.tsx";

const MEASURES = [
  { column: "device_self_ns", title: "device self" },
  { column: "device_total_ns", title: "device total", nests: true },
  { column: "host_self_ns", title: "host self" },
  { column: "host_total_ns", title: "host total", nests: true },
];

export function Operators() {
  const page = usePage();
  const place = page.place.value;
  const selection = mergedOptions(place);
  const options = useTableOptions({ name: "operators", options: selection });
  const answer = useTable("operators", options, { offset: 0, limit: 100_000 });
  const open = (name: string) => page.go({ sel: `name:operator:${name}` });
  const opened = /^name:operator:(.*)$/s.exec(place.sel)?.[1];
  useCommand(answer.frame);
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
            onOpen={(row) => open(frame.text(row, "name"))}
          />
        )}
      </Section>
      {opened !== undefined && <Below key={opened} name={opened} tabs={BELOW.operator} />}
      <TableView name="operators" options={selection} onOpen={(names) => open(names.name ?? "")} />
    </>
  );
}
