// SPDX-License-Identifier: Apache-2.0
// What each part of a view can do: its rows as a table, what they mean, itself as a picture.

import type { Question } from "../api/api.ts";
import { placeOfQuestion } from "../state/question_place.ts";
import { type PageState, usePage } from "../state/session.ts";
import { pictureOf, pngOf, save } from "./picture.ts";

function captionOf(page: PageState, command: string): string[] {
  const version = page.session.value?.opscope ?? "";
  return [`opscope ${version}, ${page.run.value}`, command];
}

interface PictureProps {
  readonly title: string;
  readonly command: string;
  /** What is drawn, beside the button EVENT came from. */
  find(button: Element): Element | null;
}

/** Save a part of the view as a picture. */
export function PictureButtons({ title, command, find }: PictureProps) {
  const page = usePage();
  const name = title.replace(/[^\p{L}\p{N}]+/gu, "-").toLowerCase();
  const take = (event: MouseEvent, form: "svg" | "png") => {
    const part = find(event.currentTarget as Element);
    if (part === null) return;
    const picture = pictureOf(part, captionOf(page, command));
    if (form === "svg") save(new Blob([picture.text], { type: "image/svg+xml" }), `${name}.svg`);
    else
      void pngOf(picture).then(
        (blob) => save(blob, `${name}.png`),
        (cause: unknown) => {
          page.notice.value = `no picture: ${String(cause)}`;
        },
      );
  };
  return (
    <>
      {(["svg", "png"] as const).map((form) => (
        <button
          key={form}
          type="button"
          class="plain muted"
          aria-label={`Save ${title} as ${form.toUpperCase()}`}
          onClick={(event) => take(event, form)}
        >
          {form}
        </button>
      ))}
    </>
  );
}

interface SectionToolsProps {
  readonly title: string;
  readonly command: string;
  /** What the part answers. */
  readonly question: Question;
}

export function SectionTools({ title, command, question }: SectionToolsProps) {
  const page = usePage();
  const rows = placeOfQuestion(question);
  return (
    <span class="section-tools">
      {rows !== null && (
        <button
          type="button"
          class="plain muted"
          aria-label={`Rows of ${title}`}
          onClick={() => page.go(rows)}
        >
          rows ›
        </button>
      )}
      <button
        type="button"
        class="plain muted"
        aria-label={`Explain ${title}`}
        title="What these numbers mean"
        onClick={() => {
          page.dockIsOpen.value = true;
          page.go({ sel: `table:${question.table}` });
        }}
      >
        ?
      </button>
      <PictureButtons
        title={title}
        command={command}
        find={(button) => button.closest("section")}
      />
    </span>
  );
}
