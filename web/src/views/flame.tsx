// SPDX-License-Identifier: Apache-2.0
// Stacks as a flame graph: what calls what, for how long. Below, the frame that was chosen: who
// calls it, and whom it calls.

import { FlameChart } from "../flame/flame_chart.tsx";
import { FlameRows } from "../flame/flame_rows.tsx";
import { RowLinks } from "../grid/row_links.tsx";
import { format } from "../model/units.ts";
import { Problem, Tabs, useCommand } from "../parts/section.tsx";
import { PictureButtons } from "../parts/section_tools.tsx";
import { useFlame } from "../state/flame_answer.ts";
import {
  flameQuestion,
  flameShare,
  frameOfPlace,
  metricsOf,
  STACKS,
  wishOf,
} from "../state/flame_question.ts";
import { usePage } from "../state/session.ts";
import { Headline } from "./headline.tsx";

const PIXELS = 2048;
const NONE = { command: "", total: 0 };
const ORDERS = [
  { name: "merged", title: "largest first" },
  { name: "ordered", title: "in order" },
];

function Tools() {
  const page = usePage();
  const place = page.place.value;
  const { stack, metric } = wishOf(place);
  const fresh = { root: "", sel: "" };
  return (
    <div class="tools">
      <Tabs
        label="Stacks of"
        tabs={STACKS}
        value={stack}
        onChange={(name) => page.go({ ...fresh, stack: name === "op" ? "" : name })}
      />
      <Tabs
        label="Measured by"
        tabs={metricsOf(stack)}
        value={metric.name}
        onChange={(name) => page.go({ metric: name === "host_self_ns" ? "" : name })}
      />
      <Tabs
        label="Order"
        tabs={ORDERS}
        value={place.order === "ordered" ? "ordered" : "merged"}
        onChange={(name) => page.go({ order: name === "merged" ? "" : name })}
      />
      <input
        type="search"
        placeholder="search: text or /regex/"
        size={24}
        aria-label="Search frames"
        value={place.q}
        onInput={(event) => page.go({ q: event.currentTarget.value }, "replace")}
      />
    </div>
  );
}

/** Where one is: all, and the frames that were zoomed to. */
function Breadcrumb() {
  const page = usePage();
  const { root } = page.place.value;
  const frames = root === "" ? [] : root.split(";");
  return (
    <nav class="breadcrumb" aria-label="Zoomed to">
      <button type="button" class="plain" onClick={() => page.go({ root: "" })}>
        all
      </button>
      {frames.map((name, i) => (
        <span key={frames.slice(0, i + 1).join(";")}>
          {"› "}
          <button
            type="button"
            class="plain"
            aria-current={i === frames.length - 1 ? "location" : undefined}
            onClick={() => page.go({ root: frames.slice(0, i + 1).join(";") })}
          >
            {name}
          </button>
        </span>
      ))}
    </nav>
  );
}

/** Who calls the frame NAME, and whom it calls. */
function Sandwich({ name }: { name: string }) {
  const page = usePage();
  const place = page.place.value;
  const { stack, metric } = wishOf(place);
  const callers = useFlame(flameQuestion(place, PIXELS, name, "callers"));
  const callees = useFlame(flameQuestion(place, PIXELS, name, "callees"));
  const value = (v: number) => format(v, metric.unit);
  const half = (title: string, { stacks, problem }: typeof callers) => (
    <section aria-label={`${title} ${name}`}>
      <h2>
        {title} {stacks?.caller.filter((c) => c === 0).length}
      </h2>
      {problem && <Problem problem={problem} />}
      {stacks !== null && stacks.total > 0 && (
        <FlameChart
          stacks={stacks}
          stack={stack}
          order="merged"
          label={`${title} ${name}`}
          value={value}
          share={(v) => `${flameShare(v, stacks.total)} of it`}
          onOpen={(path) => page.go({ sel: `name:frame:${path[path.length - 1]}` })}
        />
      )}
    </section>
  );
  return (
    <div class="sandwich">
      <div class="section-head">
        <h2>{name}</h2>
        {callees.stacks !== null && (
          <span data-sandwich={String(callees.stacks.total)}>{value(callees.stacks.total)}</span>
        )}
        <span class="space" />
        <RowLinks row={() => ({ table: "", values: { name } })} />
        <button type="button" class="plain" onClick={() => page.go({ sel: "" })}>
          close
        </button>
      </div>
      <div class="halves">
        {half("callers ▲", callers)}
        {half("callees ▼", callees)}
      </div>
    </div>
  );
}

export function Flame() {
  const page = usePage();
  const place = page.place.value;
  const { stack, metric } = wishOf(place);
  const order = place.order === "ordered" ? "ordered" : "merged";
  const { stacks, problem, isOld } = useFlame(flameQuestion(place, PIXELS));
  const value = (v: number) => format(v, metric.unit);
  const total = (stacks ?? NONE).total;
  const share = (v: number) => flameShare(v, total);
  const base = place.root === "" ? [] : place.root.split(";");
  const full = (path: readonly string[]) => [...base.slice(0, -1), ...path].join(";");
  const chosen = frameOfPlace(place);
  useCommand({ frame: stacks, problem });
  return (
    <>
      {stacks?.text === "" ? (
        <Headline view="modules" />
      ) : (
        <h1>{stacks === null ? (problem ? "No stacks." : "…") : stacks.text}</h1>
      )}
      <Tools />
      <div class="section-head">
        <Breadcrumb />
        <span class="space" />
        <span class="section-tools">
          <PictureButtons
            title="Flame graph"
            command={page.command.value}
            find={(button) => button.closest("main")?.querySelector(".flame") ?? null}
          />
        </span>
        {stacks?.matched != null && (
          <span data-matched={String(stacks.matched)}>
            {flameShare(stacks.matched, stacks.total)} matched
          </span>
        )}
      </div>
      {problem && <Problem problem={problem} />}
      {stacks !== null && stacks.total > 0 && (
        <div class={isOld ? "old" : ""}>
          <FlameChart
            stacks={stacks}
            stack={stack}
            order={order}
            label="Flame graph: arrows go, Enter zooms, Backspace goes back"
            value={value}
            share={share}
            onSelect={(path) => page.go({ sel: `name:frame:${path[path.length - 1]}` }, "replace")}
            onOpen={(path) => page.go({ root: full(path) })}
            onLeave={() => page.go({ root: base.slice(0, -1).join(";") })}
          />
          {chosen !== "" && <Sandwich name={chosen} />}
          <details>
            <summary>{stacks.caller.length} frames as rows</summary>
            <FlameRows
              stacks={stacks}
              order={order}
              value={value}
              share={share}
              onOpen={(path) => page.go({ root: full(path) })}
            />
          </details>
        </div>
      )}
    </>
  );
}
