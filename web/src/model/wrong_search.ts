// SPDX-License-Identifier: Apache-2.0
// A search or a filter that cannot be read: what is wrong with it, and what one can do on the page.

import type { ApiProblem, CatalogTable } from "../api/api.ts";
import type { Question } from "../api/question.ts";

const PATTERN = /the pattern \/.*\/ is wrong/s;

function isWrong({ code, message }: ApiProblem): boolean {
  return code === "bad_request" && (message.startsWith("--where") || PATTERN.test(message));
}

/** What PROBLEM says is wrong with what is searched; null: nothing. */
export function wrongSearch(problem: ApiProblem | null): string | null {
  return problem !== null && isWrong(problem) ? problem.message : null;
}

/** The columns that an expression can name in QUESTION; null: it is about none of TABLES. */
function columnsOf({ table: name, options }: Question, tables: readonly CatalogTable[]) {
  const table = tables.find((one) => one.name === name);
  if (table === undefined) return null;
  const groups = String(options["group-by"] ?? "").split(",");
  const there = table.columns.filter(
    ({ group_by }) => group_by === null || groups.includes(group_by),
  );
  return `The columns of ${name} are ${there.map((column) => column.name).join(", ")}`;
}

/** What can be done about PROBLEM on the page, which knows TABLES; null: nothing is known. */
export function adviceOn(problem: ApiProblem, tables: readonly CatalogTable[]): string | null {
  if (!isWrong(problem)) return problem.what_to_do;
  if (PATTERN.test(problem.message))
    return "Correct the pattern, or write text without the slashes.";
  const columns = problem.question ? columnsOf(problem.question, tables) : null;
  if (columns === null) return problem.what_to_do;
  return `Correct the expression. ${columns}; times are written us(10) or ms(2), sizes mib(1).`;
}
