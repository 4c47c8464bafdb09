// SPDX-License-Identifier: Apache-2.0
// In the dock: what a step spent more or less than the median step.

import type { Frame } from "../api/cols.ts";
import { formatTime } from "../model/units.ts";
import { Problem, Section } from "../parts/section.tsx";
import { useTable } from "../state/answers.ts";
import { explainOptions, rowsOfStep, stepOptions, traceOfStep } from "../state/explain.ts";
import { usePage } from "../state/session.ts";

const STEPS = { offset: 0, limit: 1000 };
const ROWS = { offset: 0, limit: 24 };

function Deltas({ frame }: { frame: Frame<"step_explain"> }) {
  const largest = Math.abs(frame.at(0, "mean_delta_ns") ?? 0) || 1;
  return (
    <table class="plain-table deltas">
      <tbody>
        {frame.map((row) => {
          const delta = frame.at(row, "mean_delta_ns") ?? 0;
          const name = frame.text(row, "name");
          return (
            <tr key={row} title={`${frame.text(row, "kind")} ${name}`}>
              <th scope="row">
                <span class="delta-name">{name}</span>
                <span class="muted">{frame.text(row, "kind")}</span>
                <span
                  class={`delta-bar ${delta > 0 ? "fill-slower" : "fill-faster"}`}
                  style={{ width: `${(100 * Math.abs(delta)) / largest}%` }}
                />
              </th>
              <td class="number" {...frame.shown(row, "mean_delta_ns")}>
                {delta > 0 ? "+" : ""}
                {formatTime(delta)}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

export function ExplainedStep({ word }: { word: string }) {
  const page = usePage();
  const place = page.place.value;
  const steps = useTable("steps", stepOptions(place, word), STEPS);
  const options = steps.frame === null ? null : explainOptions(place, steps.frame);
  const answer = useTable(options === null ? null : "step_explain", options ?? {}, ROWS);
  if (steps.problem) return <Problem problem={steps.problem} />;
  const copy = () => {
    void navigator.clipboard?.writeText(answer.frame?.command ?? "").then(() => {
      page.notice.value = "copied";
    });
  };
  const tools = (
    <>
      <button type="button" class="plain" onClick={() => void traceOfStep(page)}>
        trace (t)
      </button>
      <button type="button" class="plain" onClick={() => void rowsOfStep(page)}>
        rows (r)
      </button>
      <button type="button" class="plain" onClick={copy}>
        copy
      </button>
    </>
  );
  return (
    <Section title={`Step ${word} against the median step`} answer={answer} tools={tools}>
      {(frame) => <Deltas frame={frame} />}
    </Section>
  );
}
