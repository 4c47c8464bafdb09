// SPDX-License-Identifier: Apache-2.0
// Mouse, pen and fingers on the timeline and on its ruler.
//
//   mouse   drag: an area, in the ruler a range of time; its edges can be dragged, too. Edges
//           are those of events within a few pixels, with Ctrl not. With Space, or the middle
//           button, a drag pans.
//   finger  one pans, two zoom, a tap selects, a long press begins an area

import type { Window } from "../api/api.ts";
import type { Hit } from "./places.ts";
import { edgeNear } from "./snap.ts";
import { wheelZoom } from "./timeline_keys.ts";
import type { TimelineState } from "./timeline_state.ts";

/** Less than this many pixels is a click, not an area; of a finger, a tap. */
const LEAST_DRAG = 4;
const LEAST_SWIPE = 8;
/** An edge of the area is held from so many pixels away. */
const HOLD = 4;
const LONG_PRESS_MS = 500;

export interface Hears {
  hover(hit: Hit | null, x: number, y: number): void;
  select(hit: Hit | null): void;
  open(hit: Hit | null): void;
  /** AREA was dragged from pixel TOP to BOTTOM; without these it is of all tracks. */
  area(area: Window | null, rows?: { top: number; bottom: number }): void;
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** What is dragged: FIXED is the end that stays, by its time. */
interface Area {
  readonly kind: "area";
  readonly fixed: number;
  readonly isHeld: boolean;
  readonly at: Place;
}

type Gesture =
  | Area
  | { readonly kind: "pan"; readonly at: Place; last: Place; hasMoved: boolean }
  | { readonly kind: "pinch"; middle: Place; distance: number };

/** The time of pixel X, or of the edge of an event of the track at Y; Y null: of any in sight. */
function timeAt(state: TimelineState, x: number, y: number | null, isFree: boolean): number {
  const { cells } = state.fetcher;
  const { viewport } = state.window;
  const row = y === null ? undefined : state.rowAt(y);
  const track = row?.kind === "track" ? row.track.id : null;
  const edge = isFree || cells === null ? null : edgeNear(cells, viewport, x, track);
  return edge ?? viewport.time(x);
}

/** The end of the area that stays if its edge at pixel X is dragged; null: there is none. */
function otherEnd(state: TimelineState, x: number): number | null {
  const area = state.area.peek();
  const { viewport } = state.window;
  if (area === null) return null;
  if (Math.abs(viewport.x(area.from) - x) <= HOLD) return area.to;
  return Math.abs(viewport.x(area.to) - x) <= HOLD ? area.from : null;
}

class Pointer {
  private readonly state: TimelineState;
  private readonly surface: HTMLElement;
  private readonly hears: Hears;
  private readonly isRuler: boolean;
  private readonly fingers = new Map<number, Place>();
  private gesture: Gesture | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private spaceIsDown = false;
  private isOver = false;
  /** What was clicked last, and where on the page. */
  private clicked: { readonly hit: Hit | null; readonly x: number; readonly y: number } | null =
    null;
  private isAgain = false;

  constructor(state: TimelineState, surface: HTMLElement, hears: Hears, isRuler: boolean) {
    this.state = state;
    this.surface = surface;
    this.hears = hears;
    this.isRuler = isRuler;
  }

