// SPDX-License-Identifier: Apache-2.0
// Which module takes most, with its backward pass; without modules by annotation or line.

import { Ranked } from "../chart/ranked.tsx";
import { TableView, useTableOptions } from "../grid/table_view.tsx";
import { firstWithTime } from "../model/top.ts";
import { useTable } from "../state/answers.ts";
import { mergedOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { BELOW, Below } from "./below.tsx";
import { Headline } from "./headline.tsx";
import { ModuleIcicle } from "./module_icicle.tsx";
import { Section, Tabs, useCommand } from "./parts.tsx";
import { TopN, topOfPlace } from "./top_n.tsx";

const MEASURES = [
  { column: "device_self_ns", title: "device self" },
  { column: "device_total_ns", title: "device total", nests: true },
  { column: "host_self_ns", title: "host self" },
  { column: "host_total_ns", title: "host total", nests: true },
];

const SCOPES = [
  { name: "", title: "tree" },
  { name: "line", title: "by line" },
  { name: "annotation", title: "by annotation" },
];

export function Modules() {
  const page = usePage();
  const place = page.place.value;
  const selection = mergedOptions(place);
  const options = useTableOptions({ name: "modules", options: selection });
  const all = useTable("modules", options, { offset: 0, limit: 100_000 });
  // The tree has its own order, whatever the rows are sorted by.
  const tree = useTable(
    "modules",
    { ...selection, ...(place.by !== "" && { "group-by": place.by }) },
    { offset: 0, limit: 100_000 },
  );
  const column = all.frame ? firstWithTime(all.frame, ["device_self_ns", "host_self_ns"]) : "";
  const ranked = useTable(
    column === "" ? null : "modules",
    { ...options, sort: `-${column}` },
    { offset: 0, limit: 100_000 },
  );
  const opened = /^name:module:(.*)$/s.exec(place.sel)?.[1];
  useCommand(all.frame);
  return (
    <>
      <Headline view="modules" />
      <Tabs
        label="Scopes"
        tabs={SCOPES}
        value={place.by}
        onChange={(by) => page.go({ by, where: "", q: "" })}
      />
      <Section title="Modules inside modules" answer={tree}>
        {(frame) => <ModuleIcicle frame={frame} />}
      </Section>
      {column !== "" && (
        <Section title="Modules by their own time" answer={ranked} tools={<TopN />}>
          {(frame) => (
            <Ranked
              frame={frame}
              measures={MEASURES}
              n={topOfPlace(place)}
              by="path"
              label="Modules with the most time of their own, and all others"
            />
          )}
        </Section>
      )}
      {opened !== undefined && place.by !== "line" && (
        <Below key={opened} name={opened} tabs={BELOW.module} />
      )}
      <TableView
        name="modules"
        options={selection}
        tree={{ name: "name", depth: "depth" }}
        {...(place.by !== "line" && {
          onOpen: (names) => page.go({ sel: `name:module:${names.name ?? ""}` }),
        })}
      />
    </>
  );
}
