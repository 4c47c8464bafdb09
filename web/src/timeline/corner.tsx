// SPDX-License-Identifier: Apache-2.0
// Which tracks are shown: a filter, and a way back for those that are hidden.

import { usePage } from "../state/session.ts";

export function Corner() {
  const page = usePage();
  const { only, hide } = page.place.value;
  const nHidden = hide === "" ? 0 : hide.split(",").length;
  return (
    <div class="tl-corner">
      <input
        type="search"
        placeholder="tracks: text or /regex/"
        aria-label="Filter tracks"
        value={only}
        onInput={(event) => page.go({ only: event.currentTarget.value }, "replace")}
      />
      {nHidden > 0 && (
        <button type="button" class="plain" onClick={() => page.go({ hide: "" })}>
          {nHidden} hidden
        </button>
      )}
    </div>
  );
}
