// SPDX-License-Identifier: Apache-2.0
// Keys and pointer of the timeline. w a s d go by their place on the keyboard, others by letter.

import type { Row } from "./layout.ts";
import type { Hit, Screen } from "./screen.ts";

const PAN = 0.15;
const ZOOM = 1.4;
const WHEEL = 240;
const FAST = 5;
/** Less than this many pixels is a click, not an area. */
const LEAST_DRAG = 4;

/** How many times as wide a nanosecond becomes by a wheel that turns by DELTAY. */
export function wheelZoom(deltaY: number): number {
  return 2 ** (-deltaY / WHEEL);
}

export interface Hears {
  hover(hit: Hit | null, x: number, y: number): void;
  select(hit: Hit | null): void;
  open(hit: Hit): void;
  area(area: { from: number; to: number } | null): void;
}

/** Handle a key; whether it was one of ours. */
export function pressKey(screen: Screen, event: KeyboardEvent, pointer: number): boolean {
  const fast = event.shiftKey ? FAST : 1;
  const width = screen.pixels;
  switch (event.code) {
    case "KeyW":
      screen.show(screen.viewport.zoom(pointer, ZOOM ** fast));
      return true;
    case "KeyS":
      screen.show(screen.viewport.zoom(pointer, 1 / ZOOM ** fast));
      return true;
    case "KeyA":
      screen.show(screen.viewport.pan(-width * Math.min(0.9, PAN * fast)));
      return true;
    case "KeyD":
      screen.show(screen.viewport.pan(width * Math.min(0.9, PAN * fast)));
      return true;
  }
  if (event.key === "0") {
    screen.fitAll();
    return true;
  }
  if (event.key === "f" && screen.area !== null) {
    screen.fit(screen.area.from, screen.area.to);
    return true;
  }
  return false;
}

export interface TrackKeys {
  fold(key: string): void;
  pin(key: string): void;
  hide(key: string): void;
}

/** Handle a key about ROW, which is under the pointer; whether it was one. */
export function pressTrackKey(row: Row | undefined, key: string, does: TrackKeys): boolean {
  if (row === undefined) return false;
  if (key === "c") does.fold(row.key);
  else if (key === "p" && row.kind === "track") does.pin(row.key);
  else if (key === "x" && row.kind !== "group") does.hide(row.key);
  else return false;
  return true;
}

/** Listen to the pointer on CANVAS; the result ends it. */
export function listen(screen: Screen, canvas: HTMLCanvasElement, hears: Hears): () => void {
  let drag: { x: number; isPan: boolean; last: number } | null = null;
  const place = (event: MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const wheel = (event: WheelEvent) => {
    const { x } = place(event);
    if (event.ctrlKey || event.metaKey) {
      screen.show(screen.viewport.zoom(x, wheelZoom(event.deltaY)));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      screen.show(screen.viewport.pan(event.deltaX || event.deltaY));
    } else {
      return; // the tracks scroll
    }
    event.preventDefault();
  };
  const down = (event: PointerEvent) => {
    const { x } = place(event);
    drag = { x, isPan: event.button === 1 || event.pointerType === "touch", last: x };
    canvas.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent) => {
    const { x, y } = place(event);
    if (drag === null) {
      hears.hover(screen.hit(x, y), x, y);
      return;
    }
    if (drag.isPan) {
      screen.show(screen.viewport.pan(drag.last - x));
      drag.last = x;
    } else if (Math.abs(x - drag.x) >= LEAST_DRAG) {
      const [left, right] = [Math.min(x, drag.x), Math.max(x, drag.x)];
      screen.area = { from: screen.viewport.time(left), to: screen.viewport.time(right) + 1 };
      screen.draw();
    }
  };
  const up = (event: PointerEvent) => {
    const { x, y } = place(event);
    if (drag !== null && !drag.isPan) {
      if (Math.abs(x - drag.x) >= LEAST_DRAG) hears.area(screen.area);
      else hears.select(screen.hit(x, y));
    }
    drag = null;
  };
  const leave = () => hears.hover(null, 0, 0);
  const twice = (event: MouseEvent) => {
    const { x, y } = place(event);
    const hit = screen.hit(x, y);
    if (hit !== null) hears.open(hit);
  };
  canvas.addEventListener("wheel", wheel, { passive: false });
  canvas.addEventListener("pointerdown", down);
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointerleave", leave);
  canvas.addEventListener("dblclick", twice);
  return () => {
    canvas.removeEventListener("wheel", wheel);
    canvas.removeEventListener("pointerdown", down);
    canvas.removeEventListener("pointermove", move);
    canvas.removeEventListener("pointerup", up);
    canvas.removeEventListener("pointerleave", leave);
    canvas.removeEventListener("dblclick", twice);
  };
}
