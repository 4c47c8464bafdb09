// SPDX-License-Identifier: Apache-2.0
// Beside the view: what the selected column means, or those of a table, or why a step took long.

import { Explain } from "../grid/explain.tsx";
import { explainedStep } from "../state/explain.ts";
import { usePage } from "../state/session.ts";
import { ExplainedStep } from "./explain_dock.tsx";

function Column({ table, column }: { table: string; column: string }) {
  const page = usePage();
  const catalog = page.catalog.value;
  const known =
    catalog?.tables.find((t) => t.name === table)?.columns.find((c) => c.name === column) ??
    catalog?.leading.find((c) => c.name === column);
  if (!known)
    return (
      <p class="muted">
        no table {table} has a column {column}
      </p>
    );
  return (
    <>
      <h2>{column}</h2>
      <p>{known.help}</p>
      <table class="plain-table">
        <tbody>
          <tr>
            <th scope="row">unit</th>
            <td>{known.unit ?? "none"}</td>
          </tr>
          <tr>
            <th scope="row">type</th>
            <td>{known.type}</td>
          </tr>
          <tr>
            <th scope="row">printed by</th>
            <td>
              <code>
                opscope table {table} --explain {column}
              </code>
            </td>
          </tr>
        </tbody>
      </table>
      {known.rules.map((i) => {
        const rule = catalog?.rules[i];
        return rule ? (
          <details key={i}>
            <summary>{rule.title}</summary>
            <div class="rule">{rule.text}</div>
            <p class="muted">Source: {rule.source}</p>
          </details>
        ) : null;
      })}
    </>
  );
}

/** What TABLE is about, and each of its columns. */
function Columns({ table }: { table: string }) {
  const page = usePage();
  const known = page.catalog.value?.tables.find((t) => t.name === table);
  if (!known) return <p class="muted">there is no table {table}</p>;
  return (
    <>
      <h2>{table}</h2>
      <p>{known.help}</p>
      <dl>
        {known.columns.map((column) => (
          <div key={column.name}>
            <dt>
              {column.name} <Explain page={page} table={table} column={column.name} />
            </dt>
            <dd class="muted">{column.help}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

export function Dock() {
  const page = usePage();
  const match = /^col:([a-z_]+)\.(\w+)$/.exec(page.place.value.sel);
  const table = /^table:([a-z_]+)$/.exec(page.place.value.sel)?.[1] ?? "";
  const step = explainedStep(page.place.value);
  if ((!match && step === "" && table === "") || !page.dockIsOpen.value) return null;
  return (
    <aside class="dock" aria-label="Explanation">
      <button type="button" class="plain dock-close" onClick={() => page.go({ sel: "" })}>
        close
      </button>
      {match && <Column table={match[1]!} column={match[2]!} />}
      {table !== "" && <Columns key={table} table={table} />}
      {step !== "" && <ExplainedStep key={step} word={step} />}
    </aside>
  );
}
