// SPDX-License-Identifier: Apache-2.0
// The titles of the rows: a tree, of which only what is in sight is in the page.

import { LANE_HEIGHT, LANES_SHOWN, type Layout, type Row, type TrackRow } from "./layout.ts";

interface HeadsProps {
  readonly layout: Layout;
  readonly top: number;
  readonly height: number;
  readonly pinned: ReadonlySet<string>;
  /** Each takes the key of a row. */
  readonly change: Readonly<Record<"fold" | "unpack" | "pin" | "hide", (key: string) => void>> & {
    move(key: string, above: string): void;
    showFrames(): void;
    crop(key: string, lanes: number | null): void;
  };
}

type HeadProps = { row: Row } & Pick<HeadsProps, "pinned" | "change">;

/** What can be done with a track; also by the keys p and x over it. */
function Tools({ row, pinned, change }: HeadProps) {
  if (row.kind === "group") return null;
  const isPinned = pinned.has(row.key);
  return (
    <span class="tl-tools">
      {row.kind === "track" && (
        <button
          type="button"
          class="plain"
          aria-pressed={isPinned}
          aria-label={`Pin ${row.title}`}
          title={isPinned ? "take from the top (p)" : "pin to the top (p)"}
          onClick={() => change.pin(row.key)}
        >
          {isPinned ? "↧" : "↥"}
        </button>
      )}
      <button
        type="button"
        class="plain"
        aria-label={`Hide ${row.title}`}
        title="hide (x)"
        onClick={() => change.hide(row.key)}
      >
        ×
      </button>
    </span>
  );
}

const DRAGGED = "text/x-opscope-track";

/** What lets the track KEY be dragged above another one, and others above it. */
function moves(key: string, move: (key: string, above: string) => void) {
  return {
    draggable: true,
    onDragStart: (event: DragEvent) => event.dataTransfer?.setData(DRAGGED, key),
    onDragOver: (event: DragEvent) => {
      if (event.dataTransfer?.types.includes(DRAGGED)) event.preventDefault();
    },
    onDrop: (event: DragEvent) => {
      const dragged = event.dataTransfer?.getData(DRAGGED) ?? "";
      event.preventDefault();
      if (dragged !== "") move(dragged, key);
    },
  };
}

function mark(row: Row): string {
  if (row.kind === "series") return "";
  if (row.kind === "track" && row.track.lanes <= 1) return "";
  return row.isFolded ? "▸ " : "▾ ";
}

/** The lower edge of a track: a drag, or ↑ and ↓, let it show fewer lanes or more. */
function Crop({ row, change }: { row: TrackRow; change: HeadsProps["change"] }) {
  const set = (lanes: number) =>
    change.crop(row.key, Math.max(1, Math.min(row.track.lanes, Math.round(lanes))));
  return (
    <div
      class="tl-crop"
      role="separator"
      tabIndex={0}
      aria-orientation="horizontal"
      aria-label={`Levels of ${row.title}`}
      aria-valuemin={1}
      aria-valuemax={row.track.lanes}
      aria-valuenow={row.lanes}
      title="drag: fewer levels, or more; double click: as many as any"
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.focus();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
        const top = event.currentTarget.closest(".tl-head")!.getBoundingClientRect().top;
        set((event.clientY - top) / LANE_HEIGHT);
      }}
      onDblClick={() => change.crop(row.key, null)}
      onKeyDown={(event) => {
        const delta = { ArrowUp: -1, ArrowDown: 1 }[event.key];
        if (delta === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        set(row.lanes + delta);
      }}
    />
  );
}

/** What a title offers beside folding: levels that are not shown, queues that are packed. */
function More({ row, change }: HeadProps) {
  if (row.kind === "group")
    return row.sparse === 0 ? null : (
      <button type="button" class="plain muted" onClick={() => change.unpack(row.key)}>
        pack {row.sparse} queues
      </button>
    );
  if (row.kind === "series") return null;
  return (
    <>
      {row.deeper > 0 && !row.isFolded && (
        <button
          type="button"
          class="plain muted"
          onClick={() => change.crop(row.key, row.track.lanes)}
        >
          {row.deeper} deeper
        </button>
      )}
      {row.lanes > LANES_SHOWN && (
        <button type="button" class="plain muted" onClick={() => change.crop(row.key, null)}>
          only {LANES_SHOWN} levels
        </button>
      )}
      {row.frames > 0 && (
        <button
          type="button"
          class="plain muted"
          title="Show the Python frames, which are left out here because they nest deep (Shift+Y)"
          onClick={change.showFrames}
        >
          {row.frames} levels of Python
        </button>
      )}
      {row.packed !== "" && (
        <button type="button" class="plain muted" onClick={() => change.unpack(row.packed)}>
          one by one
        </button>
      )}
    </>
  );
}

function Head(props: HeadProps) {
  const { row, change } = props;
  const style = {
    top: `${row.y}px`,
    height: `${row.height}px`,
    paddingLeft: `${8 + row.indent * 12}px`,
  };
  const canFold = mark(row) !== "";
  return (
    <div
      class={`tl-head ${row.kind}`}
      style={style}
      role="row"
      {...(row.kind === "track" && moves(row.key, change.move))}
      aria-level={row.indent + 1}
      {...(canFold && row.kind !== "series" && { "aria-expanded": !row.isFolded })}
    >
      <div role="gridcell">
        <button
          type="button"
          class="plain tl-title"
          title={row.title}
          disabled={!canFold}
          onClick={() => change.fold(row.key)}
        >
          {mark(row)}
          {row.title}
        </button>
        <More {...props} />
        <Tools {...props} />
        {row.kind === "track" && row.track.lanes > 1 && !row.isFolded && (
          <Crop row={row} change={change} />
        )}
      </div>
    </div>
  );
}

export function Heads({ layout, top, height, ...rest }: HeadsProps) {
  const rows = layout.rows.filter((r) => r.y + r.height > top - 200 && r.y < top + height + 200);
  return (
    <div
      class="tl-heads"
      role="treegrid"
      aria-label="Tracks"
      style={{ height: `${layout.height}px` }}
    >
      {rows.map((row) => (
        <Head key={row.key} row={row} {...rest} />
      ))}
    </div>
  );
}
