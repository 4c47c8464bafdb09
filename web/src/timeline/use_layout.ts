// SPDX-License-Identifier: Apache-2.0
// Which rows a timeline has: what is folded, pinned and hidden is in the address.

import { useMemo, useState } from "preact/hooks";
import type { Timeline } from "../api/api.ts";
import { usePage } from "../state/session.ts";
import { layOut } from "./layout.ts";

function words(text: string): Set<string> {
  return new Set(text === "" ? [] : text.split(","));
}

function toggled(text: string, key: string): string {
  const set = words(text);
  if (!set.delete(key)) set.add(key);
  return [...set].join(",");
}

export function useLayout(timeline: Timeline) {
  const page = usePage();
  const { fold, hide, pin, only } = page.place.value;
  const [opened, setOpened] = useState("");
  const layout = useMemo(
    () =>
      layOut(timeline, {
        folded: words(fold),
        hidden: words(hide),
        opened: words(opened),
        pinned: words(pin),
        filter: only,
      }),
    [timeline, fold, hide, pin, only, opened],
  );
  return {
    layout,
    pinned: words(pin),
    change: {
      fold: (key: string) => page.go({ fold: toggled(fold, key) }, "replace"),
      pin: (key: string) => page.go({ pin: toggled(pin, key) }, "replace"),
      hide: (key: string) => page.go({ hide: toggled(hide, key) }, "replace"),
      open: (key: string) => setOpened(toggled(opened, key)),
    },
  };
}
