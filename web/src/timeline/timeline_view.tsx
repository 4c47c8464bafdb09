// SPDX-License-Identifier: Apache-2.0
// The timeline: titles on the left, two canvases on the right, the ruler above.

import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { runKey } from "../model/key_list.ts";
import { Viewport } from "../model/viewport.ts";
import type { Note } from "../state/notes.ts";
import { usePage } from "../state/session.ts";
import { Corner } from "./corner.tsx";
import { Heads } from "./heads.tsx";
import { Menu } from "./menu.tsx";
import { Minimap } from "./minimap.tsx";
import { Flags, NoteLines, useNotes } from "./notes.tsx";
import { Popover } from "./popover.tsx";
import { firstWindow } from "./spans.ts";
import { TIMELINE_KEYS, wheelZoom } from "./timeline_keys.ts";
import type { TimelineState } from "./timeline_state.ts";
import { useDeeds } from "./use_deeds.ts";
import { thin } from "./use_hits.ts";
import { useKeys } from "./use_keys.ts";
import { useLayout } from "./use_layout.ts";
import { useMenu } from "./use_menu.ts";
import { usePointer } from "./use_pointer.ts";
import { useRuler } from "./use_ruler.ts";
import { type TimelineViewProps, useScreen, useShown } from "./use_screen.ts";
import { useScrolled } from "./use_scrolled.ts";
import { useUncovered } from "./use_uncovered.ts";

/** The ends of arrows of the selection that are not in sight. */
function Tags({ state, onSelect }: { state: TimelineState; onSelect: (event: number) => void }) {
  return (
    <>
      {state.tags.value.map((tag) => (
        <button
          key={tag.event}
          type="button"
          class="tl-tag"
          style={{ left: `${tag.x}px`, top: `${tag.y}px` }}
          onClick={() => onSelect(tag.event)}
        >
          {tag.text}
        </button>
      ))}
    </>
  );
}

interface TopProps extends TimelineViewProps {
  readonly state: TimelineState | null;
  readonly ruler: RefObject<HTMLCanvasElement | null>;
  readonly notes: readonly Note[];
}

/** The minimap, the flags of notes, the filter of tracks and the ruler. */
function Top({ timeline, side, hits, state, ruler, notes }: TopProps) {
  const { span } = usePage().place.value;
  const whole = firstWindow(timeline, span);
  const width = state?.width.value ?? 0;
  const apart = (whole.to - whole.from) / Math.max(1, width);
  const marks = useMemo(() => thin(hits, apart), [hits, apart]);
  useEffect(() => {
    if (state !== null) state.hits.value = marks.at;
  }, [state, marks]);
  const window = state?.window;
  return (
    <>
      {side === "run" && window && (
        <>
          <Minimap
            whole={whole}
            shown={window.shown}
            notes={notes}
            hits={marks}
            onShow={({ from, to }) => window.show(Viewport.fit(from, to, window.width))}
            onZoom={(x, deltaY) => window.zoom(x, wheelZoom(deltaY))}
          />
          <Flags notes={notes} shown={window.shown} />
        </>
      )}
      <div class="tl-top">
        <Corner hasDate={timeline.base_ns !== null} />
        <canvas ref={ruler} class="tl-ruler" />
      </div>
    </>
  );
}

export function TimelineView(props: TimelineViewProps) {
  const { timeline, onSelect, selected, side } = props;
  const { base, overlay, ruler, body, state } = useScreen(props);
  const { notes, changeNotes, addNote, fresh } = useNotes();
  const root = useRef<HTMLDivElement>(null);
  const { layout, pinned, change } = useLayout(timeline, side);
  useShown(state, props, layout);
  useRuler(state, timeline, side === "run");
  useScrolled(body, layout.rows, props.track, side === "base");
  useUncovered(body, { run: props.run, timeline, layout }, selected, props.track);
  const { hover, pointer } = usePointer(state, { canvas: overlay, ruler, layout }, onSelect);
  const { menu, open, close } = useMenu(state, overlay, pointer, {
    change,
    rows: layout.rows,
    note: addNote,
  });
  const [scroll, setScroll] = useState({ top: 0, height: 600 });
  const deeds = useDeeds({ ...props, layout }, state, onSelect);
  useKeys(root, side, (event) => {
    if (state === null) return false;
    // Where the pointer never was, the middle is meant, and no track.
    const at = pointer.current;
    const x = at?.x ?? state.window.width / 2;
    const note = () => {
      const time = state.window.viewport.time(x);
      const { from, to } = selected ?? state.area.peek() ?? { from: time, to: time };
      addNote({ from, to, event: selected?.event ?? null });
    };
    const row = at === null ? undefined : state.rowAt(at.y);
    return runKey(TIMELINE_KEYS, { state, deeds, x, row, change, note }, event);
  });
  return (
    <div
      class="tl"
      ref={root}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: an application takes the keys
      tabIndex={0}
      role="application"
      aria-label="Timeline"
      onContextMenu={open}
    >
      {menu !== null && <Menu items={menu.items} at={menu} onClose={close} />}
      <Top {...props} state={state} ruler={ruler} notes={notes} />
      <div
        ref={body}
        class="tl-body"
        onScroll={(event) => {
          const { scrollTop, clientHeight } = event.currentTarget;
          setScroll({ top: scrollTop, height: clientHeight });
          if (state !== null) state.top.value = scrollTop;
        }}
      >
        <div class="tl-content" style={{ height: `${layout.height}px` }}>
          <div class="tl-canvases">
            {/* Not shown while it is empty: the screen shows it. */}
            <canvas ref={base} style={{ visibility: "hidden" }} />
            <canvas ref={overlay} />
            {state !== null && <Tags state={state} onSelect={onSelect} />}
            {hover !== null && state !== null && (
              <Popover run={props.run} hit={hover.hit} at={hover} fetcher={state.fetcher} />
            )}
          </div>
          <Heads layout={layout} {...scroll} pinned={pinned} change={change} />
        </div>
      </div>
      {side === "run" && (
        <NoteLines
          notes={notes}
          fresh={fresh}
          onChange={changeNotes}
          onShow={(note) => {
            state?.window.reveal(note.at, note.at + Math.max(1, note.dur));
            if (note.event !== null) onSelect(note.event);
          }}
        />
      )}
    </div>
  );
}
