// SPDX-License-Identifier: Apache-2.0
// The call stacks of an operator: what each took, and its frames, whose places can be copied, or
// opened in an editor.

import type { Frame } from "../api/cols.ts";
import type { ColumnOf } from "../api/tables.ts";
import { SmallTable } from "../grid/small_table.tsx";
import { type CallFrame, framesOf } from "../model/call_frames.ts";
import { format } from "../model/units.ts";
import { usePage } from "../state/session.ts";

const COLUMNS: readonly ColumnOf<"operators">[] = [
  "calls",
  "device_self_ns",
  "device_total_ns",
  "host_self_ns",
  "host_total_ns",
  "tc_eligible",
  "tc_self_ratio",
  "tc_total_ratio",
];

function Place({ frame }: { frame: CallFrame }) {
  const page = usePage();
  const copy = () =>
    void navigator.clipboard?.writeText(frame.place).then(() => {
      page.notice.value = `copied ${frame.place}`;
    });
  return (
    <>
      <button type="button" class="plain muted" title="Copy as editors take it" onClick={copy}>
        {frame.place}
      </button>
      {frame.link !== "" && (
        <a
          class="editor"
          href={frame.link}
          title={`Open in VS Code, if this machine has the file: ${frame.place}`}
        >
          VS Code ›
        </a>
      )}
    </>
  );
}

function Frames({ frames }: { frames: readonly CallFrame[] }) {
  return (
    <ol class="frames">
      {frames.map((frame, i) => (
        <li key={`${i}${frame.text}`}>
          {frame.function} {frame.place !== "" && <Place frame={frame} />}
        </li>
      ))}
    </ol>
  );
}

function Stack({ text }: { text: string }) {
  const frames = framesOf(text);
  if (frames.length === 0) return <span class="muted">none was recorded</span>;
  return (
    <details>
      <summary>
        {frames[0]!.function} <span class="muted">({format(frames.length, null)} frames)</span>
      </summary>
      <Frames frames={frames} />
    </details>
  );
}

export function Stacks({ frame }: { frame: Frame<"operators"> }) {
  return (
    <SmallTable
      frame={frame}
      columns={COLUMNS}
      label="call stacks"
      last={{
        title: "call stack",
        cell: (row) => <Stack text={frame.text(row, "call_stack")} />,
      }}
    />
  );
}
