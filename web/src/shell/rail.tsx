// SPDX-License-Identifier: Apache-2.0
// The views beside each other; those without data are grey. Where the address names none, the page
// begins with the first one that has something to say.

import { useEffect } from "preact/hooks";
import { firstView, viewsWithData } from "../model/views_with_data.ts";
import { LATER, useTable } from "../state/answers.ts";
import { usePage } from "../state/session.ts";
import { FRESH } from "../state/url.ts";
import { VIEWS } from "../views/list.ts";

const ALL = { offset: 0, limit: 100 };

export function Rail() {
  const page = usePage();
  const { view: here, run } = page.place.value;
  const { frame } = useTable("headlines", run === "" ? {} : { run }, ALL, LATER);
  const data = frame === null ? null : viewsWithData(frame);
  useEffect(() => {
    if (data === null || !page.isUndecided.value) return;
    page.isUndecided.value = false;
    const view = firstView(data);
    if (view !== page.place.value.view) page.go({ view }, "replace");
  }, [page, frame]);
  return (
    <nav class="rail" aria-label="Views">
      {VIEWS.map((view) => {
        const isEmpty = data?.get(view.name) === false;
        const title = `${view.title} (g ${view.key})`;
        return (
          <a
            key={view.name}
            href={`#/${view.name}`}
            class={isEmpty ? "empty-view" : undefined}
            aria-current={view.name === here ? "page" : undefined}
            title={isEmpty ? `${title}: nothing of this kind was recorded` : title}
            onClick={(event) => {
              event.preventDefault();
              page.go({ ...FRESH, view: view.name });
            }}
          >
            {view.title}
          </a>
        );
      })}
    </nav>
  );
}
