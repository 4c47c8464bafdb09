// SPDX-License-Identifier: Apache-2.0
// The timeline of the run, what is selected in it, and the ranges of an area.

import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import {
  ApiError,
  type ApiProblem,
  type EventDetail,
  type Timeline,
  type Window,
} from "../api/api.ts";
import { TableView } from "../grid/table_view.tsx";
import { besideMedian } from "../model/median_step.ts";
import { format, formatTime } from "../model/units.ts";
import { useTable } from "../state/answers.ts";
import { selectionOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { formatRange, parseRange } from "../state/url.ts";
import type { GhostOf } from "../timeline/ghost.ts";
import { countTraces, firstWindow } from "../timeline/spans.ts";
import { TimelineView } from "../timeline/timeline_view.tsx";
import { LockBar, useLock } from "./locked.tsx";
import { Problem, useCommand } from "./parts.tsx";
import { Siblings } from "./siblings.tsx";

const NO_ROWS = { offset: 0, limit: 0 };
const STEPS = { offset: 0, limit: 10000 };

interface StepShown {
  readonly focus: Window;
  readonly ghost: GhostOf | null;
  readonly text: string;
}

/** The step that is selected, and the median one as its ghost; null: none, or several, are. */
function useStep(): StepShown | null {
  const page = usePage();
  const { steps, ghost: wish } = page.place.value;
  const isOne = /^@?\d+$/.test(steps);
  const options = selectionOptions({ ...page.place.value, steps: "", t: "" });
  const { frame } = useTable(isOne ? "steps" : null, options, STEPS);
  return useMemo(() => {
    const found = isOne && frame !== null ? besideMedian(frame, steps) : null;
    if (found === null) return null;
    const { step, median } = found;
    const focus = { from: step.from, to: step.to };
    if (median === null || wish === "off") return { focus, ghost: null, text: "" };
    const ghost = { from: median.from, to: median.to, shift: step.from - median.from };
    const longer = formatTime(step.to - step.from - (median.to - median.from));
    return { focus, ghost, text: `below: step ${median.word}, the median one (${longer})` };
  }, [isOne, frame, steps, wish]);
}

/** Let the status line have the command that lists what is in sight. */
function useEventsCommand(timeline: Timeline | null): void {
  const { place } = usePage();
  const { w, t, span } = place.value;
  const window = parseRange(t) ?? parseRange(w) ?? (timeline && firstWindow(timeline, span));
  // The picture may reach before the first event; no event is there.
  const from = Math.max(0, window?.from ?? 0);
  const range = window && { from, to: Math.max(from + 1, window.to) };
  const options = selectionOptions({ ...place.value, t: formatRange(range) });
  const { frame } = useTable(timeline === null ? null : "events", options, NO_ROWS);
  useCommand(frame);
}

function problemOf(cause: unknown): ApiProblem {
  if (cause instanceof ApiError) return cause.problem;
  return { status: 0, code: "page", message: String(cause), what_to_do: null, command: null };
}

/** Ask once for each KEY; null KEY: nothing is asked. */
function useAnswer<T>(key: string | null, ask: (signal: AbortSignal) => Promise<T>) {
  const [answer, setAnswer] = useState<{ value: T | null; problem: ApiProblem | null }>({
    value: null,
    problem: null,
  });
  // The key says all that ask depends on.
  useEffect(() => {
    if (key === null) {
      setAnswer({ value: null, problem: null });
      return;
    }
    const abort = new AbortController();
    ask(abort.signal).then(
      (value) => setAnswer({ value, problem: null }),
      (cause: unknown) => {
        if (!abort.signal.aborted) setAnswer({ value: null, problem: problemOf(cause) });
      },
    );
    return () => abort.abort();
  }, [key]);
  return answer;
}

function Detail({ detail, onSelect }: { detail: EventDetail; onSelect: (event: number) => void }) {
  return (
    <>
      <h2>{detail.folded}</h2>
      {detail.folded !== detail.name && <p class="muted">{detail.name}</p>}
      <table class="plain-table">
        <tbody>
          <tr>
            <th scope="row">kind</th>
            <td>{detail.kind}</td>
          </tr>
          <tr>
            <th scope="row">start</th>
            <td data-v={String(detail.start_ns)}>{formatTime(detail.start_ns)}</td>
          </tr>
          {detail.dur_ns !== null && (
            <tr>
              <th scope="row">duration</th>
              <td data-v={String(detail.dur_ns)}>{formatTime(detail.dur_ns)}</td>
            </tr>
          )}
          {detail.self_ns !== null && (
            <tr>
              <th scope="row">self</th>
              <td data-v={String(detail.self_ns)}>{formatTime(detail.self_ns)}</td>
            </tr>
          )}
          {detail.links.map((link) => (
            <tr key={`${link.relation}${link.event}`}>
              <th scope="row">{link.relation.replace("_", " ")}</th>
              <td>
                <button type="button" class="plain" onClick={() => onSelect(link.event)}>
                  {link.name}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Siblings detail={detail} onSelect={onSelect} />
      <table class="plain-table">
        <tbody>
          {Object.entries(detail.args).map(([key, value]) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              <td>{typeof value === "string" ? value : JSON.stringify(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function selectedOf(detail: EventDetail | null) {
  if (detail === null) return null;
  const { event, start_ns: from, links } = detail;
  return { event, from, to: from + (detail.dur_ns ?? 0), links };
}

function headline(timeline: Timeline): string {
  const ranges = timeline.tracks.reduce((sum, track) => sum + track.ranges, 0);
  const traces = countTraces(timeline);
  return (
    `${format(ranges, null)} ranges on ${timeline.tracks.length} tracks in ` +
    `${formatTime(timeline.to_ns - timeline.from_ns)}${traces === "" ? "" : `, of ${traces}`}`
  );
}

export function Trace() {
  const page = usePage();
  const run = page.run.value;
  const place = page.place.value;
  const fingerprint = page.fingerprint.value;
  const key = run === "" || fingerprint === "" ? null : `${run} ${fingerprint}`;
  const timeline = useAnswer(key, (signal) => page.api.timeline(run, signal));
  const selected = /^ev:(\d+)$/.exec(place.sel)?.[1] ?? null;
  const detail = useAnswer(
    key === null || selected === null ? null : `${key} ${selected}`,
    (signal) => page.api.event(run, Number(selected), signal),
  );
  const select = useCallback(
    (event: number) => page.go({ sel: event < 0 ? "" : `ev:${event}` }),
    [page],
  );
  useEventsCommand(timeline.value);
  const step = useStep();
  const other = place.cmp === run ? "" : place.cmp;
  const base = useAnswer(
    key === null || other === "" ? null : `${other} ${fingerprint}`,
    (signal) => page.api.timeline(other, signal),
  );
  const { lock, anchor } = useLock(timeline.value, base.value, other);
  const shown = useMemo(() => selectedOf(detail.value), [detail.value]);
  if (timeline.problem) return <Problem problem={timeline.problem} />;
  if (timeline.value === null) return <p class="empty">reading the traces …</p>;
  return (
    <>
      <div class="tools">
        <h1>{headline(timeline.value)}</h1>
        <span class="space" />
        {step !== null && step.ghost !== null && (
          <button
            type="button"
            class="plain"
            title="Leave it out"
            onClick={() => page.go({ ghost: "off" })}
          >
            {step.text} ×
          </button>
        )}
        <input
          type="search"
          id="search"
          placeholder="search names: text or /regex/"
          aria-label="Search names"
          value={place.q}
          onInput={(event) => page.go({ q: event.currentTarget.value }, "replace")}
        />
      </div>
      <div class="trace">
        <TimelineView
          timeline={timeline.value}
          onSelect={select}
          selected={shown}
          ghost={step?.ghost ?? null}
          focus={step?.focus ?? null}
          run={run}
          side="run"
          lock={lock}
        />
        {(detail.value !== null || detail.problem !== null) && (
          <aside class="detail" aria-label="Selected event">
            {detail.problem && <Problem problem={detail.problem} />}
            {detail.value && <Detail detail={detail.value} onSelect={select} />}
          </aside>
        )}
      </div>
      {other !== "" && <LockBar anchor={anchor} base={other} />}
      {base.problem && <Problem problem={base.problem} />}
      {base.value !== null && (
        <div class="trace">
          <TimelineView
            timeline={base.value}
            onSelect={() => {}}
            selected={null}
            ghost={null}
            focus={null}
            run={other}
            side="base"
            lock={lock}
          />
        </div>
      )}
      {(place.t !== "" || place.q !== "") && (
        <section class="sheet" aria-label="Ranges, by name">
          <TableView name="ranges" options={selectionOptions(place)} />
        </section>
      )}
    </>
  );
}
