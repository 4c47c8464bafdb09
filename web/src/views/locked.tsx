// SPDX-License-Identifier: Apache-2.0
// The timeline of the run, and below it that of the run or rank it is compared with, locked.

import { useEffect, useMemo } from "preact/hooks";
import type { Timeline } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import type { TableName } from "../api/tables.ts";
import { type Anchor, clockAnchor, collectiveAnchor, stepAnchor } from "../model/anchors.ts";
import { useTable } from "../state/answers.ts";
import { Lock } from "../state/lock.ts";
import { allRanksOptions, allTimeOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { type Base, formatBase, type Place, parseBase, parseValue } from "../state/url.ts";
import { firstWindow } from "../timeline/spans.ts";

const ROWS = { offset: 0, limit: 10000 };
const WAYS = ["step", "collective", "start", "clock"] as const;
/** Where the address has none. */
const USUAL_WAY = WAYS[0];

/** The base of the timeline below; null: there is none. */
export function baseOf(place: Place, run: string): Base | null {
  const base = parseBase(place.cmp);
  if (place.cmp === "" || base.run === "") return null;
  return base.run === run && base.rank === "" && base.span === "" ? null : base;
}

/** The same table of both sides. */
function useBoth<T extends TableName>(
  name: T | null,
  base: Base | null,
): [Frame<T>, Frame<T>] | null {
  const { place } = usePage();
  const options = allTimeOptions(place.value);
  const run = useTable(name, options, ROWS);
  const own = {
    run: base?.run ?? "",
    ...(base?.rank && { rank: base.rank }),
    ...(base?.span && { span: base.span }),
  };
  const other = useTable(name, { ...options, ...own }, ROWS);
  return run.frame === null || other.frame === null ? null : [run.frame, other.frame];
}

/** What TIMELINE and BASE, the timeline of SIDE, are locked at. */
export function useLock(timeline: Timeline | null, base: Timeline | null, side: Base | null) {
  const { place } = usePage();
  const { lock: wish, steps, span } = place.value;
  const way = wish || USUAL_WAY;
  const lock = useMemo(() => new Lock(), [side && formatBase(side)]);
  const isOn = side !== null && timeline !== null && base !== null;
  const bySteps = useBoth(isOn && way === "step" ? "steps" : null, side);
  const byCalls = useBoth(isOn && way === "collective" ? "collective_calls" : null, side);
  // The clock of one rank alone has nothing to be compared with.
  const all = allRanksOptions({ ...place.value, span: "", steps: "", t: null });
  const { frame: byClock } = useTable(isOn && way === "clock" ? "ranks" : null, all, ROWS);
  const ranks = `${place.value.rank} ${side?.rank ?? ""}`;
  const anchor = useMemo<Anchor | null>(() => {
    if (timeline === null || base === null) return null;
    const found =
      (bySteps && way === "step" && stepAnchor(...bySteps, steps)) ||
      (byCalls && way === "collective" && collectiveAnchor(...byCalls)) ||
      (byClock && way === "clock" && clockAnchor(byClock, ranks));
    const [run, other] = [firstWindow(timeline, span).from, firstWindow(base, span).from];
    return found || { text: "the start", run, base: other };
  }, [timeline, base, bySteps, byCalls, byClock, ranks, way, steps, span]);
  useEffect(() => {
    if (anchor !== null) lock.gap.value = anchor.base - anchor.run;
  }, [lock, anchor]);
  return { lock, anchor };
}

/** Says what the two are locked at, and lets one choose. */
export function LockBar({ anchor, base }: { anchor: Anchor | null; base: Base }) {
  const page = usePage();
  const isOneRun = base.run === page.run.value;
  const words = [
    base.rank === "" ? "" : `rank ${base.rank}`,
    base.span === "" ? "" : `span ${base.span}`,
  ];
  const name = [isOneRun ? "" : base.run, ...words].filter((word) => word !== "").join(", ");
  return (
    <div class="tools">
      <span>
        below: <strong>{name}</strong>, locked at {anchor?.text ?? "…"}
      </span>
      <label>
        lock at{" "}
        <select
          value={page.place.value.lock || USUAL_WAY}
          onChange={(event) =>
            page.go({ lock: parseValue("lock", event.currentTarget.value) }, "replace")
          }
        >
          {WAYS.filter((way) => isOneRun || way !== "clock").map((way) => (
            <option key={way} value={way}>
              {way}
            </option>
          ))}
        </select>
      </label>
      <button type="button" onClick={() => page.go({ cmp: "" })}>
        show only {isOneRun ? "what is above" : page.run.value}
      </button>
    </div>
  );
}
