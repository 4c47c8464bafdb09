// SPDX-License-Identifier: Apache-2.0
// Which rank is late, how much communication hides, and how much of it waits.

import type { Options } from "../api/api.ts";
import type { ColumnOf, TableName } from "../api/tables.ts";
import { type Measure, Ranked } from "../chart/ranked.tsx";
import { TimeLink } from "../grid/row_links.tsx";
import { rowOf, SmallTable } from "../grid/small_table.tsx";
import { TableView } from "../grid/table_view.tsx";
import { both } from "../model/funnel.ts";
import { whereIn } from "../model/number_list.ts";
import { rankName } from "../model/rank_parts.ts";
import { Empty, Section, Tabs, useCommand } from "../parts/section.tsx";
import { type Answer, useTable } from "../state/answers.ts";
import { allRanksOptions, selectionOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { PLAIN_TABLE } from "../state/url.ts";
import { Headline } from "./headline.tsx";
import { RankMap } from "./rank_map.tsx";

const TABS: readonly { readonly name: TableName; readonly title: string }[] = [
  { name: "stragglers", title: "who is late" },
  { name: "ranks", title: "ranks" },
  { name: "rank_overlap", title: "overlap" },
  { name: "rank_wait", title: "waiting" },
  { name: "collectives", title: "collectives" },
  { name: "collective_calls", title: "calls" },
];
const LATE: readonly Measure<"stragglers">[] = [
  { column: "caused_wait_ns", title: "makes others wait" },
  { column: "waited_ns", title: "waits" },
];
const OVERLAP: readonly Measure<"rank_overlap">[] = [
  { column: "computation_ns", title: "computes" },
  { column: "overlapping_ns", title: "both" },
  { column: "communication_ns", title: "communicates" },
  { column: "other_ns", title: "other" },
];
const WAIT: readonly Measure<"rank_wait">[] = [
  { column: "data_transfer_ns", title: "moves data" },
  { column: "synchronizing_ns", title: "waits" },
];
/** By host: its ranks, their processes as workers are called after them, and their devices. */
const WHERE: readonly ColumnOf<"ranks">[] = [
  "host",
  "rank",
  "span",
  "worker",
  "device",
  "device_name",
];
const ALL = { offset: 0, limit: 10_000 };
const MOST = 64;
/** Of more ranks than that the map has them all. */
const MOST_OF_MANY = 16;

interface RankBarsProps<T extends TableName> {
  readonly title: string;
  readonly label: string;
  readonly answer: Answer<T>;
  readonly measures: readonly Measure<T>[];
  readonly isShared?: boolean;
}

/** Bars of each rank, which select it; nothing if there are none. */
function RankBars<T extends TableName>(props: RankBarsProps<T>) {
  const { title, label, answer, measures, isShared = false } = props;
  const page = usePage();
  if (answer.problem === null && (answer.frame === null || answer.frame.n === 0)) return null;
  return (
    <Section title={title} answer={answer}>
      {(frame) => (
        <Ranked
          frame={frame}
          measures={measures}
          n={frame.n > MOST ? MOST_OF_MANY : MOST}
          by="rank"
          nameOf={(row) => rankName(frame, row)}
          label={label}
          isShared={isShared}
          {...(frame.index("rank") >= 0 && {
            onOpen: (row: number) =>
              page.go({ rank: frame.text(row, "rank"), span: frame.text(row, "span") }),
          })}
        />
      )}
    </Section>
  );
}

export function Distributed() {
  const page = usePage();
  const place = page.place.value;
  const selection = selectionOptions(place);
  // Ranks are compared with all others: the selection only leaves out rows.
  const all = allRanksOptions(place);
  const ofRanks = (where: string): Options => {
    const wanted = both(where, whereIn("rank", place.rank));
    return wanted === "" ? all : { ...all, where: wanted };
  };
  const late = useTable("stragglers", ofRanks(""), ALL);
  const everyOverlap = useTable("rank_overlap", { ...all, where: "step = 'all'" }, ALL);
  const overlap = useTable("rank_overlap", ofRanks("step = 'all'"), ALL);
  const wait = useTable("rank_wait", ofRanks("step = 'all'"), ALL);
  const where = useTable("ranks", { ...ofRanks(""), sort: "host:asc" }, { ...ALL, limit: MOST });
  const devices = useTable("devices", selection, ALL);
  const tab = TABS.find((t) => t.name === place.table) ?? TABS[0]!;
  const worst = late.frame === null || late.frame.n === 0 ? null : rowOf(late.frame, 0);
  useCommand(late);
  return (
    <>
      <Headline view="distributed" ofAllRanks>
        {worst !== null && <TimeLink row={worst} text="trace ›" />}
      </Headline>
      {late.frame !== null && late.frame.n === 0 && (
        <Empty frame={late.frame}>
          <p>Open the directory with the traces of all ranks: opscope view DIRECTORY</p>
        </Empty>
      )}
      <RankMap overlap={everyOverlap.frame} />
      <RankBars
        title="Who is late"
        label="Ranks by the waiting that they cause"
        answer={late}
        measures={LATE}
      />
      <RankBars
        title="Computation and communication"
        label="An average step of each rank"
        answer={overlap}
        measures={OVERLAP}
        isShared
      />
      <RankBars
        title="Collectives: data and waiting"
        label="Collectives of an average step of each rank"
        answer={wait}
        measures={WAIT}
        isShared
      />
      <Section title="Where ranks run" answer={where}>
        {(frame) => <SmallTable frame={frame} columns={WHERE} />}
      </Section>
      <Section title="Devices" answer={devices}>
        {(frame) => <SmallTable frame={frame} />}
      </Section>
      <Tabs
        label="Tables of ranks"
        tabs={TABS}
        value={tab.name}
        onChange={(table) => page.go({ ...PLAIN_TABLE, table })}
      />
      <TableView
        key={tab.name}
        name={tab.name}
        options={tab.name === "collective_calls" ? all : ofRanks("")}
      />
    </>
  );
}
