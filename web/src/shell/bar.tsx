// SPDX-License-Identifier: Apache-2.0
// The control panel: which run, which ranks and span, and what the page itself can do.

import { usePage } from "../state/session.ts";
import { changeTheme } from "./keys.ts";
import { Pickers } from "./pickers.tsx";

export function Bar() {
  const page = usePage();
  const place = page.place.value;
  return (
    <header class="bar">
      <span class="name">opscope</span>
      <Pickers />
      {place.steps !== "" && (
        <button type="button" class="chip" onClick={() => page.go({ steps: "" })}>
          steps {place.steps} ×
        </button>
      )}
      {place.t !== "" && (
        <button type="button" class="chip" onClick={() => page.go({ t: "" })}>
          range ×
        </button>
      )}
      <span class="space" />
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
