// SPDX-License-Identifier: Apache-2.0
// What views have in common: sections with their command, problems, empty answers, tabs.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ApiProblem } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import { format } from "../model/units.ts";
import type { Answer } from "../state/answers.ts";
import { type PageState, usePage } from "../state/session.ts";
import { SectionTools } from "./section_tools.tsx";

/** In the place of what could not be shown. */
export function Problem({ problem }: { problem: ApiProblem }) {
  return (
    <div class="problem" role="alert">
      <p>{problem.message}</p>
      {problem.what_to_do !== null && <p>{problem.what_to_do}</p>}
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

function showCommand(page: PageState, command: string): void {
  if (command === "" || command === page.command.value) return;
  page.command.value = command;
  page.notice.value = "";
}

/** Show the command of FRAME, which answers for the whole view, in the status line. */
export function useCommand(frame: { readonly command: string | null } | null): void {
  const page = usePage();
  const command = frame?.command ?? "";
  useEffect(() => showCommand(page, command), [page, command]);
}

/** Let the status line follow a part whose command it shows. */
function useFollowed(command: string): void {
  const page = usePage();
  const before = useRef(command);
  useEffect(() => {
    if (before.current !== "" && page.command.value === before.current) showCommand(page, command);
    if (command !== "") before.current = command;
  }, [page, command]);
}

interface SectionProps {
  readonly title: string;
  readonly answer: Answer;
  readonly tools?: ComponentChildren;
  /** What stands there if the answer has no rows, below its notes. */
  readonly ifEmpty?: ComponentChildren;
  /** How many of the first notes of the rows are said elsewhere in the view. */
  readonly said?: number;
  readonly children: (frame: Frame) => ComponentChildren;
}

/** A part of a view with the rows of one table: its title, and the command that prints it. */
export function Section({ title, answer, tools, ifEmpty, said, children }: SectionProps) {
  const page = usePage();
  const { frame, problem } = answer;
  const command = frame?.command ?? "";
  useFollowed(command);
  return (
    <section
      data-command={problem && frame === null ? undefined : command}
      class={answer.isOld ? "section old" : "section"}
      aria-label={title}
      onFocusCapture={() => showCommand(page, command)}
      onPointerDown={() => showCommand(page, command)}
    >
      <div class="section-head">
        <h2>{title}</h2>
        {tools}
        <span class="space" />
        {command !== "" && <SectionTools title={title} command={command} />}
        {command !== "" && (
          <button
            type="button"
            class="plain muted"
            aria-label={`Show the command that prints ${title}`}
            title={command}
            onClick={() => showCommand(page, command)}
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

export interface Tab {
  readonly name: string;
  readonly title: string;
}

/** One of several, with the keys that a group of buttons has. */
export function Tabs(props: {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly value: string;
  readonly onChange: (name: string) => void;
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
