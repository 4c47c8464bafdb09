// SPDX-License-Identifier: Apache-2.0
// Keys of the timeline, wherever the pointer and the focus are: as soon as its view is open.

import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { isInField } from "../model/key_list.ts";
import type { Side } from "../state/lock.ts";

/** What takes Enter and Space itself when it has the focus. */
const OWN = "button, a, summary, input, [role=option], [role=button]";

/** Whether EVENT is for the timeline ROOT of SIDE: what is in no timeline is for the run's. */
function isForIt(event: KeyboardEvent, root: Element, side: Side): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || isInField(event.target)) return false;
  const target = event.target instanceof Element ? event.target : null;
  if ((event.key === "Enter" || event.key === " ") && target?.closest(OWN)) return false;
  const around = target?.closest(".tl") ?? null;
  return around === null ? side === "run" : around === root;
}

/** Let PRESS have the keys for the timeline ROOT; those that it takes nobody else hears of. */
export function useKeys(
  root: RefObject<HTMLElement | null>,
  side: Side,
  press: (event: KeyboardEvent) => boolean,
): void {
  const now = useRef(press);
  now.current = press;
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      if (root.current === null || !isForIt(event, root.current, side)) return;
      if (!now.current(event)) return;
      event.preventDefault();
      event.stopPropagation();
    };
    // The keys of the page listen to the window, which hears later.
    document.addEventListener("keydown", hear);
    return () => document.removeEventListener("keydown", hear);
  }, [root, side]);
}
