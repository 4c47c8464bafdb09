// SPDX-License-Identifier: Apache-2.0
// The keys of the whole page, in one list, which is also what `?` shows.

import { isInField, type KeyBinding, runKey } from "../model/key_list.ts";
import { nextOutlier, stepBeside } from "../model/matches.ts";
import { explain, explainedStep, goToSibling, rowsOfStep, traceOfStep } from "../state/explain.ts";
import { rowsOfRow, traceOfRow } from "../state/row_here.ts";
import type { PageState, RowHere } from "../state/session.ts";
import { FRESH } from "../state/url.ts";
import { VIEWS } from "../views/list.ts";

export const KEYS: readonly KeyBinding<PageState>[] = [
  ...VIEWS.map((view) => ({
    keys: [`g ${view.key}`],
    does: `go to ${view.title}`,
    run: (page: PageState) => page.go({ ...FRESH, view: view.name }),
  })),
  { keys: ["/"], does: "search or filter by name", run: focusSearch },
  { keys: ["y"], does: "copy the command that prints this", run: copyCommand },
  { keys: ["u"], does: "change between light and dark", run: changeTheme },
  { keys: ["i"], does: "open or close the dock", run: (page) => toggle(page.dockIsOpen) },
  { keys: ["]"], does: "select the next step", run: (page) => beside(page, 1) },
  { keys: ["["], does: "select the step before", run: (page) => beside(page, -1) },
  { keys: ["o"], does: "select and explain the next step that took long", run: selectOutlier },
  {
    keys: ["e"],
    does: "explain the step, or that of the event",
    run: (page) => told(page, explain),
  },
  {
    ...{
      keys: ["t"],
      does: "go to the explained step in time, or to the longest event of the row",
    },
    run: (page) => told(page, inTime),
  },
  {
    ...{ keys: ["r"], does: "show all rows that explain it, or all events of the row" },
    run: (page) => told(page, asRows),
  },
  {
    keys: ["."],
    does: "select the next event of the same name",
    run: (page) => told(page, (p) => goToSibling(p, 1)),
  },
  {
    keys: [","],
    does: "select the event of the same name before",
    run: (page) => told(page, (p) => goToSibling(p, -1)),
  },
  { keys: ["Control+k"], does: "go to a view, table, step or run", run: openPalette },
  { keys: ["?"], does: "show the keys", run: (page) => toggle(page.helpIsOpen) },
  { keys: ["Escape"], does: "take back the selection", run: leave },
];

function toggle(flag: { value: boolean }): void {
  flag.value = !flag.value;
}

export function changeTheme(page: PageState): void {
  page.theme.value = page.theme.value === "dark" ? "light" : "dark";
}

export function copyCommand(page: PageState): void {
  void navigator.clipboard?.writeText(page.command.value).then(() => {
    page.notice.value = "copied";
  });
}

function focusSearch(): void {
  document.querySelector<HTMLInputElement>("main input[type=search]")?.focus();
}

function openPalette(page: PageState): void {
  page.paletteIsOpen.value = true;
}

function beside(page: PageState, delta: 1 | -1): void {
  const steps = stepBeside(page.steps.value, page.place.value.steps, delta);
  if (steps !== "") page.go({ steps });
}

function selectOutlier(page: PageState): void {
  const steps = nextOutlier(page.steps.value, page.place.value.steps);
  if (steps !== "") page.go({ steps, sel: `step:${steps}` });
  else if (page.steps.value.length === 0) page.notice.value = "no steps were found";
  else page.notice.value = "no step took much longer than the others of its kind";
}

/** Do what asks the server; what fails is said. */
function told(page: PageState, ask: (page: PageState) => Promise<void>): void {
  ask(page).catch((cause: unknown) => {
    page.notice.value = cause instanceof Error ? cause.message : String(cause);
  });
}

/** The row of the table of the view; null: a step is explained, or there is none. */
function rowHere(page: PageState): RowHere | null {
  if (explainedStep(page.place.value) !== "") return null;
  return page.rowHere.value?.() ?? null;
}

async function inTime(page: PageState): Promise<void> {
  const row = rowHere(page);
  await (row === null ? traceOfStep(page) : traceOfRow(page, row));
}

async function asRows(page: PageState): Promise<void> {
  const row = rowHere(page);
  if (row === null) await rowsOfStep(page);
  else rowsOfRow(page, row);
}

function leave(page: PageState): void {
  if (page.helpIsOpen.value) page.helpIsOpen.value = false;
  else if (page.place.value.sel !== "") page.go({ sel: "" });
  else page.go({ steps: "", t: null, q: "", thread: "", area: "" });
}

/** Esc in a field that searches or names something leaves it; what is written stays. */
function leaveField(event: KeyboardEvent): boolean {
  const { target } = event;
  const isOne =
    target instanceof HTMLInputElement && target.matches("main input:not([type=checkbox])");
  if (event.key !== "Escape" || !isOne) return false;
  target.blur();
  return true;
}

/** Listen to WINDOW; the result ends it. */
export function installKeys(page: PageState, window: Window): () => void {
  let prefix = "";
  // After g a letter is the page's, whatever takes it elsewhere.
  const pressSecond = (event: KeyboardEvent) => {
    if (prefix === "" || isInField(event.target) || event.key === "Shift") return;
    const key = prefix + event.key;
    prefix = "";
    if (!runKey(KEYS, page, { key, shiftKey: false })) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const press = (event: KeyboardEvent) => {
    if (leaveField(event)) {
      event.preventDefault();
      return;
    }
    const isControl = event.ctrlKey || event.metaKey;
    if (event.altKey || (!isControl && isInField(event.target))) return;
    if (event.key === "g" && !isControl) {
      prefix = "g ";
      return;
    }
    const key = isControl ? `Control+${event.key}` : event.key;
    if (runKey(KEYS, page, { key, shiftKey: event.shiftKey })) event.preventDefault();
  };
  window.addEventListener("keydown", pressSecond, true);
  window.addEventListener("keydown", press);
  return () => {
    window.removeEventListener("keydown", pressSecond, true);
    window.removeEventListener("keydown", press);
  };
}
