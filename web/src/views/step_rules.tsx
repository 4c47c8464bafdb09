// SPDX-License-Identifier: Apache-2.0
// How long a step is, and whether averages count those at the end of whose device work some may be
// missing.

import type { Frame } from "../api/cols.ts";
import { Tabs } from "../parts/section.tsx";
import { usePage } from "../state/session.ts";

const LENGTHS = [
  { name: "", title: "device" },
  { name: "annotation", title: "annotation" },
];

/** Whether FRAME, of the table `steps`, has steps that a rule leaves out, or would. */
function hasTail(frame: Frame<"steps"> | null): boolean {
  for (let row = 0; frame !== null && row < frame.n; row++)
    if (/^(not kept|kept by)/.test(frame.text(row, "note"))) return true;
  return false;
}

export function StepRules({ steps }: { steps: Frame<"steps"> | null }) {
  const page = usePage();
  const { length, kept } = page.place.value;
  return (
    <>
      <Tabs
        label="How long a step is"
        tabs={LENGTHS}
        value={length === "annotation" ? length : ""}
        onChange={(name) => page.go({ length: name })}
      />
      {(kept === "all" || hasTail(steps)) && (
        <label title="Steps at the end whose device work may not all have been recorded, or that hold no operator">
          <input
            type="checkbox"
            checked={kept === "all"}
            onChange={(event) => page.go({ kept: event.currentTarget.checked ? "all" : "" })}
          />{" "}
          count the tail
        </label>
      )}
    </>
  );
}
