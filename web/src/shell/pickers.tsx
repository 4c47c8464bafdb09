// SPDX-License-Identifier: Apache-2.0
// Which run, which ranks, which span, and which run it is compared with.

import { useEffect, useState } from "preact/hooks";
import type { RunsAnswer } from "../api/api.ts";
import { leftOut, processChoices, rankChoices, runChoices, spanChoices } from "../model/choices.ts";
import { LATER, useTable } from "../state/answers.ts";
import { usePage } from "../state/session.ts";
import { parseBase, WHOLE_RUN } from "../state/url.ts";
import { Combobox } from "./combobox.tsx";

const TRACKS = { offset: 0, limit: 10_000 };

/** What files there are; null: not known. */
function useRuns(): RunsAnswer | null {
  const page = usePage();
  const run = page.run.value;
  const fingerprint = page.fingerprint.value;
  const [answer, setAnswer] = useState<RunsAnswer | null>(null);
  useEffect(() => {
    if (run === "" || fingerprint === "") return;
    const abort = new AbortController();
    page.api.runs(run, abort.signal).then(setAnswer, () => {});
    return () => abort.abort();
  }, [page, run, fingerprint]);
  return answer;
}

/** The ranks that the traces have. */
function useRanks(): string[] {
  const page = usePage();
  const { run } = page.place.value;
  const options = run === "" ? {} : { run };
  const { frame } = useTable("ranks", options, { offset: 0, limit: 10_000 });
  if (frame === null) return [];
  return [...new Set(frame.map((row) => frame.text(row, "rank")))];
}

/** The processes, where there are several: a worker without a rank is one of them. */
function useProcesses() {
  const page = usePage();
  const { run } = page.place.value;
  const isFixed = page.session.value?.fixed !== undefined;
  const { frame } = useTable(isFixed ? null : "tracks", run === "" ? {} : { run }, TRACKS, LATER);
  return processChoices(frame);
}

export function Pickers() {
  const page = usePage();
  const place = page.place.value;
  const runs = runChoices(page.session.value?.runs ?? []);
  const answer = useRuns();
  const ranks = useRanks();
  const processes = useProcesses();
  const missing = leftOut(answer);
  const others = runs.filter((run) => run.value !== page.run.value);
  return (
    <>
      <Combobox
        label="run"
        value={page.run.value}
        placeholder="run"
        choices={runs}
        leftOut={missing}
        isClosed
        size={22}
        onTake={(run) => page.go({ ...WHOLE_RUN, run })}
      />
      <Combobox
        label="rank"
        value={place.rank}
        placeholder="all"
        choices={rankChoices(answer, page.run.value, ranks)}
        leftOut={missing}
        size={5}
        onTake={(rank) => page.go({ rank })}
      />
      <Combobox
        label="span"
        value={place.span}
        placeholder="all"
        choices={spanChoices(answer, page.run.value)}
        size={3}
        onTake={(span) => page.go({ span })}
      />
      {(processes.length > 1 || place.process !== "") && (
        <Combobox
          label="process"
          value={place.process}
          placeholder="all"
          choices={processes}
          size={7}
          onTake={(process) => page.go({ process, sel: "" })}
        />
      )}
      {others.length > 0 && (
        <Combobox
          label="vs"
          value={parseBase(place.cmp).run}
          placeholder="none"
          choices={[{ value: "", title: "none", about: "" }, ...others]}
          isClosed
          size={12}
          onTake={(cmp) => page.go({ cmp })}
        />
      )}
    </>
  );
}
