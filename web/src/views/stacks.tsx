// SPDX-License-Identifier: Apache-2.0
// The call stacks of an operator: what each took, and its frames, whose places can be copied.

import type { Frame } from "../api/cols.ts";
import { type CallFrame, framesOf } from "../model/call_frames.ts";
import { format, formatIn, unitFor } from "../model/units.ts";
import { usePage } from "../state/session.ts";

const COLUMNS = [
  { name: "calls", title: "calls", unit: null },
  { name: "device_self_ns", title: "device self", unit: "ns" },
  { name: "host_self_ns", title: "host self", unit: "ns" },
  { name: "host_total_ns", title: "host total", unit: "ns" },
] as const;

function Frames({ frames }: { frames: readonly CallFrame[] }) {
  const page = usePage();
  const copy = (place: string) =>
    void navigator.clipboard?.writeText(place).then(() => {
      page.notice.value = `copied ${place}`;
    });
  return (
    <ol class="frames">
      {frames.map((frame, i) => (
        <li key={`${i}${frame.text}`}>
          {frame.function}{" "}
          {frame.place !== "" && (
            <button
              type="button"
              class="plain muted"
              title="Copy as editors take it"
              onClick={() => copy(frame.place)}
            >
              {frame.place}
            </button>
          )}
        </li>
      ))}
    </ol>
  );
}

export function Stacks({ frame }: { frame: Frame }) {
  const columns = COLUMNS.map((column) => {
    const values = Array.from({ length: frame.n }, (_, row) => frame.at(row, column.name) ?? 0);
    return { ...column, in: unitFor(column.unit, true, Math.max(0, ...values)) };
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <div class="small-table" role="region" aria-label="call stacks" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((c) => (
              <th key={c.name} scope="col" class="number">
                {c.in.label === "" ? c.title : `${c.title}, ${c.in.label}`}
              </th>
            ))}
            <th scope="col">call stack</th>
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: frame.n }, (_, row) => {
            const frames = framesOf(frame.text(row, "call_stack"));
            return (
              <tr key={row}>
                {columns.map((c) => (
                  <td
                    key={c.name}
                    class="number"
                    data-v={String(frame.value(row, frame.index(c.name)))}
                    data-r={String(row)}
                    data-c={c.name}
                  >
                    {formatIn(frame.at(row, c.name) ?? 0, c.in)}
                  </td>
                ))}
                <td>
                  {frames.length === 0 ? (
                    <span class="muted">none was recorded</span>
                  ) : (
                    <details>
                      <summary>
                        {frames[0]!.function}{" "}
                        <span class="muted">({format(frames.length, null)} frames)</span>
                      </summary>
                      <Frames frames={frames} />
                    </details>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
