// SPDX-License-Identifier: Apache-2.0
// The fixed frame: bar, rail, step strip, view, dock, status line.

import { useEffect } from "preact/hooks";
import { usePage } from "../state/session.ts";
import { FRESH } from "../state/url.ts";
import { VIEWS } from "../views/list.ts";
import { Bar } from "./bar.tsx";
import { Dock } from "./dock.tsx";
import { Help } from "./help.tsx";
import { installKeys } from "./keys.ts";
import { Palette } from "./palette.tsx";
import { Status } from "./status.tsx";
import { StepStrip } from "./strip.tsx";
import { Unreadable } from "./unreadable.tsx";

function Rail() {
  const page = usePage();
  const here = page.place.value.view;
  return (
    <nav class="rail" aria-label="Views">
      {VIEWS.map((view) => (
        <a
          key={view.name}
          href={`#/${view.name}`}
          aria-current={view.name === here ? "page" : undefined}
          title={`${view.title} (g ${view.key})`}
          onClick={(event) => {
            event.preventDefault();
            page.go({ ...FRESH, view: view.name });
          }}
        >
          {view.title}
        </a>
      ))}
    </nav>
  );
}

export function Shell() {
  const page = usePage();
  const view = VIEWS.find((v) => v.name === page.place.value.view) ?? VIEWS[0]!;
  const Component = view.component;
  useEffect(() => installKeys(page, window), [page]);
  useEffect(() => {
    document.documentElement.dataset.theme = page.theme.value;
  }, [page.theme.value]);
  useEffect(() => {
    document.title = `${page.run.value} · ${view.title} · opscope`;
  }, [view, page.run.value]);
  return (
    <div class="frame">
      <Bar />
      <Rail />
      <StepStrip />
      <main class="view" aria-label={view.title}>
        {page.loading.value.state === "failed" ? <Unreadable /> : <Component />}
      </main>
      <Dock />
      <Status />
      {page.helpIsOpen.value && <Help />}
      {page.paletteIsOpen.value && <Palette />}
    </div>
  );
}
