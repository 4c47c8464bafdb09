// SPDX-License-Identifier: Apache-2.0
// The average step and its parts, the devices, and what to do first.

import type { Frame } from "../api/cols.ts";
import { format, formatTime } from "../model/units.ts";
import { useTable } from "../state/answers.ts";
import { selectionOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { Empty, Problem, useCommand } from "./parts.tsx";

const ALL = { offset: 0, limit: 100 };

function rowsOf(frame: Frame): number[] {
  return Array.from({ length: frame.n }, (_, i) => i);
}

/** The sentence on top: the average step, and the largest part of it. */
function headline(frame: Frame): string {
  const whole = frame.at(0, "avg_ns") ?? 0;
  let largest = 1;
  for (let row = 2; row < frame.n; row++)
    if ((frame.at(row, "avg_ns") ?? 0) > (frame.at(largest, "avg_ns") ?? 0)) largest = row;
  if (frame.n < 2) return `${formatTime(whole)} a step`;
  const ratio = format(frame.at(largest, "ratio") ?? 0, "ratio");
  return `${formatTime(whole)} a step; ${ratio} of it is ${frame.text(largest, "category")}`;
}

function Breakdown({ frame }: { frame: Frame }) {
  return (
    <div class="bars">
      {rowsOf(frame)
        .slice(1)
        .map((row) => {
          const name = frame.text(row, "category");
          const ns = frame.at(row, "avg_ns") ?? 0;
          const ratio = frame.at(row, "ratio") ?? 0;
          return (
            <>
              <span>{name}</span>
              <span
                class={`fill fill-${name}`}
                style={{ width: `${Math.min(100, ratio * 100)}%` }}
              />
              <span class="number" data-v={String(frame.value(row, frame.index("avg_ns")))}>
                {formatTime(ns)}
              </span>
              <span class="number muted" data-v={String(ratio)}>
                {format(ratio, "ratio")}
              </span>
            </>
          );
        })}
    </div>
  );
}

function Devices({ frame }: { frame: Frame }) {
  const shown = [
    ["utilization_ratio", "used"],
    ["sm_efficiency_ratio", "SM"],
    ["occupancy_ratio", "occupancy"],
    ["tensor_core_ratio", "tensor cores"],
  ] as const;
  if (frame.n === 0) return <Empty frame={frame} />;
  return (
    <table class="plain-table">
      <tbody>
        {rowsOf(frame).map((row) => (
          <tr key={row}>
            <th scope="row">
              {frame.text(row, "device")} {frame.text(row, "name")}
            </th>
            {shown.map(([column, word]) => {
              const v = frame.at(row, column);
              return v === null ? null : (
                <td key={column} class="number" data-v={String(v)}>
                  {word} {format(v, "ratio")}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Advice({ frame }: { frame: Frame }) {
  if (frame.n === 0) return <Empty frame={frame} />;
  return (
    <ol>
      {rowsOf(frame).map((row) => (
        <li key={row}>
          <strong>{formatTime(frame.at(row, "impact_ns") ?? 0)}</strong> {frame.text(row, "title")}{" "}
          <span class="muted">{frame.text(row, "evidence")}</span>
        </li>
      ))}
    </ol>
  );
}

export function Overview() {
  const options = selectionOptions(usePage().place.value);
  const overview = useTable("overview", options, ALL);
  const devices = useTable("devices", options, ALL);
  const advice = useTable("advice", options, ALL);
  useCommand(overview.frame);
  if (overview.problem) return <Problem problem={overview.problem} />;
  if (overview.frame === null) return <p class="empty">reading the traces …</p>;
  return (
    <>
      <h1>{overview.frame.n > 0 ? headline(overview.frame) : "no step was measured"}</h1>
      <div class="columns">
        <section>
          <h2>Average step</h2>
          {overview.frame.n > 0 ? (
            <Breakdown frame={overview.frame} />
          ) : (
            <Empty frame={overview.frame} />
          )}
        </section>
        <section>
          <h2>Devices</h2>
          {devices.problem && <Problem problem={devices.problem} />}
          {devices.frame && <Devices frame={devices.frame} />}
        </section>
      </div>
      <section>
        <h2>What to do</h2>
        {advice.problem && <Problem problem={advice.problem} />}
        {advice.frame && <Advice frame={advice.frame} />}
      </section>
    </>
  );
}
