// SPDX-License-Identifier: Apache-2.0
// The timeline of the run, what is selected in it, and the ranges of an area.

import { useCallback, useMemo } from "preact/hooks";
import type { EventDetail } from "../api/api.ts";
import { wrongSearch } from "../model/wrong_search.ts";
import { Problem } from "../parts/section.tsx";
import { PictureButtons } from "../parts/section_tools.tsx";
import { useAsked } from "../state/asked.ts";
import { usePage } from "../state/session.ts";
import { useKept } from "../state/use_kept.ts";
import { WindowHistory } from "../state/window_history.ts";
import { countTraces } from "../timeline/spans.ts";
import { TimelineView } from "../timeline/timeline_view.tsx";
import { NO_HITS, useHits } from "../timeline/use_hits.ts";
import { AreaSheet } from "./area_sheet.tsx";
import { Detail } from "./event_detail.tsx";
import { Headline } from "./headline.tsx";
import { baseOf, LockBar, useLock } from "./locked.tsx";
import { ColourLegend, TraceChoices } from "./trace_choices.tsx";
import { TraceSearch } from "./trace_search.tsx";
import { useEventsCommand, useStep } from "./trace_state.ts";

function selectedOf(detail: EventDetail | null) {
  if (detail === null) return null;
  const { event, track, start_ns: from, links } = detail;
  return { event, track, from, to: from + (detail.dur_ns ?? 0), links };
}

/** The timeline of RUN; "": none. */
function useTimeline(run: string) {
  const { api } = usePage();
  return useAsked(
    run === "" ? null : ["timeline", run],
    (signal) => api.timeline(run, signal),
    true,
  );
}

export function Trace() {
  const page = usePage();
  const run = page.run.value;
  const place = page.place.value;
  const timeline = useTimeline(run);
  const detail = useKept(run, timeline);
  const select = useCallback(
    (event: number) => page.go({ sel: event < 0 ? "" : `ev:${event}` }),
    [page],
  );
  useEventsCommand(timeline.value);
  const { hits, problem } = useHits();
  const wrong = wrongSearch(problem);
  const step = useStep();
  const compared = baseOf(place, run);
  const other = compared?.run ?? "";
  const base = useTimeline(other);
  const { lock, anchor } = useLock(timeline.value, base.value, compared);
  const history = useMemo(() => new WindowHistory(), [run]);
  const shown = useMemo(() => selectedOf(detail.value), [detail.value]);
  const track = timeline.value?.tracks.find((one) => one.id === shown?.track) ?? null;
  if (timeline.value === null && timeline.problem !== null)
    return <Problem problem={timeline.problem} />;
  if (timeline.value === null) return <p class="empty">reading the traces …</p>;
  return (
    <>
      <div class="tools">
        <Headline view="trace" />
        <span class="muted traces">{countTraces(timeline.value)}</span>
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
        <span class="section-tools">
          <PictureButtons
            title="Timeline"
            command={page.command.value}
            find={(button) => button.closest("main")?.querySelector(".tl") ?? null}
          />
        </span>
        <TraceChoices timeline={timeline.value} />
        <TraceSearch timeline={timeline.value} detail={detail.value} hits={hits} wrong={wrong} />
      </div>
      <ColourLegend />
      <div class="trace">
        <TimelineView
          timeline={timeline.value}
          onSelect={select}
          selected={shown}
          track={track}
          hits={hits ?? NO_HITS}
          searched={wrong === null ? place.q : ""}
          ghost={step?.ghost ?? null}
          focus={step?.focus ?? null}
          run={run}
          side="run"
          lock={lock}
          history={history}
        />
        {(detail.value !== null || detail.problem !== null) && (
          <aside class="detail" aria-label="Selected event">
            {detail.problem && <Problem problem={detail.problem} />}
            {detail.value && <Detail detail={detail.value} onSelect={select} />}
          </aside>
        )}
      </div>
      {compared !== null && <LockBar anchor={anchor} base={compared} />}
      {timeline.problem && <Problem problem={timeline.problem} />}
      {base.problem && <Problem problem={base.problem} />}
      {base.value !== null && (
        <div class="trace">
          <TimelineView
            timeline={base.value}
            onSelect={() => {}}
            selected={null}
            track={track}
            hits={NO_HITS}
            searched={wrong === null ? place.q : ""}
            ghost={null}
            focus={null}
            run={other}
            side="base"
            lock={lock}
            history={history}
          />
        </div>
      )}
      {(place.t !== null || place.q !== "") && <AreaSheet />}
    </>
  );
}
