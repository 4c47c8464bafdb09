// SPDX-License-Identifier: Apache-2.0
// Bars of which a click takes one and a drag several; with keys, arrows go, Shift extends, Enter
// takes.

import type { TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useState } from "preact/hooks";
import { takeKey } from "../model/key_list.ts";
import { fullHeight, type StripBar } from "../model/strip.ts";
import { STRIP_KEYS, type StripCursor } from "./strip_keys.ts";

const HEIGHT = 36;
const MARK = 3;

interface Props {
  readonly label: string;
  readonly bars: readonly StripBar[];
  readonly selected: readonly boolean[];
  /** From the bar FIRST to the bar LAST, both included. */
  onTake(first: number, last: number): void;
}

/** From ANCHOR to AT, whichever comes first. */
interface Reach {
  readonly anchor: number;
  readonly at: number;
}

function Bar({ bar, i, largest, isOn }: BarProps) {
  const scale = (HEIGHT - 2 * MARK) / Math.max(largest, bar.height);
  const isCut = bar.height > largest;
  let y = HEIGHT;
  return (
    <g
      id={`strip-bar-${i}`}
      class={isOn ? "step selected" : "step"}
      role="option"
      aria-selected={isOn}
      aria-label={bar.title}
      transform={`translate(${i} 0)`}
    >
      <title>{bar.title}</title>
      <rect class="target" width="1" height={HEIGHT} vector-effect="non-scaling-stroke" />
      {bar.parts
        .filter((part) => part.size > 0)
        .map((part) => {
          const height = part.size * scale;
          y -= height;
          return (
            <rect
              key={part.fill}
              class={`fill-${part.fill}`}
              x="0.1"
              width="0.8"
              y={y}
              height={height}
            />
          );
        })}
      {isCut && <rect class="cut" x="0.1" width="0.8" y={2 * MARK + 2} height="2" />}
      {bar.isMarked && <rect class="fill-mark" x="0.1" width="0.8" height={MARK} />}
    </g>
  );
}

interface BarProps {
  readonly bar: StripBar;
  readonly i: number;
  readonly largest: number;
  readonly isOn: boolean;
}

function useReach({ bars, onTake }: Props) {
  const [reach, setReach] = useState<Reach | null>(null);
  const [isDragged, setDragged] = useState(false);
  const take = (r: Reach) => onTake(Math.min(r.anchor, r.at), Math.max(r.anchor, r.at));
  const barAt = (event: TargetedPointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const i = Math.floor(((event.clientX - box.left) / box.width) * bars.length);
    return Math.min(bars.length - 1, Math.max(0, i));
  };
  const cursor: StripCursor = {
    at: reach?.at ?? -1,
    n: bars.length,
    go: (at, isExtending) =>
      setReach({ anchor: isExtending && reach !== null ? reach.anchor : at, at }),
    take: () => {
      if (reach !== null) take(reach);
      return reach !== null;
    },
  };
  return {
    reach,
    onPointerDown: (event: TargetedPointerEvent<HTMLDivElement>) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      const at = barAt(event);
      setReach({ anchor: event.shiftKey && reach !== null ? reach.anchor : at, at });
      setDragged(true);
    },
    onPointerMove: (event: TargetedPointerEvent<HTMLDivElement>) => {
      if (isDragged && reach !== null) setReach({ anchor: reach.anchor, at: barAt(event) });
    },
    onPointerUp: (event: TargetedPointerEvent<HTMLDivElement>) => {
      if (isDragged && reach !== null) take({ anchor: reach.anchor, at: barAt(event) });
      setDragged(false);
    },
    onPointerCancel: () => setDragged(false),
    onKeyDown: (event: TargetedKeyboardEvent<HTMLDivElement>) => takeKey(STRIP_KEYS, cursor, event),
    onBlur: () => setReach(null),
  };
}

function isReached(reach: Reach | null, i: number): boolean {
  if (reach === null) return false;
  return i >= Math.min(reach.anchor, reach.at) && i <= Math.max(reach.anchor, reach.at);
}

export function StripBars(props: Props) {
  const { bars, selected, label } = props;
  const { reach, ...hears } = useReach(props);
  const largest = fullHeight(bars);
  return (
    <div
      class="step-bars"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-multiselectable="true"
      aria-activedescendant={reach === null ? undefined : `strip-bar-${reach.at}`}
      {...hears}
    >
      <svg viewBox={`0 0 ${bars.length} ${HEIGHT}`} preserveAspectRatio="none" role="presentation">
        {bars.map((bar, i) => (
          <Bar
            key={`${bar.first}-${i}`}
            bar={bar}
            i={i}
            largest={largest}
            isOn={selected[i] === true || isReached(reach, i)}
          />
        ))}
      </svg>
    </div>
  );
}
