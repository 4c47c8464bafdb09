// SPDX-License-Identifier: Apache-2.0
// The menu of a place in the timeline, by the right button or the menu key.

import { useLayoutEffect, useRef } from "preact/hooks";

export interface MenuItem {
  readonly text: string;
  /** The key that does the same; "": none. */
  readonly key: string;
  readonly run: () => void;
}

interface MenuProps {
  readonly items: readonly MenuItem[];
  readonly at: { readonly x: number; readonly y: number };
  onClose(): void;
}

/** The item to which KEY goes from item I of N; null: it is another key. */
export function nextItem(key: string, i: number, n: number): number | null {
  if (key === "ArrowDown") return (i + 1) % n;
  if (key === "ArrowUp") return (i + n - 1) % n;
  if (key === "Home") return 0;
  return key === "End" ? n - 1 : null;
}

export function Menu({ items, at, onClose }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  const buttons = () => [...(menu.current?.querySelectorAll("button") ?? [])];
  useLayoutEffect(() => {
    const before = document.activeElement;
    buttons()[0]?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus({ preventScroll: true });
    };
  }, []);
  const press = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key === "Escape" || event.key === "Tab") {
      event.preventDefault();
      onClose();
      return;
    }
    const all = buttons();
    const now = all.indexOf(document.activeElement as HTMLButtonElement);
    const next = nextItem(event.key, now, all.length);
    if (next === null) return;
    event.preventDefault();
    all[next]?.focus();
  };
  return (
    <div
      ref={menu}
      class="tl-menu"
      role="menu"
      tabIndex={-1}
      aria-label="What to do here"
      style={{ left: `${at.x}px`, top: `${at.y}px` }}
      onKeyDown={press}
      onBlur={(event) => {
        if (!menu.current?.contains(event.relatedTarget as Node | null)) onClose();
      }}
    >
      {items.map(({ text, key, run }) => (
        <button
          key={text}
          type="button"
          role="menuitem"
          class="plain"
          tabIndex={-1}
          onClick={() => {
            onClose();
            run();
          }}
        >
          <span>{text}</span>
          <kbd>{key}</kbd>
        </button>
      ))}
    </div>
  );
}
