// SPDX-License-Identifier: Apache-2.0
// Stacks as a component uses them.

import type { ApiProblem, FlameQuestion, FlameStacks } from "../api/api.ts";
import { useAsked } from "./asked.ts";
import { usePage } from "./session.ts";

export interface FlameAnswer {
  readonly stacks: FlameStacks | null;
  readonly problem: ApiProblem | null;
  readonly isOld: boolean;
}

/** null QUESTION: nothing is asked. */
export function useFlame(question: FlameQuestion | null): FlameAnswer {
  const page = usePage();
  const run = page.run.value;
  const { value, ...rest } = useAsked(question === null ? null : [question, run], (signal) =>
    page.api.flame(run, question!, signal),
  );
  return { stacks: value, ...rest };
}
