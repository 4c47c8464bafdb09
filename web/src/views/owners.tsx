// SPDX-License-Identifier: Apache-2.0
// Who owned the memory at a peak.

import type { Frame } from "../api/cols.ts";
import { peakOwners } from "../model/peak.ts";
import { format, formatIn, unitFor } from "../model/units.ts";

export function Owners({ frame, row }: { frame: Frame<"memory_peaks">; row: number }) {
  const owners = peakOwners(frame.text(row, "at_peak"));
  if (owners.length === 0) return null;
  const most = Math.max(1, ...owners.map((o) => o.bytes));
  const unit = unitFor("bytes", true, most);
  return (
    <table class="ranked" aria-label="Alive at the peak">
      <thead>
        <tr>
          <th scope="col">alive at the peak</th>
          <th scope="col">memory, {unit.label}</th>
          <th scope="col">blocks</th>
        </tr>
      </thead>
      <tbody>
        {owners.map((owner) => (
          <tr key={owner.operator}>
            <th scope="row" title={owner.operator}>
              {owner.operator}
            </th>
            <td title={format(owner.bytes, "bytes")}>
              <span
                class="ranked-bar fill-kernel"
                style={{ width: `${(owner.bytes / most) * 60}%` }}
              />
              <span>{formatIn(owner.bytes, unit)}</span>
            </td>
            <td>{format(owner.count, null)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
