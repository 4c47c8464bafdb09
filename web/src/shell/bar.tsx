// SPDX-License-Identifier: Apache-2.0
// The control panel: which run, which ranks and span, and what the page itself can do.

import { usePage } from "../state/session.ts";
import { changeTheme } from "./keys.ts";

export function Bar() {
  const page = usePage();
  const place = page.place.value;
  const runs = page.session.value?.runs ?? [];
  return (
    <header class="bar">
      <span class="name">opscope</span>
      <label>
        run
        <select
          value={page.run.value}
          onChange={(event) => page.go({ run: event.currentTarget.value, rank: "", span: "" })}
        >
          {runs.map((run) => (
            <option key={run.name} value={run.name}>
              {run.name}
            </option>
          ))}
        </select>
      </label>
      <label>
        rank
        <input
          size={6}
          placeholder="all"
          value={place.rank}
          onChange={(event) => page.go({ rank: event.currentTarget.value.trim() })}
        />
      </label>
      <label>
        span
        <input
          size={4}
          placeholder="all"
          value={place.span}
          onChange={(event) => page.go({ span: event.currentTarget.value.trim() })}
        />
      </label>
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
