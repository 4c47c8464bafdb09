// SPDX-License-Identifier: Apache-2.0
// What is known of one event: its times, what it is linked to, its siblings, its arguments.

import type { EventDetail } from "../api/api.ts";
import { idsLast } from "../model/args.ts";
import { formatTime } from "../model/units.ts";
import { Siblings } from "./siblings.tsx";

export function Detail({
  detail,
  onSelect,
}: {
  detail: EventDetail;
  onSelect: (event: number) => void;
}) {
  return (
    <>
      <h2>{detail.folded}</h2>
      {detail.folded !== detail.name && <p class="muted">{detail.name}</p>}
      <table class="plain-table">
        <tbody>
          <tr>
            <th scope="row">kind</th>
            <td>{detail.kind}</td>
          </tr>
          <tr>
            <th scope="row">start</th>
            <td data-v={String(detail.start_ns)}>{formatTime(detail.start_ns)}</td>
          </tr>
          {detail.dur_ns !== null && (
            <tr>
              <th scope="row">duration</th>
              <td data-v={String(detail.dur_ns)}>{formatTime(detail.dur_ns)}</td>
            </tr>
          )}
          {detail.self_ns !== null && (
            <tr>
              <th scope="row">self</th>
              <td data-v={String(detail.self_ns)}>{formatTime(detail.self_ns)}</td>
            </tr>
          )}
          {detail.links.map((link, i) => (
            <tr key={`${i} ${link.event}`}>
              <th scope="row">{link.relation.replace("_", " ")}</th>
              <td>
                <button type="button" class="plain" onClick={() => onSelect(link.event)}>
                  {link.name}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Siblings detail={detail} onSelect={onSelect} />
      <table class="plain-table">
        <tbody>
          {idsLast(Object.entries(detail.args)).map(([key, value]) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              <td>{typeof value === "string" ? value : JSON.stringify(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
