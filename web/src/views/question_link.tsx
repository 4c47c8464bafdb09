// SPDX-License-Identifier: Apache-2.0
// A link to where the page shows the rows of a question.

import type { Question } from "../api/question.ts";
import { placeOfQuestion } from "../state/question_place.ts";
import { usePage } from "../state/session.ts";
import { formatPlace } from "../state/url.ts";

interface QuestionLinkProps {
  readonly question: Question;
  /** What prints the same rows. */
  readonly command: string;
}

/** Nothing, if the page has no place for the rows of QUESTION. */
export function QuestionLink({ question, command }: QuestionLinkProps) {
  const page = usePage();
  const place = placeOfQuestion(question);
  if (place === null) return null;
  return (
    <a
      class="rows"
      href={formatPlace({ ...page.place.value, ...place })}
      title={command}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        page.go(place);
      }}
    >
      rows ›
    </a>
  );
}
