// SPDX-License-Identifier: Apache-2.0
// The place of a command among the files that are open.

import { useMemo } from "preact/hooks";
import { type Asked, useAsked } from "./asked.ts";
import { isOfPart, placeOfCommand } from "./command.ts";
import type { OpenFiles } from "./operands.ts";
import { type PageState, usePage } from "./session.ts";
import type { Place } from "./url.ts";

/** What is open, as far as it is known without asking. */
export function openFiles(page: PageState): OpenFiles {
  const tables = page.catalog.value?.tables ?? [];
  return {
    runs: page.session.value?.runs ?? [],
    run: page.run.value,
    answer: null,
    traces: [],
    momentsOf: (table) =>
      (tables.find((one) => one.name === table)?.columns ?? [])
        .filter((column) => column.moment)
        .map((column) => column.name),
  };
}

/** Whether an answer is still on its way. */
function isPending({ value, problem }: Asked<unknown>): boolean {
  return value === null && problem === null;
}

/** What to change to come to the rows that COMMAND prints; null: no place shows just them, or that
 * is not known yet: of a command about some of the files the server says which these are. */
export function usePlaceOf(command: string): Partial<Place> | null {
  const page = usePage();
  const run = page.run.value;
  const files = openFiles(page);
  const isPart = run !== "" && isOfPart(command, files.runs);
  const answer = useAsked(isPart ? ["runs", run] : null, (signal) => page.api.runs(run, signal));
  const timeline = useAsked(isPart ? ["timeline", run] : null, (signal) =>
    page.api.timeline(run, signal),
  );
  const isWaiting = isPart && (isPending(answer) || isPending(timeline));
  return useMemo(() => {
    if (isWaiting) return null;
    const traces = timeline.value?.traces ?? [];
    // Without both it is not known which part it is.
    const known = answer.value !== null && timeline.value !== null ? answer.value : null;
    return placeOfCommand(command, { ...files, answer: known, traces });
  }, [command, run, isWaiting, files.runs, answer.value, timeline.value, page.catalog.value]);
}
