// SPDX-License-Identifier: Apache-2.0
// What the filter of a table looks at: the names of rows, and whose they are.

interface SearchedColumn {
  readonly name: string;
  readonly type: string;
  readonly group_by: string | null;
}

const NAMES = ["name", "operator", "module"];

/** The columns with text that tell rows apart, of a table that is grouped by GROUPS, which have
 * commas between them; without one that is known as such, the first. */
export function searchedColumns(columns: readonly SearchedColumn[], groups: string): string[] {
  const texts = columns.filter((c) => c.type === "string");
  const hasName = texts.some((c) => c.name === "name");
  const words = groups.split(",");
  // A table of operators is grouped by them unless it says by what.
  const isThere = ({ name, group_by }: SearchedColumn) =>
    group_by === null ||
    words.includes(group_by) ||
    (groups === "" && !hasName && name === "operator");
  const there = texts.filter(isThere).map((c) => c.name);
  const known = NAMES.filter((name) => there.includes(name));
  return known.length > 0 ? known : there.slice(0, 1);
}

/** By what a table, grouped by GROUPS, must be grouped so that operators can be searched, too; "":
 * they are searched, or it has none. */
export function groupingOfOperators(columns: readonly SearchedColumn[], groups: string): string {
  const operator = columns.find((c) => c.name === "operator");
  if (!operator || searchedColumns(columns, groups).includes("operator")) return "";
  return operator.group_by ?? "";
}
