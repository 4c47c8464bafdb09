// SPDX-License-Identifier: Apache-2.0
// All that the page can go to, by a few letters of its name (Ctrl+K).

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { matches } from "../model/matches.ts";
import { type PageState, usePage } from "../state/session.ts";
import { FRESH } from "../state/url.ts";
import { VIEWS } from "../views/list.ts";
import { changeTheme, copyCommand } from "./keys.ts";

interface Entry {
  readonly kind: string;
  readonly title: string;
  readonly run: () => void;
}

const MOST = 50;

function entriesOf(page: PageState): Entry[] {
  const runs = page.session.value?.runs ?? [];
  const tables = page.catalog.value?.tables ?? [];
  const go = page.go;
  return [
    ...VIEWS.map((view) => ({
      kind: "view",
      title: view.title,
      run: () => go({ ...FRESH, view: view.name }),
    })),
    { kind: "page", title: "copy the command", run: () => copyCommand(page) },
    { kind: "page", title: "light or dark", run: () => changeTheme(page) },
    ...tables
      .filter((table) => !table.compares)
      .map((table) => ({
        kind: "table",
        title: table.name,
        run: () => go({ ...FRESH, view: "tables", table: table.name }),
      })),
    ...runs.map((run) => ({
      kind: "run",
      title: run.name,
      run: () => go({ run: run.name, rank: "", span: "", process: "" }),
    })),
    ...runs
      .filter((run) => run.name !== page.run.value)
      .map((run) => ({
        kind: "compare with",
        title: run.name,
        run: () => go({ ...FRESH, view: "diff", cmp: run.name }),
      })),
    ...page.steps.value.map((step) => ({
      kind: step.isOutlier ? "step ▲" : "step",
      title: step.word,
      run: () => go({ steps: step.word }),
    })),
  ];
}

export function Palette() {
  const page = usePage();
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [current, setCurrent] = useState(0);
  const entries = useMemo(() => entriesOf(page), [page, page.steps.value]);
  const found = entries.filter((e) => matches(`${e.kind} ${e.title}`, text)).slice(0, MOST);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    dialog.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [current]);
  const choose = (entry: Entry | undefined) => {
    dialog.current?.close();
    entry?.run();
  };
  const press = (event: KeyboardEvent) => {
    const last = Math.max(0, found.length - 1);
    if (event.key === "ArrowDown") setCurrent(Math.min(last, current + 1));
    else if (event.key === "ArrowUp") setCurrent(Math.max(0, current - 1));
    else if (event.key === "Enter") choose(found[current]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Commands"
      onClose={() => {
        page.paletteIsOpen.value = false;
      }}
    >
      <input
        type="text"
        role="combobox"
        aria-label="Go to a view, table, step or run"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${current}` : undefined}
        placeholder="view, table, step or run"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setCurrent(0);
        }}
        onKeyDown={press}
      />
      <div id="palette-list" role="listbox" aria-label="What was found">
        {found.map((entry, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys for its list
          <div
            key={`${entry.kind} ${entry.title}`}
            id={`palette-${i}`}
            role="option"
            aria-selected={i === current}
            onClick={() => choose(entry)}
          >
            <span class="muted">{entry.kind}</span> {entry.title}
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="muted">nothing has these letters</p>}
    </dialog>
  );
}
