// SPDX-License-Identifier: Apache-2.0
// A table as a component uses it.

import type { ApiProblem, Options, Rows } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import { useAsked } from "./asked.ts";
import { usePage } from "./session.ts";

export interface Answer {
  readonly frame: Frame | null;
  readonly problem: ApiProblem | null;
  /** A newer answer is on its way. */
  readonly isOld: boolean;
}

/** The rows ROWS of table NAME; null NAME: nothing is asked. */
export function useTable(name: string | null, options: Options, rows: Rows): Answer {
  const { api } = usePage();
  const { value, ...rest } = useAsked(
    name === null ? null : [name, options, rows],
    (signal) => api.table(name!, options, rows, signal),
    true,
  );
  return { frame: value, ...rest };
}