  private place(event: MouseEvent): Place {
    const box = this.surface.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private begin(at: Place, isFree: boolean): void {
    const held = otherEnd(this.state, at.x);
    const fixed = held ?? timeAt(this.state, at.x, this.isRuler ? null : at.y, isFree);
    this.gesture = { kind: "area", fixed, isHeld: held !== null, at };
  }

  private drag(gesture: Area, { x, y }: Place, isFree: boolean): void {
    if (!gesture.isHeld && Math.abs(x - gesture.at.x) < LEAST_DRAG) return;
    const end = timeAt(this.state, x, this.isRuler ? null : y, isFree);
    const from = Math.min(gesture.fixed, end);
    this.state.area.value = { from, to: Math.max(gesture.fixed, end, from + 1) };
  }

  private pan(gesture: Extract<Gesture, { kind: "pan" }>, at: Place, isFinger: boolean): void {
    const away = Math.hypot(at.x - gesture.at.x, at.y - gesture.at.y);
    if (isFinger && !gesture.hasMoved && away < LEAST_SWIPE) return;
    clearTimeout(this.timer);
    gesture.hasMoved = true;
    this.state.window.pan(gesture.last.x - at.x);
    // The canvas stays in sight: what a finger drags is the list of tracks.
    const body = this.surface.closest(".tl-body");
    if (body !== null) body.scrollTop += gesture.last.y - at.y;
    gesture.last = at;
  }

  private pinch(gesture: Extract<Gesture, { kind: "pinch" }>): void {
    const now = this.twoFingers();
    if (now === null) return;
    const { window } = this.state;
    const panned = window.viewport.pan(gesture.middle.x - now.middle.x);
    window.show(panned.zoom(now.middle.x, now.distance / gesture.distance));
    Object.assign(gesture, now);
  }

  private twoFingers(): { middle: Place; distance: number } | null {
    const [a, b] = [...this.fingers.values()];
    if (a === undefined || b === undefined) return null;
    const middle = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    return { middle, distance: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)) };
  }

  private touch(at: Place): void {
    clearTimeout(this.timer);
    const two = this.twoFingers();
    if (two !== null) {
      this.gesture = { kind: "pinch", ...two };
      return;
    }
    this.gesture = { kind: "pan", at, last: at, hasMoved: false };
    this.timer = setTimeout(() => this.begin(at, false), LONG_PRESS_MS);
  }

  readonly pointerdown = (event: PointerEvent): void => {
    if (event.button === 2) return; // the menu
    const at = this.place(event);
    this.isAgain = false;
    this.surface.setPointerCapture(event.pointerId);
    this.hears.hover(null, at.x, at.y);
    if (event.pointerType === "touch") {
      this.fingers.set(event.pointerId, at);
      this.touch(at);
    } else if (event.button === 1 || this.spaceIsDown) {
      this.gesture = { kind: "pan", at, last: at, hasMoved: false };
    } else this.begin(at, event.ctrlKey || event.metaKey);
  };

  readonly pointermove = (event: PointerEvent): void => {
    const at = this.place(event);
    const isFinger = event.pointerType === "touch";
    this.isOver = !isFinger;
    if (this.fingers.has(event.pointerId)) this.fingers.set(event.pointerId, at);
    const { gesture } = this;
    if (gesture?.kind === "pinch") this.pinch(gesture);
    else if (gesture?.kind === "pan") this.pan(gesture, at, isFinger);
    else if (gesture?.kind === "area") this.drag(gesture, at, event.ctrlKey || event.metaKey);
    else if (!isFinger) {
      this.surface.classList.toggle("at-edge", otherEnd(this.state, at.x) !== null);
      this.hears.hover(this.isRuler ? null : this.state.hit(at.x, at.y), at.x, at.y);
    }
  };

  readonly pointerup = (event: PointerEvent): void => {
    clearTimeout(this.timer);
    const at = this.place(event);
    const { gesture } = this;
    this.fingers.delete(event.pointerId);
    this.gesture = null;
    if (gesture?.kind === "area") this.commit(gesture, at, event);
    else if (gesture?.kind === "pan" && event.pointerType === "touch" && !gesture.hasMoved)
      this.select(at, event);
    else if (gesture?.kind === "pinch") {
      const [left] = [...this.fingers.values()];
      if (left) this.gesture = { kind: "pan", at: left, last: left, hasMoved: true };
    }
  };

  private select(at: Place, event: MouseEvent): void {
    if (this.isRuler || this.isAgain) return;
    const hit = this.state.hit(at.x, at.y);
    this.clicked = { hit, x: event.clientX, y: event.clientY };
    this.hears.select(hit);
  }

