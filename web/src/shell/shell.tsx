// SPDX-License-Identifier: Apache-2.0
// The fixed frame: bar, rail, step strip, view, dock, status line.

import { useEffect } from "preact/hooks";
import { usePage } from "../state/session.ts";
import { VIEWS } from "../views/list.ts";
import { Bar } from "./bar.tsx";
import { Dock } from "./dock.tsx";
import { Help } from "./help.tsx";
import { installKeys } from "./keys.ts";
import { Palette } from "./palette.tsx";
import { Rail } from "./rail.tsx";
import { Status } from "./status.tsx";
import { StepStrip } from "./strip.tsx";
import { Unknown, useUnknown } from "./unknown.tsx";
import { Unreadable } from "./unreadable.tsx";

export function Shell() {
  const page = usePage();
  const view = VIEWS.find((v) => v.name === page.place.value.view) ?? VIEWS[0]!;
  const Component = view.component;
  const unknown = useUnknown();
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
        {page.loading.value.state === "failed" ? (
          <Unreadable />
        ) : unknown !== null ? (
          <Unknown is={unknown} />
        ) : (
          <Component />
        )}
      </main>
      <Dock />
      <Status />
      {page.helpIsOpen.value && <Help />}
      {page.paletteIsOpen.value && <Palette />}
    </div>
  );
}
