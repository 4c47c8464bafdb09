// SPDX-License-Identifier: Apache-2.0
// Of a selected event: where it stands among all of its name, how long those took, and the slowest.

import type { EventDetail } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import { quote } from "../model/expr.ts";
import { countedNames } from "../model/names.ts";
import { format, formatTime } from "../model/units.ts";
import { Section } from "../parts/section.tsx";
import { useTable } from "../state/answers.ts";
import { siblingOptions } from "../state/explain.ts";
import { usePage } from "../state/session.ts";

const FEW = { offset: 0, limit: 8 };
const BUCKETS = { offset: 0, limit: 64 };

function Histogram({ frame }: { frame: Frame<"durations"> }) {
  const rows = frame.map((row) => row);
  const most = Math.max(1, ...rows.map((row) => frame.at(row, "calls") ?? 0));
  const width = 100 / Math.max(1, frame.n);
  return (
    <svg class="histogram" viewBox="0 0 100 40" preserveAspectRatio="none" role="img">
      <title>How many took how long</title>
      {rows.map((row) => {
        const height = (40 * (frame.at(row, "calls") ?? 0)) / most;
        return (
          <rect
            key={row}
            class="fill-cpu_exec"
            x={row * width}
            y={40 - height}
            width={width * 0.9}
            height={height}
          >
            <title>{`from ${formatTime(frame.at(row, "from_ns") ?? 0)}: ${frame.text(row, "calls")}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

interface SiblingsProps {
  readonly detail: EventDetail;
  readonly onSelect: (event: number) => void;
}

export function Siblings({ detail, onSelect }: SiblingsProps) {
  const place = usePage().place.value;
  const asked = siblingOptions(place, detail);
  const name = detail.dur_ns === null ? null : "siblings";
  const slowest = useTable(name, asked, FEW);
  const own = useTable(name, { ...asked, where: `id = ${detail.id}` }, FEW);
  const { event: _, ...ranks } = asked;
  const names = countedNames(detail.kind, detail.name);
  const ofKind = `kind = '${detail.kind}'`;
  const counted =
    names.length === 1
      ? { ...ranks, name: detail.name, where: ofKind }
      : { ...ranks, where: `${ofKind} AND name IN (${names.map(quote).join(", ")})` };
  const durations = useTable(name === null ? null : "durations", counted, BUCKETS);
  if (name === null) return null;
  const ratio = own.frame !== null && own.frame.n > 0 ? own.frame.at(0, "percentile_ratio") : null;
  return (
    <>
      {slowest.frame !== null && ratio !== null && (
        <p class="siblings-said">
          {format(slowest.frame.rows, null)} {slowest.frame.rows === 1 ? "call" : "calls"}, this is
          P{Math.floor(100 * ratio)}{" "}
          <span class="muted">(, and . go to the one before and after)</span>
        </p>
      )}
      <Section title="Durations" answer={durations}>
        {(frame) => <Histogram frame={frame} />}
      </Section>
      <Section title="Slowest of this name" answer={slowest}>
        {(frame) => (
          <ol class="slowest">
            {frame.map((row) => (
              <li key={row}>
                <button
                  type="button"
                  class="plain"
                  onClick={() => onSelect(detail.event - detail.id + (frame.at(row, "id") ?? 0))}
                >
                  <span {...frame.shown(row, "dur_ns")}>
                    {formatTime(frame.at(row, "dur_ns") ?? 0)}
                  </span>{" "}
                  at {formatTime(frame.at(row, "start_ns") ?? 0)}
                </button>
              </li>
            ))}
          </ol>
        )}
      </Section>
    </>
  );
}