  private commit(gesture: Area, at: Place, event: MouseEvent): void {
    if (Math.abs(at.x - gesture.at.x) < LEAST_DRAG) {
      this.select(at, event);
      return;
    }
    const top = Math.min(gesture.at.y, at.y);
    const bottom = Math.max(gesture.at.y, at.y);
    const area = this.state.area.peek();
    if (this.isRuler || gesture.isHeld) this.hears.area(area);
    else this.hears.area(area, { top, bottom });
  }

  readonly pointercancel = (event: PointerEvent): void => {
    clearTimeout(this.timer);
    this.fingers.delete(event.pointerId);
    this.gesture = null;
  };

  readonly pointerleave = (): void => {
    this.isOver = false;
    this.hears.hover(null, 0, 0);
  };

  readonly dblclick = (): void => {
    if (this.isRuler) this.hears.open(null);
  };

  /** The second click is about what the first one hit: what is said of that may have taken part of
   * the width meanwhile, and something else is there, or not even the timeline. */
  readonly again = (event: MouseEvent): void => {
    if (event.type === "mousedown" && event.detail < 2) this.clicked = null; // a click of its own
    const { clicked } = this;
    if (clicked === null || event.detail < 2) return;
    if (Math.hypot(event.clientX - clicked.x, event.clientY - clicked.y) > LEAST_DRAG) return;
    this.isAgain = true;
    event.preventDefault();
    event.stopPropagation();
    if (event.type !== "dblclick") return;
    this.clicked = null;
    this.hears.open(clicked.hit);
  };

  /** The middle button of a mouse would scroll the page. */
  readonly mousedown = (event: MouseEvent): void => {
    if (event.button === 1) event.preventDefault();
  };

  readonly wheel = (event: WheelEvent): void => {
    const { x } = this.place(event);
    const { window } = this.state;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      window.pan(event.deltaX || event.deltaY);
    else if (this.isRuler || event.ctrlKey || event.metaKey)
      window.zoom(x, wheelZoom(event.deltaY));
    else return; // the tracks scroll
    event.preventDefault();
  };

  /** Space, pressed while the pointer is here. */
  readonly key = (event: KeyboardEvent): void => {
    if (event.code !== "Space") return;
    const isDown = event.type === "keydown" && (this.isOver || this.spaceIsDown);
    const isField =
      event.target instanceof Element && event.target.closest("input, select") !== null;
    if (isField) return;
    if (isDown) event.preventDefault();
    this.spaceIsDown = isDown;
    this.surface.classList.toggle("can-pan", isDown);
  };

  close(): void {
    clearTimeout(this.timer);
  }
}

const EVENTS = [
  "pointerdown",
  "pointermove",
  "pointerup",
  "pointercancel",
  "pointerleave",
  "dblclick",
  "mousedown",
] as const;
const AGAIN = ["mousedown", "click", "dblclick"] as const;

/** Listen to the pointer on SURFACE, the canvas or the ruler; the result ends it. */
export function listen(
  state: TimelineState,
  surface: HTMLElement,
  hears: Hears,
  isRuler = false,
): () => void {
  const pointer = new Pointer(state, surface, hears, isRuler);
  for (const name of EVENTS) surface.addEventListener(name, pointer[name] as EventListener);
  surface.addEventListener("wheel", pointer.wheel, { passive: false });
  for (const name of AGAIN) window.addEventListener(name, pointer.again, true);
  window.addEventListener("keydown", pointer.key, true);
  window.addEventListener("keyup", pointer.key);
  return () => {
    pointer.close();
    for (const name of EVENTS) surface.removeEventListener(name, pointer[name] as EventListener);
    surface.removeEventListener("wheel", pointer.wheel);
    for (const name of AGAIN) window.removeEventListener(name, pointer.again, true);
    window.removeEventListener("keydown", pointer.key, true);
    window.removeEventListener("keyup", pointer.key);
  };
}
