// SPDX-License-Identifier: Apache-2.0
// What views have in common: sections with their command, problems, empty answers, tabs.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ApiProblem } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import type { TableName } from "../api/tables.ts";
import { format } from "../model/units.ts";
import { adviceOn } from "../model/wrong_search.ts";
import type { Answer } from "../state/answers.ts";
import { type PageState, usePage } from "../state/session.ts";
import { SectionTools } from "./section_tools.tsx";

/** In the place of what could not be shown. */
export function Problem({ problem }: { problem: ApiProblem }) {
  const { catalog } = usePage();
  const advice = adviceOn(problem, catalog.value?.tables ?? []);
  return (
    <div class="problem" role="alert">
      <p>{problem.message}</p>
      {advice !== null && <p>{advice}</p>}
      {problem.command !== null && <code>{problem.command}</code>}
    </div>
  );
}

/** Why a table has no rows: its own notes. */
export function Empty({ frame, children }: { frame: Frame; children?: ComponentChildren }) {
  return (
    <div class="empty">
      {frame.notes.length === 0 ? (
        <p>no rows: nothing of this kind was recorded, or the selection leaves it out</p>
      ) : (
        frame.notes.map((note) => <p key={note}>{note}</p>)
      )}
      {children}
    </div>
  );
}

/** What the table says beside its rows, but for the first SAID notes. */
export function TableNotes({ frame, said = 0 }: { frame: Frame; said?: number }) {
  const notes = frame.notes.slice(said);
  if (notes.length === 0) return null;
  return (
    <ul class="table-notes muted">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

/** Let the status line have COMMAND, which prints what PART shows. */
function showCommand(page: PageState, part: object, command: string): void {
  if (command !== page.command.value) page.notice.value = "";
  page.told.value = { part, command };
}

/** A part of a view, and its COMMAND; "": it shows nothing, or why it cannot. While the status line
 * has the command of the part it follows it, and has none once the part is gone. The result shows
 * the command there. */
function useFollowed(command: string): () => void {
  const page = usePage();
  const part = useRef({}).current;
  const isTold = () => page.told.value?.part === part;
  useEffect(() => {
    if (isTold()) showCommand(page, part, command);
  }, [page, command]);
  useEffect(
    () => () => {
      if (isTold()) page.told.value = null;
    },
    [page],
  );
  return () => {
    if (command !== "") showCommand(page, part, command);
  };
}

/** What a command prints, or why it is not there. */
interface Printed {
  readonly frame: { readonly command: string | null } | null;
  readonly problem: ApiProblem | null;
}

/** The command that prints what ANSWER has; "": nothing, or not what was asked for. */
function commandOf({ frame, problem }: Printed): string {
  return problem === null ? (frame?.command ?? "") : "";
}

/** Show the command of ANSWER, which answers for the whole view, in the status line. */
export function useCommand(answer: Printed): void {
  const command = commandOf(answer);
  const show = useFollowed(command);
  useEffect(show, [command]);
}

interface SectionProps<T extends TableName> {
  readonly title: string;
  readonly answer: Answer<T>;
  readonly tools?: ComponentChildren;
  /** What stands there if the answer has no rows, below its notes. */
  readonly ifEmpty?: ComponentChildren;
  /** How many of the first notes of the rows are said elsewhere in the view. */
  readonly said?: number;
  readonly children: (frame: Frame<T>) => ComponentChildren;
}

/** A part of a view with the rows of one table: its title, and the command that prints it. */
export function Section<T extends TableName>(props: SectionProps<T>) {
  const { title, answer, tools, ifEmpty, said, children } = props;
  const { frame, problem, question } = answer;
  const command = frame?.command ?? "";
  const show = useFollowed(commandOf(answer));
  return (
    <section
      data-command={problem && frame === null ? undefined : command}
      class={answer.isOld ? "section old" : "section"}
      aria-label={title}
      onFocusCapture={show}
      onPointerDown={show}
    >
      <div class="section-head">
        <h2>{title}</h2>
        {tools}
        <span class="space" />
        {question !== null && <SectionTools title={title} command={command} question={question} />}
        {command !== "" && (
          <button
            type="button"
            class="plain muted"
            aria-label={`Show the command that prints ${title}`}
            title={command}
            onClick={show}
          >
            &gt;_
          </button>
        )}
      </div>
      {problem && <Problem problem={problem} />}
      {frame === null && !problem && <div class="skeleton" />}
      {frame !== null && (frame.n > 0 ? children(frame) : <Empty frame={frame}>{ifEmpty}</Empty>)}
      {frame !== null && frame.n > 0 && <TableNotes frame={frame} said={said ?? 0} />}
      {frame !== null && frame.n < frame.rows && (
        <p class="muted">
          the first {format(frame.n, null)} of {format(frame.rows, null)} rows
        </p>
      )}
    </section>
  );
}

export interface Tab<N extends string = string> {
  readonly name: N;
  readonly title: string;
}

/** One of several, with the keys that a group of buttons has. */
export function Tabs<N extends string>(props: {
  readonly label: string;
  readonly tabs: readonly Tab<N>[];
  readonly value: NoInfer<N>;
  readonly onChange: (name: N) => void;
}) {
  return (
    <div class="tabs" role="group" aria-label={props.label}>
      {props.tabs.map((tab) => (
        <button
          key={tab.name}
          type="button"
          aria-pressed={tab.name === props.value}
          onClick={() => props.onChange(tab.name)}
        >
          {tab.title}
        </button>
      ))}
    </div>
  );
}
