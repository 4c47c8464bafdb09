// SPDX-License-Identifier: Apache-2.0
// Which module takes most, with its backward pass; without modules by annotation or line.

import { useMemo } from "preact/hooks";
import type { ColumnOf, TextsOf } from "../api/tables.ts";
import { type Measure, Ranked } from "../chart/ranked.tsx";
import type { Usual } from "../grid/layout.ts";
import { TableView, useTableOptions } from "../grid/table_view.tsx";
import { branchesOf, isOpen, toggle, whereOfFold } from "../model/fold.ts";
import { openedOf, selOfOpened } from "../model/opened.ts";
import { firstWithTime } from "../model/top.ts";
import { Section, Tabs, useCommand } from "../parts/section.tsx";
import { useTable } from "../state/answers.ts";
import { mergedOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { parseValue } from "../state/url.ts";
import { BELOW, Below } from "./below.tsx";
import { Headline } from "./headline.tsx";
import { ModuleIcicle } from "./module_icicle.tsx";
import { TopN, topOfPlace } from "./top_n.tsx";

const MEASURES: readonly Measure<"modules">[] = [
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

/** In the tree names stand where they belong; sorted rows have their paths at the end. */
type Columns = Usual<ColumnOf<"modules">>;
const IN_TREE: Columns = { hidden: ["path", "depth", "module_id"], last: ["attribute_path"] };
const SORTED: Columns = { hidden: ["depth", "module_id"], last: ["path", "attribute_path"] };

const NONE: ReadonlyMap<string, number> = new Map();
const MOST_LEVELS = 6;

/** How many levels of the tree are shown at first. */
function Levels({ levels }: { levels: number | null }) {
  const page = usePage();
  return (
    <label class="muted">
      levels{" "}
      <select
        value={levels ?? ""}
        onChange={(event) => page.go({ shut: parseValue("shut", event.currentTarget.value) })}
      >
        <option value="">all</option>
        {Array.from({ length: MOST_LEVELS }, (_, i) => (
          <option key={i} value={i + 1}>
            {i + 1}
          </option>
        ))}
      </select>
    </label>
  );
}

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
  const column = all.frame ? firstWithTime(all.frame, ["device_self_ns", "host_self_ns"]) : null;
  const ranked = useTable(
    column === null ? null : "modules",
    { ...options, sort: `-${column}` },
    { offset: 0, limit: 100_000 },
  );
  const branches = useMemo(() => (tree.frame ? branchesOf(tree.frame) : NONE), [tree.frame]);
  const fold = place.shut;
  const where = place.sort === "" ? whereOfFold(fold, branches) : "";
  const opened = openedOf("module", place.sel);
  useCommand(all);
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
      {column !== null && (
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
        <Below key={place.sel} opened={opened} tabs={BELOW.module} />
      )}
      <Levels levels={fold.levels} />
      <TableView
        name="modules"
        usual={place.sort === "" ? IN_TREE : SORTED}
        options={where === "" ? selection : { ...selection, where }}
        tree={{
          ...{ name: "name", depth: "depth", path: "path" },
          isOpen: (path) =>
            branches.has(path) ? isOpen(fold, path, branches.get(path) ?? 0) : null,
          toggle: (path) => page.go({ shut: toggle(fold, path) }, "replace"),
        }}
        {...(place.by !== "line" && {
          onOpen: (names: TextsOf<"modules">) =>
            page.go({ sel: selOfOpened("module", { name: names.name ?? "" }) }),
        })}
      />
    </>
  );
}
