// SPDX-License-Identifier: Apache-2.0
// An answer as a component uses it: asked again when its key changes; the old one stays until the
// new one is there.

import { useEffect, useState } from "preact/hooks";
import { ApiError, type ApiProblem, isChanged } from "../api/api.ts";
import { usePage } from "./session.ts";

export interface Asked<T> {
  readonly value: T | null;
  readonly problem: ApiProblem | null;
  /** A newer answer is on its way, or nothing was asked yet. */
  readonly isOld: boolean;
}

export const NOTHING = { value: null, problem: null, isOld: true } as const;

function problemOf(cause: unknown): ApiProblem {
  if (cause instanceof ApiError) return cause.problem;
  return { status: 0, code: "page", message: String(cause), what_to_do: null, command: null };
}

/**
 * Ask for what KEY says (null: nothing), of the traces as they are now. After a failure the value
 * stays only if KEEPS, and if the question was not wrong: it would pass for the answer to that. It
 * is asked again after PAUSE ms, so that what is looked at comes first.
 */
export function useAsked<T>(
  key: readonly unknown[] | null,
  ask: (signal: AbortSignal) => Promise<T>,
  keeps = false,
  pause = 0,
): Asked<T> {
  const page = usePage();
  const fingerprint = page.fingerprint.value;
  const [asked, setAsked] = useState<Asked<T>>(NOTHING);
  const isAsked = key !== null && fingerprint !== "";
  // The key says all that ask depends on.
  useEffect(() => {
    if (!isAsked) {
      setAsked(NOTHING);
      return;
    }
    const abort = new AbortController();
    setAsked((old) => ({ ...old, isOld: true }));
    const waited =
      pause === 0 || asked.value === null
        ? Promise.resolve()
        : new Promise((done) => setTimeout(done, pause));
    const answer = waited.then(() => {
      abort.signal.throwIfAborted();
      return ask(abort.signal);
    });
    answer.then(
      (value) => {
        if (!abort.signal.aborted) setAsked({ value, problem: null, isOld: false });
      },
      (cause: unknown) => {
        // Of other files it is asked again, once the page has heard of them.
        if (abort.signal.aborted || isChanged(cause)) return;
        const problem = problemOf(cause);
        const stays = keeps && problem.code !== "bad_request";
        setAsked((old) => ({ value: stays ? old.value : null, problem, isOld: false }));
      },
    );
    return () => abort.abort();
  }, [isAsked ? JSON.stringify([key, fingerprint, page.epoch.value]) : ""]);
  return asked;
}
