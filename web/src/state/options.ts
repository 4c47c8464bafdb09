// SPDX-License-Identifier: Apache-2.0
// From the state of the page to the options of `opscope table`, which the server and the command
// read alike: so the status line can show what prints the same.

import type { CatalogTable, Options } from "../api/api.ts";
import { type Place, parseBase } from "./url.ts";

/** The options of the selection of PLACE: what all tables of a view have in common. */
export function selectionOptions(place: Place): Options {
  const options: Record<string, string | true> = {};
  if (place.run !== "") options.run = place.run;
  if (place.rank !== "") options.rank = place.rank;
  if (place.span !== "") options.span = place.span;
  if (place.process !== "") options.process = place.process;
  if (place.steps !== "") options.steps = place.steps;
  const range = place.t;
  if (range !== null) {
    options.from = `${range.from}ns`;
    options.to = `${range.to}ns`;
  }
  return options;
}

/** What says with what a run is compared, by CMP of the address. */
export function baseOptions(cmp: string): Options {
  const { run, rank, span } = parseBase(cmp);
  return {
    base: run,
    ...(rank !== "" && { "base-rank": rank }),
    ...(span !== "" && { "base-span": span }),
  };
}

/** The same for tables of all steps and all of the time. */
export function allTimeOptions(place: Place): Options {
  return selectionOptions({ ...place, steps: "", t: null });
}

/** The same for tables that compare ranks with each other, and need all of them. */
export function allRanksOptions(place: Place): Options {
  return selectionOptions({ ...place, rank: "" });
}

/** The same for tables whose rows are summed over all ranks and spans. */
export function mergedOptions(place: Place): Options {
  return { ...selectionOptions(place), merge: true };
}

/** How PLACE wants TABLE to count steps, as far as it can. */
export function stepOptions(place: Place, table: CatalogTable | undefined): Options {
  const options: Record<string, string | true> = {};
  const takes = (name: string) => table?.options.includes(name) === true;
  if (place.priority !== "" && takes("priority")) options.priority = place.priority;
  if (place.length !== "" && takes("step-length")) options["step-length"] = place.length;
  if (place.kept === "all" && takes("all-steps")) options["all-steps"] = true;
  return options;
}
