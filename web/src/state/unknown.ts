// SPDX-License-Identifier: Apache-2.0
// What an address names that there is not, in one sentence, and the ways back.

import type { ApiProblem, Session } from "../api/api.ts";
import { type Place, WHOLE_RUN } from "./url.ts";

export interface Unknown {
  readonly text: string;
  readonly ways: ReadonlyArray<{ readonly title: string; readonly changes: Partial<Place> }>;
}

const MOST_RUNS = 12;

/** PROBLEM is why nothing can be made of the selection of PLACE; null: something can. */
export function unknownOf(
  place: Place,
  session: Session | null,
  views: ReadonlyArray<{ readonly name: string }>,
  problem: ApiProblem | null,
): Unknown | null {
  if (!views.some(({ name }) => name === place.view))
    return {
      text: `There is no view '${place.view}'.`,
      ways: [{ title: "Overview", changes: { view: "overview" } }],
    };
  const { run } = place;
  if (session !== null && run !== "" && session.runs.every(({ name }) => name !== run))
    return {
      text: `There is no run '${run}' here.`,
      ways: session.runs.slice(0, MOST_RUNS).map(({ name }) => ({
        title: name,
        changes: { ...WHOLE_RUN, run: name === session.run ? "" : name, cmp: "" },
      })),
    };
  if (problem === null || (problem.status !== 400 && problem.status !== 404)) return null;
  if (place.steps !== "" && problem.message.startsWith("--steps:"))
    return {
      text: `There is no step '${place.steps}' in what is selected.`,
      ways: [{ title: "all steps", changes: { steps: "" } }],
    };
  if (place.process !== "" && problem.message.startsWith("--process"))
    return {
      text: `There is no process '${place.process}' in what is selected.`,
      ways: [{ title: "all processes", changes: { process: "" } }],
    };
  // Anything else is told by the parts of the view, such as what a saved page does not have.
  if (!/^(no trace is left|--rank:|--span:)/.test(problem.message)) return null;
  const words = [place.rank && `rank '${place.rank}'`, place.span && `span '${place.span}'`];
  const has = /; (the input has .*)$/.exec(problem.message)?.[1];
  return {
    text: `There is no ${words.filter(Boolean).join(" with ")} here${has ? `: ${has}` : ""}.`,
    ways: [{ title: "all ranks and spans", changes: { rank: "", span: "" } }],
  };
}
