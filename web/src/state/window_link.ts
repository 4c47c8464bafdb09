// SPDX-License-Identifier: Apache-2.0
// The address follows the window of the timeline when it rests, and the window the address when
// that becomes another one: by the history, a link or a key.

import { computed, effect } from "@preact/signals";
import { formatRange } from "./codec.ts";
import type { PageState } from "./session.ts";
import type { TimeWindow } from "./time_window.ts";
import type { WindowHistory } from "./window_history.ts";

const REST_MS = 250;

/** Link the address of PAGE and WINDOW, whose rests HISTORY keeps; the result ends it. */
export function linkWindow(
  page: PageState,
  window: TimeWindow,
  history: WindowHistory,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const rest = () => {
    page.go({ w: window.window }, "replace");
    history.rest(formatRange(window.window));
  };
  history.rest(formatRange(window.window));
  const follow = effect(() => {
    if (window.shown.value.width === 0) return;
    clearTimeout(timer);
    timer = setTimeout(rest, REST_MS);
  });
  // While the window moves the address is behind, and says nothing new.
  const said = computed(() => formatRange(page.place.value.w));
  const lead = effect(() => {
    if (said.value !== formatRange(window.window)) window.showWindow(page.place.peek().w);
  });
  return () => {
    clearTimeout(timer);
    follow();
    lead();
  };
}
