// SPDX-License-Identifier: Apache-2.0
// A flame graph, to be pointed at and to be gone through with keys.

import type { TargetedPointerEvent } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FlameStacks } from "../api/api.ts";
import { watchSize } from "../model/device_pixels.ts";
import { takeKey } from "../model/key_list.ts";
import { usePage } from "../state/session.ts";
import { FlameCanvas, LANE } from "./canvas.ts";
import { FLAME_KEYS, type FlameCursor } from "./flame_keys.ts";
import { type FlameOrder, frameBeside, isSmall, layOutFlame, nameOf, pathOf } from "./tree.ts";

interface FlameChartProps {
  readonly stacks: FlameStacks;
  readonly stack: string;
  readonly order: FlameOrder;
  readonly label: string;
  readonly value: (value: number) => string;
  readonly share: (value: number) => string;
  /** A frame was chosen, or opened by a double click or Enter: PATH leads to it. */
  readonly onSelect?: (path: readonly string[]) => void;
  readonly onOpen?: (path: readonly string[]) => void;
  readonly onLeave?: () => void;
}

function useCanvas(props: FlameChartProps, selected: number) {
  const page = usePage();
  const base = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const [canvas, setCanvas] = useState<FlameCanvas | null>(null);
  const tree = useMemo(() => layOutFlame(props.stacks, props.order), [props.stacks, props.order]);
  useEffect(() => {
    const made = new FlameCanvas(base.current!, overlay.current!);
    const element = body.current!;
    const unwatch = watchSize(element, (ratio) =>
      made.resize(element.clientWidth, element.clientHeight, ratio),
    );
    setCanvas(made);
    return () => {
      unwatch();
      made.close();
    };
  }, []);
  useEffect(() => canvas?.show(tree, props.stack), [canvas, tree, props.stack]);
  useEffect(() => canvas?.dress({ value: props.value, selected }), [canvas, selected, props.value]);
  useEffect(() => canvas?.recolour(), [canvas, page.theme.value]);
  return { base, overlay, body, canvas, tree };
}

export function FlameChart(props: FlameChartProps) {
  const [selected, setSelected] = useState(-1);
  const [hover, setHover] = useState<{ frame: number; x: number; y: number } | null>(null);
  const { base, overlay, body, canvas, tree } = useCanvas(props, selected);
  useEffect(() => {
    setSelected(-1);
    setHover(null);
  }, [tree]);
  const say = (frame: number) =>
    `${nameOf(tree, frame)}: ${props.value(tree.stacks.total_of[frame]!)}, ` +
    `${props.share(tree.stacks.total_of[frame]!)}; ` +
    `by itself ${props.value(tree.stacks.self[frame]!)}`;
  const choose = (frame: number) => {
    setSelected(frame);
    if (frame < 0 || isSmall(tree, frame)) return;
    props.onSelect?.(pathOf(tree, frame));
    const y = tree.depth[frame]! * LANE;
    const element = body.current!;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + LANE > element.scrollTop + element.clientHeight)
      element.scrollTop = y + LANE - element.clientHeight;
  };
  const cursor: FlameCursor = {
    go: (key) => choose(frameBeside(tree, selected, key)),
    open: () => {
      if (selected < 0 || isSmall(tree, selected)) return false;
      props.onOpen?.(pathOf(tree, selected));
      return true;
    },
    leave: () => props.onLeave?.(),
  };
  const frameOf = (event: TargetedPointerEvent<HTMLCanvasElement> | MouseEvent) => {
    const box = overlay.current!.getBoundingClientRect();
    return canvas?.at(event.clientX - box.left, event.clientY - box.top) ?? -1;
  };
  return (
    <div
      ref={body}
      class="flame"
      style={{ maxHeight: `${tree.lanes.length * LANE + 2}px` }}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: an application takes the keys
      tabIndex={0}
      role="application"
      aria-label={props.label}
      onKeyDown={(event) => takeKey(FLAME_KEYS, cursor, event)}
      onScroll={(event) => canvas?.scroll(event.currentTarget.scrollTop)}
    >
      <div class="flame-canvases">
        <canvas ref={base} />
        <canvas
          ref={overlay}
          onPointerMove={(event) => {
            const frame = frameOf(event);
            setHover(frame < 0 ? null : { frame, x: event.offsetX, y: event.offsetY });
          }}
          onPointerLeave={() => setHover(null)}
          onClick={(event) => choose(frameOf(event))}
          onDblClick={(event) => {
            const frame = frameOf(event);
            if (frame >= 0 && !isSmall(tree, frame)) props.onOpen?.(pathOf(tree, frame));
          }}
        />
        {hover !== null && hover.frame < tree.depth.length && (
          <div
            class="tl-popover"
            style={{ left: `${Math.max(0, hover.x - 160)}px`, top: `${hover.y + 16}px` }}
          >
            {say(hover.frame)}
          </div>
        )}
      </div>
      <div style={{ height: `${tree.lanes.length * LANE}px` }} />
      <output class="unseen">
        {selected >= 0 && selected < tree.depth.length && say(selected)}
      </output>
    </div>
  );
}
