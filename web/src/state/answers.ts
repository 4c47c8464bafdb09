// SPDX-License-Identifier: Apache-2.0
// A table as a component uses it: asked again when the traces, the options or the place change;
// the old answer stays until the new one is there.

import { useEffect, useState } from "preact/hooks";
import { ApiError, type ApiProblem, type Options, type Rows } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import { usePage } from "./session.ts";

export interface Answer {
  readonly frame: Frame | null;
  readonly problem: ApiProblem | null;
  /** A newer answer is on its way. */
  readonly isOld: boolean;
}

const EMPTY: Answer = { frame: null, problem: null, isOld: true };

export function problemOf(cause: unknown): ApiProblem {
  if (cause instanceof ApiError) return cause.problem;
  return { status: 0, code: "page", message: String(cause), what_to_do: null, command: null };
}

/** The rows ROWS of table NAME; null NAME: nothing is asked. */
export function useTable(name: string | null, options: Options, rows: Rows): Answer {
  const page = usePage();
  const fingerprint = page.fingerprint.value;
  const [answer, setAnswer] = useState<Answer>(EMPTY);
  const key = JSON.stringify([name, options, rows, fingerprint, page.epoch.value]);

  // the key has all of them
  useEffect(() => {
    if (name === null || fingerprint === "") return;
    const abort = new AbortController();
    setAnswer((old) => ({ ...old, isOld: true }));
    page.api
      .table(name, options, rows, abort.signal)
      .then((frame) => setAnswer({ frame, problem: null, isOld: false }))
      .catch((cause: unknown) => {
        if (!abort.signal.aborted)
          setAnswer((old) => ({ frame: old.frame, problem: problemOf(cause), isOld: false }));
      });
    return () => abort.abort();
  }, [key]);
  return answer;
}
