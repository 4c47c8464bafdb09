// SPDX-License-Identifier: Apache-2.0
// The timeline of the run, and below it that of the run it is compared with, locked.

import { useEffect, useMemo } from "preact/hooks";
import type { Timeline } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import { type Anchor, collectiveAnchor, stepAnchor } from "../model/anchors.ts";
import { useTable } from "../state/answers.ts";
import { allTimeOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { Lock } from "../timeline/lock.ts";
import { firstWindow } from "../timeline/spans.ts";

const ROWS = { offset: 0, limit: 10000 };
const WAYS = ["step", "collective", "start"] as const;
type Way = (typeof WAYS)[number];

/** The same table of both runs. */
function useBoth(name: string | null, base: string): [Frame, Frame] | null {
  const { place } = usePage();
  const options = allTimeOptions(place.value);
  const run = useTable(name, options, ROWS);
  const other = useTable(name, { ...options, run: base }, ROWS);
  return run.frame === null || other.frame === null ? null : [run.frame, other.frame];
}

function wayOf(text: string): Way {
  return WAYS.find((way) => way === text) ?? "step";
}

/** What TIMELINE and BASE, the timeline of the run with that name, are locked at. */
export function useLock(timeline: Timeline | null, base: Timeline | null, name: string) {
  const { place } = usePage();
  const { lock: wish, steps, span } = place.value;
  const way = wayOf(wish);
  const lock = useMemo(() => new Lock(), [name]);
  const isOn = name !== "" && timeline !== null && base !== null;
  const bySteps = useBoth(isOn && way === "step" ? "steps" : null, name);
  const byCalls = useBoth(isOn && way === "collective" ? "collective_calls" : null, name);
  const anchor = useMemo<Anchor | null>(() => {
    if (timeline === null || base === null) return null;
    const found =
      (bySteps && way === "step" && stepAnchor(...bySteps, steps)) ||
      (byCalls && way === "collective" && collectiveAnchor(...byCalls));
    const [run, other] = [firstWindow(timeline, span).from, firstWindow(base, span).from];
    return found || { text: "the start", run, base: other };
  }, [timeline, base, bySteps, byCalls, way, steps, span]);
  useEffect(() => {
    if (anchor !== null) lock.setGap(anchor.base - anchor.run);
  }, [lock, anchor]);
  return { lock, anchor };
}

/** Says what the two are locked at, and lets one choose. */
export function LockBar({ anchor, base }: { anchor: Anchor | null; base: string }) {
  const page = usePage();
  return (
    <div class="tools">
      <span>
        below: <strong>{base}</strong>, locked at {anchor?.text ?? "…"}
      </span>
      <label>
        lock at{" "}
        <select
          value={wayOf(page.place.value.lock)}
          onChange={(event) => page.go({ lock: event.currentTarget.value }, "replace")}
        >
          {WAYS.map((way) => (
            <option key={way} value={way}>
              {way}
            </option>
          ))}
        </select>
      </label>
      <button type="button" onClick={() => page.go({ cmp: "" })}>
        show only {page.run.value}
      </button>
    </div>
  );
}
