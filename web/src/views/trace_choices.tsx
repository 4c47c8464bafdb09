// SPDX-License-Identifier: Apache-2.0
// Which arrows the timeline shows, and what its colours mean.

import type { Timeline } from "../api/api.ts";
import { usePage } from "../state/session.ts";
import { parseValue } from "../state/url.ts";
import { MODES } from "../timeline/colour_modes.ts";
import { hasAllFrames, otherFrames } from "../timeline/python_frames.ts";

const FLOWS = [
  { name: "", title: "of the selection" },
  { name: "all", title: "all in sight" },
  { name: "none", title: "none" },
] as const;

export function TraceChoices({ timeline }: { timeline: Timeline }) {
  const page = usePage();
  const { flow, color, python } = page.place.value;
  return (
    <>
      {timeline.tracks.some((track) => track.has_frames) && (
        <label class="muted" title="Shift+Y">
          <input
            type="checkbox"
            checked={hasAllFrames(timeline, python)}
            onChange={() => page.go({ python: otherFrames(timeline, python) })}
          />{" "}
          Python frames
        </label>
      )}
      <label class="muted">
        arrows{" "}
        <select
          value={flow}
          onChange={(e) => page.go({ flow: parseValue("flow", e.currentTarget.value) })}
        >
          {FLOWS.map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label class="muted">
        colour{" "}
        <select value={color} onChange={(e) => page.go({ color: e.currentTarget.value })}>
          {MODES.map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

/** What the colours of the timeline mean; nothing where they mean kinds. */
export function ColourLegend() {
  const { color } = usePage().place.value;
  const mode = MODES.find((one) => one.name === color);
  return mode === undefined || mode.legend === "" ? null : (
    <p class="muted tl-legend">colour: {mode.legend}</p>
  );
}
