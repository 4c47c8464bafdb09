// SPDX-License-Identifier: Apache-2.0
// What views have in common: problems, empty answers, and a table of a few rows.

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { ApiProblem } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import { usePage } from "../state/session.ts";

/** In the place of what could not be shown. */
export function Problem({ problem }: { problem: ApiProblem }) {
  return (
    <div class="problem" role="alert">
      <p>{problem.message}</p>
      {problem.what_to_do !== null && <p>{problem.what_to_do}</p>}
      {problem.command !== null && <code>{problem.command}</code>}
    </div>
  );
}

/** Why a table has no rows: its own notes. */
export function Empty({ frame, children }: { frame: Frame; children?: ComponentChildren }) {
  return (
    <div class="empty">
      {frame.notes.length === 0 ? (
        <p>no rows</p>
      ) : (
        frame.notes.map((note) => <p key={note}>{note}</p>)
      )}
      {children}
    </div>
  );
}

/** Show the command of FRAME, which answers for the whole view, in the status line. */
export function useCommand(frame: Frame | null): void {
  const page = usePage();
  const command = frame?.command ?? "";
  useEffect(() => {
    if (command !== "") {
      page.command.value = command;
      page.notice.value = "";
    }
  }, [page, command]);
}
