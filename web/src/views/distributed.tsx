// SPDX-License-Identifier: Apache-2.0
// Which rank is late, how much communication hides, and how much of it waits.

import { Ranked } from "../chart/ranked.tsx";
import { TableView } from "../grid/table_view.tsx";
import { lateSentence } from "../model/sentences.ts";
import { useTable } from "../state/answers.ts";
import { selectionOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { Empty, Section, Tabs, useCommand } from "./parts.tsx";

const TABS = [
  { name: "stragglers", title: "who is late" },
  { name: "ranks", title: "ranks" },
  { name: "rank_overlap", title: "overlap" },
  { name: "rank_wait", title: "waiting" },
  { name: "collectives", title: "collectives" },
  { name: "collective_calls", title: "calls" },
];
const LATE = [
  { column: "caused_wait_ns", title: "makes others wait" },
  { column: "waited_ns", title: "waits" },
];
const OVERLAP = [
  { column: "computation_ns", title: "computes" },
  { column: "overlapping_ns", title: "both" },
  { column: "communication_ns", title: "communicates" },
  { column: "other_ns", title: "other" },
];
const WAIT = [
  { column: "data_transfer_ns", title: "moves data" },
  { column: "synchronizing_ns", title: "waits" },
];
const ALL = { offset: 0, limit: 10_000 };
const MOST = 64;

export function Distributed() {
  const page = usePage();
  const place = page.place.value;
  const options = selectionOptions(place);
  const steps = { ...options, where: "step = 'all'" };
  const late = useTable("stragglers", options, ALL);
  const overlap = useTable("rank_overlap", steps, ALL);
  const wait = useTable("rank_wait", steps, ALL);
  const tab = TABS.find((t) => t.name === place.table) ?? TABS[0]!;
  const hasRanks = (late.frame?.n ?? 0) > 0;
  const choose = (rank: string) => page.go({ rank });
  useCommand(late.frame);
  return (
    <>
      <h1>{late.frame === null ? "…" : lateSentence(late.frame)}</h1>
      {late.frame !== null && !hasRanks && (
        <Empty frame={late.frame}>
          <p>Open the directory with the traces of all ranks: opscope view DIRECTORY</p>
        </Empty>
      )}
      {hasRanks && (
        <Section title="Who is late" answer={late}>
          {(frame) => (
            <Ranked
              frame={frame}
              measures={LATE}
              n={MOST}
              by="rank"
              label="Ranks by the waiting that they cause"
              onOpen={(row) => choose(frame.text(row, "rank"))}
            />
          )}
        </Section>
      )}
      {overlap.frame !== null && overlap.frame.n > 0 && (
        <Section title="Computation and communication" answer={overlap}>
          {(frame) => (
            <Ranked
              frame={frame}
              measures={OVERLAP}
              n={MOST}
              by="rank"
              label="An average step of each rank"
              isShared
            />
          )}
        </Section>
      )}
      {wait.frame !== null && wait.frame.n > 0 && (
        <Section title="Collectives: data and waiting" answer={wait}>
          {(frame) => (
            <Ranked
              frame={frame}
              measures={WAIT}
              n={MOST}
              by="rank"
              label="Collectives of an average step of each rank"
              isShared
            />
          )}
        </Section>
      )}
      <Tabs
        label="Tables of ranks"
        tabs={TABS}
        value={tab.name}
        onChange={(table) => page.go({ table, q: "", where: "", by: "", sort: "" })}
      />
      <TableView key={tab.name} name={tab.name} options={options} />
    </>
  );
}
