// SPDX-License-Identifier: Apache-2.0
// The timeline: titles on the left, two canvases on the right, the ruler above.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Note } from "../state/notes.ts";
import { usePage } from "../state/session.ts";
import type { Tag } from "./arrows.ts";
import { Corner } from "./corner.tsx";
import { pressEventKey } from "./event_keys.ts";
import { Heads } from "./heads.tsx";
import { NOTE_KEY, pressKey, pressTrackKey, wheelZoom } from "./input.ts";
import { Menu } from "./menu.tsx";
import { Minimap } from "./minimap.tsx";
import { Flags, NoteLines, useNotes } from "./notes.tsx";
import { Popover } from "./popover.tsx";
import type { Screen } from "./screen.ts";
import { firstWindow } from "./spans.ts";
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
import { Viewport } from "./viewport.ts";

/** The ends of arrows of the selection that are not in sight. */
function useTags(screen: Screen | null): readonly Tag[] {
  const [tags, setTags] = useState<readonly Tag[]>([]);
  useEffect(() => {
    if (screen !== null) screen.tagged = setTags;
    return () => setTags([]);
  }, [screen]);
  return tags;
}

interface TopProps extends TimelineViewProps {
  readonly screen: Screen | null;
  readonly made: ReturnType<typeof useScreen>;
  readonly notes: readonly Note[];
}

/** The minimap, the flags of notes, the filter of tracks and the ruler. */
function Top({ timeline, side, hits, screen, made, notes }: TopProps) {
  const { span } = usePage().place.value;
  const whole = firstWindow(timeline, span);
  const apart = (whole.to - whole.from) / Math.max(1, screen?.pixels ?? 0);
  const marks = useMemo(() => thin(hits, apart), [hits, apart]);
  useEffect(() => screen?.markHits(marks.at), [screen, marks]);
  const { viewport, ruler } = made;
  return (
    <>
      {side === "run" && screen !== null && (
        <Minimap
          whole={whole}
          viewport={viewport}
          widthOf={() => screen.pixels}
          notes={notes}
          hits={marks}
          onShow={({ from, to }) => screen.show(Viewport.fit(from, to, screen.pixels))}
          onZoom={(x, deltaY) => screen.show(screen.viewport.zoom(x, wheelZoom(deltaY)))}
        />
      )}
      {side === "run" && (
        <Flags notes={notes} viewport={viewport} widthOf={() => screen?.pixels ?? 0} />
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
  const made = useScreen(props);
  const tags = useTags(made.screen);
  const { base, overlay, ruler, body, screen } = made;
  const { notes, changeNotes, addNote, fresh } = useNotes();
  const root = useRef<HTMLDivElement>(null);
  const { layout, pinned, change } = useLayout(timeline, side);
  useShown(screen, props, layout);
  useRuler(screen, timeline, side === "run");
  useScrolled(body, layout.rows, props.track, side === "base");
  useUncovered(body, { run: props.run, timeline, layout }, selected, props.track);
  const { hover, pointer } = usePointer(screen, { canvas: overlay, ruler, layout }, onSelect);
  const { menu, open, close } = useMenu(screen, overlay, pointer, {
    change,
    rows: layout.rows,
    note: addNote,
  });
  const [scroll, setScroll] = useState({ top: 0, height: 600 });
  const deeds = useDeeds({ ...props, layout }, screen, onSelect);
  useKeys(root, side, (event) => {
    if (screen === null) return false;
    // Where the pointer never was, the middle is meant, and no track.
    const at = pointer.current;
    const x = at?.x ?? screen.pixels / 2;
    if (event.key === NOTE_KEY.key) {
      const time = screen.viewport.time(x);
      const { from, to } = selected ?? screen.area ?? { from: time, to: time };
      addNote({ from, to, event: selected?.event ?? null });
      return true;
    }
    return (
      pressKey(screen, event, x) ||
      pressEventKey(screen, event, deeds) ||
      pressTrackKey(at === null ? undefined : screen.rowAt(at.y), event.key, change)
    );
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
      <Top {...props} screen={screen} made={made} notes={notes} />
      <div
        ref={body}
        class="tl-body"
        onScroll={(event) => {
          const { scrollTop, clientHeight } = event.currentTarget;
          setScroll({ top: scrollTop, height: clientHeight });
          screen?.scroll(scrollTop);
        }}
      >
        <div class="tl-content" style={{ height: `${layout.height}px` }}>
          <div class="tl-canvases">
            {/* Not shown while it is empty: the screen shows it. */}
            <canvas ref={base} style={{ visibility: "hidden" }} />
            <canvas ref={overlay} />
            {tags.map((tag) => (
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
            {hover !== null && screen !== null && (
              <Popover run={props.run} hit={hover.hit} at={hover} fetcher={screen.fetcher} />
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
            screen?.reveal(note.at, note.at + Math.max(1, note.dur));
            if (note.event !== null) onSelect(note.event);
          }}
        />
      )}
    </div>
  );
}
