// SPDX-License-Identifier: Apache-2.0
// Stacks as a component uses them: asked again when traces or question change; the old ones stay
// until the new ones are there.

import { useEffect, useState } from "preact/hooks";
import type { ApiProblem, FlameQuestion, FlameStacks } from "../api/api.ts";
import { problemOf } from "./answers.ts";
import { usePage } from "./session.ts";

export interface FlameAnswer {
  readonly stacks: FlameStacks | null;
  readonly problem: ApiProblem | null;
  readonly isOld: boolean;
}

/** null QUESTION: nothing is asked. */
export function useFlame(question: FlameQuestion | null): FlameAnswer {
  const page = usePage();
  const fingerprint = page.fingerprint.value;
  const run = page.run.value;
  const [answer, setAnswer] = useState<FlameAnswer>({ stacks: null, problem: null, isOld: true });
  // the key has all of them
  useEffect(() => {
    if (question === null || fingerprint === "") return;
    const abort = new AbortController();
    setAnswer((old) => ({ ...old, isOld: true }));
    page.api
      .flame(run, question, abort.signal)
      .then((stacks) => setAnswer({ stacks, problem: null, isOld: false }))
      .catch((cause: unknown) => {
        if (!abort.signal.aborted)
          setAnswer({ stacks: null, problem: problemOf(cause), isOld: false });
      });
    return () => abort.abort();
  }, [JSON.stringify([question, run, fingerprint, page.epoch.value])]);
  return answer;
}
