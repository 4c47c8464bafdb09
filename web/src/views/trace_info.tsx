// SPDX-License-Identifier: Apache-2.0
// What the trace says of itself: where it ran in a line, then facts, and the members of its file.

import type { Frame } from "../api/cols.ts";
import { format } from "../model/units.ts";

/** What a person wants to know first; the rest is below. */
const FIRST = [
  ["ranks", "ranks"],
  ["spans", "spans"],
  ["processes", "processes"],
  ["threads", "threads"],
  ["devices", "devices"],
  ["steps", "steps"],
  ["events", "events"],
  ["duration_ns", "duration"],
  ["producer", "recorded by"],
  ["torch_version", "torch"],
] as const;

function shown(key: string, value: string): string {
  if (!/^\d+$/.test(value)) return value;
  return format(Number(value), key === "duration_ns" ? "ns" : null);
}

/** The sums over all ranks and spans. */
export function Configuration({ frame }: { frame: Frame<"info"> }) {
  const rows = new Map(frame.map((row) => [frame.text(row, "key"), row]));
  const told = FIRST.flatMap(([key, title]) => {
    const row = rows.get(key);
    const value = row === undefined ? "" : frame.text(row, "value");
    return row === undefined || value === "" ? [] : [{ key, title, row, value }];
  });
  const devices = told.find(({ key }) => key === "devices")?.value;
  return (
    <dl class="configuration">
      <div>
        <dt>runs on</dt>
        <dd>{devices === undefined || devices === "0" ? "host" : "devices"}</dd>
      </div>
      {told.map(({ key, title, row, value }) => (
        <div key={key}>
          <dt>{title}</dt>
          <dd data-v={value} data-r={String(row)} data-c="value">
            {shown(key, value)}
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function Info({ frame }: { frame: Frame<"info"> }) {
  const meta: number[] = [];
  const facts: number[] = [];
  for (let row = 0; row < frame.n; row++)
    (frame.text(row, "key").startsWith("meta.") ? meta : facts).push(row);
  const hasRank = frame.index("rank") >= 0;
  const list = (rows: readonly number[]) => (
    <table class="plain-table facts">
      <tbody>
        {rows.map((row) => (
          <tr key={row}>
            {hasRank && <td class="muted">rank {frame.text(row, "rank")}</td>}
            <th scope="row">{frame.text(row, "key").replace(/^meta\./, "")}</th>
            <td data-v={frame.text(row, "value")} data-r={String(row)} data-c="value">
              {frame.text(row, "value") || "–"}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
  return (
    <>
      <details>
        <summary>configuration and counts ({facts.length})</summary>
        {list(facts)}
      </details>
      <details>
        <summary>trace information ({meta.length})</summary>
        {list(meta)}
      </details>
    </>
  );
}
