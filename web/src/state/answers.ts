// SPDX-License-Identifier: Apache-2.0
// A table as a component uses it.

import type { ApiProblem, Options, Question, Rows } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import type { TableName } from "../api/tables.ts";
import { useAsked } from "./asked.ts";
import { usePage } from "./session.ts";

export interface Answer<T extends TableName = TableName> {
  readonly frame: Frame<T> | null;
  /** What it answers; null: nothing is answered yet. */
  readonly question: Question | null;
  readonly problem: ApiProblem | null;
  /** A newer answer is on its way. */
  readonly isOld: boolean;
}

/** For what stands beside the view: the view itself is asked first. */
export const LATER = 50;

/** The rows ROWS of table NAME; null NAME: nothing is asked. They are asked again after PAUSE ms. */
export function useTable<T extends TableName>(
  name: T | null,
  options: Options,
  rows: Rows,
  pause = 0,
): Answer<T> {
  const { api } = usePage();
  const { value, ...rest } = useAsked(
    name === null ? null : [name, options, rows],
    async (signal) => {
      const frame = await api.table(name!, options, rows, signal);
      return { frame, question: { table: name!, options } };
    },
    true,
    pause,
  );
  return { frame: value?.frame ?? null, question: value?.question ?? null, ...rest };
}
