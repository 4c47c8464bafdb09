// SPDX-License-Identifier: Apache-2.0
// Modules inside modules, as wide as their time.

import { useMemo } from "preact/hooks";
import type { Frame } from "../api/cols.ts";
import { FlameChart } from "../flame/flame_chart.tsx";
import { quote } from "../model/expr.ts";
import { moduleTimes, stacksOfModules } from "../model/module_stacks.ts";
import { formatTime } from "../model/units.ts";
import { Tabs } from "../parts/section.tsx";
import { flameShare } from "../state/flame_question.ts";
import { usePage } from "../state/session.ts";

export function ModuleIcicle({ frame }: { frame: Frame<"modules"> }) {
  const page = usePage();
  const place = page.place.value;
  const times = useMemo(() => moduleTimes(frame), [frame]);
  const time = times.find((t) => t.name === place.metric) ?? times[0];
  const stacks = useMemo(() => stacksOfModules(frame, time?.name ?? null), [frame, time]);
  if (time === undefined) return <p class="muted">no module took any time</p>;
  const open = (path: readonly string[]) =>
    page.go({ where: `name = ${quote(path[path.length - 1] ?? "")}`, q: "" });
  return (
    <>
      <Tabs
        label="As wide as their time"
        tabs={times}
        value={time.name}
        onChange={(metric) => page.go({ metric })}
      />
      <FlameChart
        stacks={stacks}
        stack="module"
        order="ordered"
        label={`Modules inside modules by ${time.title} time; Enter shows the rows of one`}
        value={formatTime}
        share={(v) => flameShare(v, stacks.total)}
        onOpen={open}
        onLeave={() => page.go({ where: "" })}
      />
    </>
  );
}
