// SPDX-License-Identifier: Apache-2.0
// Which arrows the timeline shows, and what its colours mean.

import { usePage } from "../state/session.ts";
import { MODES } from "../timeline/colour_modes.ts";

const FLOWS = [
  { name: "", title: "of the selection" },
  { name: "all", title: "all in sight" },
  { name: "none", title: "none" },
] as const;

/** HASFRAMES: there are Python frames to show or leave out. */
export function TraceChoices({ hasFrames }: { hasFrames: boolean }) {
  const page = usePage();
  const { flow, color, python } = page.place.value;
  return (
    <>
      {hasFrames && (
        <label class="muted" title="Shift+Y">
          <input
            type="checkbox"
            checked={python !== "off"}
            onChange={() => page.go({ python: python === "off" ? "" : "off" })}
          />{" "}
          Python frames
        </label>
      )}
      <label class="muted">
        arrows{" "}
        <select value={flow} onChange={(e) => page.go({ flow: e.currentTarget.value })}>
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
