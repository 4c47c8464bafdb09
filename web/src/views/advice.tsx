// SPDX-License-Identifier: Apache-2.0
// What could be changed, the most time first, each with the command that shows why.

import type { Frame } from "../api/cols.ts";
import type { Question } from "../api/question.ts";
import { formatTime } from "../model/units.ts";
import { usePage } from "../state/session.ts";
import { QuestionLink } from "./question_link.tsx";

interface EvidenceProps {
  readonly command: string;
  readonly question: Question | null;
}

function Evidence({ command, question }: EvidenceProps) {
  const page = usePage();
  return (
    <div class="evidence">
      <code title={command}>{command}</code>
      <button
        type="button"
        class="plain"
        onClick={() => {
          void navigator.clipboard?.writeText(command).then(() => {
            page.notice.value = "copied";
          });
        }}
      >
        copy
      </button>
      {question !== null && <QuestionLink question={question} command={command} />}
    </div>
  );
}

/** TEXT, in which words between backticks are typed by users. */
function Sentences({ text }: { text: string }) {
  return (
    <p class="muted">
      {text.split("`").map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}
    </p>
  );
}

export function Advice({ frame }: { frame: Frame<"advice"> }) {
  return (
    <ol class="advice">
      {frame.map((row) => (
        <li key={row}>
          <strong {...frame.shown(row, "impact_ns")}>
            {frame.at(row, "impact_ns") === null ? "–" : formatTime(frame.at(row, "impact_ns")!)}
          </strong>{" "}
          {frame.text(row, "title")}
          <Sentences text={frame.text(row, "text")} />
          {frame.text(row, "evidence") !== "" && (
            <Evidence command={frame.text(row, "evidence")} question={frame.question(row)} />
          )}
        </li>
      ))}
    </ol>
  );
}
