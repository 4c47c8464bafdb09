// SPDX-License-Identifier: Apache-2.0
// What is allocated: the curve of a device, its peak and who owned it, and the tables.

import { useMemo, useState } from "preact/hooks";
import type { Options } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import type { ColumnOf, TableName } from "../api/tables.ts";
import { Curves } from "../chart/curve.tsx";
import { SmallTable } from "../grid/small_table.tsx";
import { TableView } from "../grid/table_view.tsx";
import { formatBlock, formatTimeOf, parseBlock } from "../model/block.ts";
import { quote } from "../model/expr.ts";
import { curvesOf, type DeviceOfPeak, deviceOfPlace, devicesOfSums } from "../model/memory.ts";
import { formatTime } from "../model/units.ts";
import { Section, Tabs, useCommand } from "../parts/section.tsx";
import { useTable } from "../state/answers.ts";
import { mergedOptions, selectionOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { PLAIN_TABLE } from "../state/url.ts";
import { Headline } from "./headline.tsx";
import { Owners } from "./owners.tsx";
import { RangeFields } from "./range_fields.tsx";

const TABS = [
  { name: "memory", title: "by operator" },
  { name: "memory_live", title: "alive" },
  { name: "memory_events", title: "allocations" },
  { name: "memory_peaks", title: "peaks" },
] as const;
/** Tables of what is alive at a time. */
const AT_A_TIME: readonly string[] = ["memory_live", "memory_events"] satisfies TableName[];
const PEAK_COLUMNS: readonly ColumnOf<"memory_peaks">[] = [
  "rank",
  "process",
  "process_name",
  "device",
  "peak_bytes",
  "peak_ns",
  "capacity_bytes",
  "reserved_bytes",
  "live_bytes",
  "live_count",
];

const ALL = { offset: 0, limit: 100_000 };

function Devices({ devices, chosen }: { devices: readonly DeviceOfPeak[]; chosen: string }) {
  const page = usePage();
  return (
    <label class="muted">
      device{" "}
      <select value={chosen} onChange={(e) => page.go({ device: e.currentTarget.value })}>
        {devices.map((d) => (
          <option key={d.word} value={d.word}>
            {d.title}
          </option>
        ))}
      </select>
    </label>
  );
}

interface CurveProps {
  readonly frame: Frame<"memory_curve">;
  readonly device: DeviceOfPeak;
  /** When the block of a row was allocated and released. */
  readonly marks: readonly number[];
  readonly peak: number | null;
}

function CurveOf({ frame, device, marks, peak }: CurveProps) {
  const page = usePage();
  const lines = useMemo(() => curvesOf(frame, device), [frame, device.word]);
  const showAt = (ns: number) => {
    const sel = `at:${ns}`;
    page.go(
      AT_A_TIME.includes(page.place.value.table)
        ? { sel }
        : { ...PLAIN_TABLE, sel, table: AT_A_TIME[0]! },
    );
  };
  return (
    <Curves
      lines={lines}
      unit="bytes"
      theme={page.theme.value}
      label={`Memory of ${device.title} over time; the tables below have its numbers`}
      onRange={(from, to) => page.go({ t: { from, to } })}
      marks={marks}
      peak={peak}
      onTime={showAt}
    />
  );
}

/** Options that leave the rows of DEVICE of table NAME; null: all devices. */
function onlyOf(device: DeviceOfPeak | null, name: string): Options {
  if (device === null) return {};
  const of = `device = ${quote(device.device)}`;
  return {
    // Of operators there is a row for each device, whatever its process.
    where:
      name === "memory" || device.process === ""
        ? of
        : `process = ${quote(device.process)} and ${of}`,
    ...(device.rank !== "" && { rank: device.rank }),
  };
}

interface TablesProps {
  readonly only: DeviceOfPeak | null;
  /** Hears the times of the block that the pointer is over. */
  readonly onHover: (marks: readonly number[]) => void;
}

function MemoryTables({ only, onHover }: TablesProps) {
  const page = usePage();
  const place = page.place.value;
  const { at, marks } = parseBlock(place.sel);
  const tab = TABS.find((t) => t.name === place.table) ?? TABS[0]!;
  const isAt = at !== "" && AT_A_TIME.includes(tab.name);
  const options = {
    ...(tab.name === "memory" ? mergedOptions(place) : selectionOptions(place)),
    ...onlyOf(only, tab.name),
    ...(isAt && { at: `${at}ns` }),
  };
  return (
    <>
      <div class="section-head">
        <Tabs
          label="Tables of memory"
          tabs={TABS}
          value={tab.name}
          onChange={(table) => page.go({ ...PLAIN_TABLE, table })}
        />
        {only !== null && place.device !== "" && (
          <button type="button" class="chip" onClick={() => page.go({ device: "" })}>
            only {only.title} ×
          </button>
        )}
        {marks.length > 0 && (
          <button type="button" class="chip" onClick={() => page.go({ sel: formatTimeOf(at) })}>
            marked on the curve: {marks.map((ns) => formatTime(ns)).join(" to ")} ×
          </button>
        )}
        {isAt && (
          <button type="button" class="chip" onClick={() => page.go({ sel: "" })}>
            alive at {formatTime(Number(at))} ×
          </button>
        )}
      </div>
      {tab.name === "memory_events" && (
        <p class="muted">
          The curve shows when the block of a row was allocated and released: of the one under the
          pointer, and of the one that was clicked or that the arrow keys are in.
        </p>
      )}
      {tab.name === "memory_events" ? (
        <TableView
          key={tab.name}
          name={tab.name}
          options={options}
          onOpen={(of) => page.go({ sel: formatBlock(of, at) })}
          onCurrent={(of) => page.go({ sel: formatBlock(of, at) }, "replace")}
          onHover={(of) => onHover(of === null ? [] : parseBlock(formatBlock(of, at)).marks)}
        />
      ) : (
        <TableView key={tab.name} name={tab.name} options={options} />
      )}
    </>
  );
}

export function Memory() {
  const page = usePage();
  const place = page.place.value;
  const options = selectionOptions(place);
  const peaks = useTable("memory_peaks", options, { offset: 0, limit: 1000 });
  const hasNoPeaks = peaks.frame?.n === 0;
  const sums = useTable(hasNoPeaks ? "memory" : null, mergedOptions(place), ALL);
  const [devices, device] = hasNoPeaks
    ? devicesOfSums(sums.frame, place.device)
    : deviceOfPlace(peaks.frame, place.device);
  const hasCurve = device !== null && !hasNoPeaks;
  const of = hasCurve && { ...options, ...onlyOf(device, "memory_curve") };
  const [hovered, hover] = useState<readonly number[]>([]);
  const marks = hovered.length > 0 ? hovered : parseBlock(place.sel).marks;
  const curve = useTable(of ? "memory_curve" : null, of || {}, { offset: 0, limit: 1_000_000 });
  useCommand(peaks);
  return (
    <>
      <Headline view="memory" />
      {device !== null && hasNoPeaks && <Devices devices={devices} chosen={device.word} />}
      {hasCurve && (
        <div class={place.table === "memory_events" ? "kept-in-sight" : ""}>
          <Section
            title="Memory over time"
            answer={curve}
            tools={
              <>
                <Devices devices={devices} chosen={device.word} />
                <RangeFields range={place.t} />
              </>
            }
          >
            {(frame) => (
              <>
                <CurveOf
                  frame={frame}
                  device={device}
                  marks={marks}
                  peak={peaks.frame?.at(device.row, "peak_ns") ?? null}
                />
                <p class="muted">drag: range; click: what is alive then</p>
              </>
            )}
          </Section>
        </div>
      )}
      <Section title="Peaks" answer={peaks}>
        {(frame) => (
          <>
            <SmallTable frame={frame} columns={PEAK_COLUMNS} />
            {device !== null && <Owners frame={frame} row={device.row} />}
          </>
        )}
      </Section>
      <MemoryTables
        only={place.device === "" && !hasNoPeaks ? null : device}
        onHover={(next) => next.join() !== hovered.join() && hover(next)}
      />
    </>
  );
}
