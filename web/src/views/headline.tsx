// SPDX-License-Identifier: Apache-2.0
// The sentence on top of a view. The command makes it: a row of the table headlines.

import type { ComponentChildren } from "preact";
import type { Frame } from "../api/cols.ts";
import type { TableName } from "../api/tables.ts";
import { type Answer, LATER, useTable } from "../state/answers.ts";
import { allRanksOptions, selectionOptions, stepOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { QuestionLink } from "./question_link.tsx";

const ALL = { offset: 0, limit: 100 };

export function textOf<T extends TableName>(
  answer: Answer<T>,
  sentence: (frame: Frame<T>) => string,
): string {
  if (answer.frame !== null) return sentence(answer.frame);
  return answer.problem === null ? "…" : answer.problem.message;
}

interface HeadlineProps {
  readonly view: string;
  /** It is about what distinguishes ranks, which takes all of them. */
  readonly ofAllRanks?: boolean;
  /** More links beside that. */
  readonly children?: ComponentChildren;
}

/** The headline of VIEW, with a link to its evidence. */
export function Headline({ view, ofAllRanks = false, children }: HeadlineProps) {
  const { catalog, place } = usePage();
  const table = catalog.value?.tables.find((t) => t.name === "headlines");
  const selection = (ofAllRanks ? allRanksOptions : selectionOptions)(place.value);
  const options = { ...selection, ...stepOptions(place.value, table) };
  const answer = useTable("headlines", options, ALL, LATER);
  const { frame } = answer;
  let row = frame === null ? -1 : frame.n - 1;
  while (frame !== null && row >= 0 && frame.text(row, "view") !== view) row--;
  const question = frame === null || row < 0 ? null : frame.question(row);
  return (
    <div
      class={answer.isOld ? "headline old" : "headline"}
      {...(frame !== null && { "data-command": frame.command ?? "" })}
    >
      <h1>{textOf(answer, (rows) => (row < 0 ? "…" : rows.text(row, "text")))}</h1>
      {frame !== null && question !== null && (
        <QuestionLink question={question} command={frame.text(row, "evidence")} />
      )}
      {children}
    </div>
  );
}
