// SPDX-License-Identifier: Apache-2.0
// The funnel of a column: what it asks for becomes a part of EXPR of --where, in the address.

import { useEffect, useRef, useState } from "preact/hooks";
import { both, COMPARISONS, type Comparison, compareNumber, compareText } from "../model/funnel.ts";
import { usePage } from "../state/session.ts";
import { type ShownColumn, titleOf } from "./columns.ts";

function Form({ column, onDone }: { column: ShownColumn; onDone: () => void }) {
  const page = usePage();
  const [how, setHow] = useState<Comparison>(">=");
  const [isWhole, setWhole] = useState(false);
  const [text, setText] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const expr = column.isNumber
    ? compareNumber(column.name, how, text, column.shownUnit)
    : compareText(column.name, text, isWhole);
  const take = (event: Event) => {
    event.preventDefault();
    if (expr !== "") page.go({ where: both(page.place.value.where, expr) });
    onDone();
  };
  const leave = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key === "Escape") onDone();
  };
  return (
    <form class="funnel" aria-label={`Filter ${column.name}`} onSubmit={take} onKeyDown={leave}>
      {column.isNumber ? (
        <select
          aria-label="Comparison"
          value={how}
          onChange={(event) => setHow(event.currentTarget.value as Comparison)}
        >
          {COMPARISONS.map((word) => (
            <option key={word} value={word}>
              {word}
            </option>
          ))}
        </select>
      ) : (
        <label>
          <input
            type="checkbox"
            checked={isWhole}
            onChange={(event) => setWhole(event.currentTarget.checked)}
          />{" "}
          whole
        </label>
      )}
      <input
        ref={field}
        aria-label={titleOf(column)}
        placeholder={column.isNumber ? titleOf(column) : "text or /regex/"}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" disabled={expr === ""}>
        filter
      </button>
      <code>{expr === "" ? "…" : expr}</code>
    </form>
  );
}

export function Funnel({ column }: { column: ShownColumn }) {
  const [isOpen, setOpen] = useState(false);
  if (column.type === "boolean") return null;
  return (
    <>
      <button
        type="button"
        class="explain"
        aria-expanded={isOpen}
        aria-label={`Filter by ${column.name}`}
        title="Filter by this column"
        onClick={() => setOpen(!isOpen)}
      >
        ▽
      </button>
      {isOpen && <Form column={column} onDone={() => setOpen(false)} />}
    </>
  );
}
