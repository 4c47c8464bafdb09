// SPDX-License-Identifier: Apache-2.0
// The control panel: which run, which ranks and span, and what the page itself can do.

import { usePage } from "../state/session.ts";
import { formatValue, HOME } from "../state/url.ts";
import { Findings } from "./findings.tsx";
import { changeTheme } from "./keys.ts";
import { Pickers } from "./pickers.tsx";

/** What is selected by NAME, if anything; a click takes it back, unless the page has nothing else. */
function Chip({ name, text }: { name: "steps" | "t"; text: string }) {
  const page = usePage();
  const value = formatValue(page.place.value, name);
  if (value === "") return null;
  if (value === page.session.value?.fixed?.[name])
    return (
      <span class="chip" title="This page has nothing else">
        {text}
      </span>
    );
  return (
    <button type="button" class="chip" onClick={() => page.go({ [name]: HOME[name] })}>
      {text} ×
    </button>
  );
}

export function Bar() {
  const page = usePage();
  const place = page.place.value;
  return (
    <header class="bar">
      <span class="name">opscope</span>
      <Pickers />
      <Chip name="steps" text={`steps ${place.steps}`} />
      <Chip name="t" text="range" />
      <span class="space" />
      <Findings />
      <button
        type="button"
        class="plain"
        aria-label="Light or dark (u)"
        title="Light or dark (u)"
        onClick={() => changeTheme(page)}
      >
        ◐
      </button>
      <button
        type="button"
        class="plain"
        aria-label="Keys (?)"
        title="Keys (?)"
        onClick={() => (page.helpIsOpen.value = true)}
      >
        ?
      </button>
    </header>
  );
}
