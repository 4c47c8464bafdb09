// SPDX-License-Identifier: Apache-2.0
// Where two runs differ, one level at a time: both times of each part, its change, and the changes
// added up. A click goes inside.

import type { Options } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import { Accumulated } from "../chart/accumulated.tsx";
import { Ranked } from "../chart/ranked.tsx";
import { accumulated, aroundOf, columnsOf, insideOf, nameOf } from "../model/diff_tree.ts";
import { sumOf } from "../model/top.ts";
import { Section, Tabs } from "../parts/section.tsx";
import { useTable } from "../state/answers.ts";
import { usePage } from "../state/session.ts";
import { TopN, topOfPlace } from "./top_n.tsx";

const TIMES = [
  { name: "", title: "host" },
  { name: "device", title: "device" },
];
const MOST = { offset: 0, limit: 20_000 };

/** The places around the one that is shown, each a way back. */
function Crumbs({ around }: { around: Frame<"diff_tree"> | null }) {
  const page = usePage();
  const rows = Array.from({ length: around?.n ?? 0 }, (_, row) => row);
  return (
    <nav class="breadcrumb" aria-label="Around it">
      <button type="button" class="plain" onClick={() => page.go({ root: "" })}>
        all
      </button>
      {around !== null &&
        rows.map((row) => (
          <button
            key={around.text(row, "path")}
            type="button"
            class="plain"
            aria-current={row === around.n - 1 ? "true" : undefined}
            onClick={() => page.go({ root: around.text(row, "path") })}
          >
            › {nameOf(around, row)}
          </button>
        ))}
    </nav>
  );
}

function Level({ frame }: { frame: Frame<"diff_tree"> }) {
  const page = usePage();
  const place = page.place.value;
  const columns = columnsOf(frame, place.metric === "device");
  const each = columns.base.startsWith("mean_") ? ", per step" : "";
  return (
    <>
      <Ranked
        frame={frame}
        measures={[
          { column: columns.base, title: `base${each}` },
          { column: columns.new, title: `new${each}` },
          { column: columns.delta, title: "change", isChange: true },
        ]}
        n={topOfPlace(place)}
        by="path"
        head="part"
        nameOf={(row) => nameOf(frame, row)}
        label="Parts with the largest change, and all others"
        isShared
        onOpen={(row) => page.go({ root: frame.text(row, "path") })}
      />
      <Accumulated
        changes={accumulated(frame, columns)}
        column={columns.delta}
        total={String(sumOf(frame, columns.delta))}
      />
    </>
  );
}

export function DiffTree({ options }: { options: Options }) {
  const page = usePage();
  const { root, metric } = page.place.value;
  const around = useTable(
    root === "" ? null : "diff_tree",
    { ...options, where: aroundOf(root), sort: "depth:asc" },
    MOST,
  );
  const last = root === "" || around.frame === null ? -1 : around.frame.n - 1;
  const depth = last < 0 ? 0 : (around.frame?.at(last, "depth") ?? 0);
  const isKnown = root === "" || (last >= 0 && !around.isOld);
  const column = metric === "device" ? "mean_delta_device_ns" : "";
  const level = useTable(
    isKnown ? "diff_tree" : null,
    { ...options, where: insideOf(root, depth), ...(column !== "" && { sort: column }) },
    MOST,
  );
  const tools = (
    <>
      <Tabs
        label="Time of the host or of devices"
        tabs={TIMES}
        value={metric === "device" ? metric : ""}
        onChange={(name) => page.go({ metric: name })}
      />
      <TopN />
      <button type="button" class="plain" onClick={() => page.go({ table: "diff_inside" })}>
        operators inside ›
      </button>
      {root !== "" && <Crumbs around={around.frame} />}
    </>
  );
  return (
    <Section
      title="Where it changed"
      answer={level}
      tools={tools}
      ifEmpty={<p>There is nothing inside it.</p>}
    >
      {(frame) => <Level frame={frame} />}
    </Section>
  );
}
