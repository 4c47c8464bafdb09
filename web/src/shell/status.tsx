// SPDX-License-Identifier: Apache-2.0
// The last line: the command that prints what is shown, and how far the traces are read.

import { format } from "../model/units.ts";
import { usePage } from "../state/session.ts";
import { copyCommand } from "./keys.ts";

function LoadState() {
  const page = usePage();
  const { state, done, total, message } = page.loading.value;
  const note = page.session.value?.note ?? "";
  // Of a run that there is not nothing is read.
  const hasRun = page.session.value === null || page.run.value !== "";
  if (state === "loading" && hasRun)
    return (
      <span role="status">
        reading {total > 0 ? `${format(done, "bytes")} of ${format(total, "bytes")}` : "…"}
      </span>
    );
  return <span role="status">{message || page.foreign.value || note}</span>;
}

export function Status() {
  const page = usePage();
  return (
    <footer class="status">
      <code title={page.command.value}>{page.command.value}</code>
      {page.command.value !== "" && (
        <button type="button" onClick={() => copyCommand(page)} title="Copy the command (y)">
          {page.notice.value === "" ? "copy" : page.notice.value}
        </button>
      )}
      <LoadState />
    </footer>
  );
}
