// SPDX-License-Identifier: Apache-2.0
// Which branches of a tree are shut, as the address has it: lines of text, the first one the number
// of levels that are open ("": all), the others paths that are open or shut against that.

import type { Frame } from "../api/cols.ts";
import { quote } from "./expr.ts";

export interface Fold {
  /** Levels that are shown at first; null: all. */
  readonly levels: number | null;
  /** Places that are open although they are deeper, or shut although they are not. */
  readonly toggled: readonly string[];
}

export function parseFold(text: string): Fold {
  const [levels = "", ...toggled] = text.split("\n");
  return { levels: /^[1-9]\d?$/.test(levels) ? Number(levels) : null, toggled };
}

export function formatFold({ levels, toggled }: Fold): string {
  return levels === null && toggled.length === 0 ? "" : [levels ?? "", ...toggled].join("\n");
}

/** By path: how deep the places of FRAME are that have others inside. */
export function branchesOf(frame: Frame<"modules">): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (let row = 0; row + 1 < frame.n; row++) {
    const depth = frame.at(row, "depth") ?? 0;
    if ((frame.at(row + 1, "depth") ?? 0) > depth) found.set(frame.text(row, "path"), depth);
  }
  return found;
}

/** Whether the place PATH at DEPTH shows what is inside. */
export function isOpen(fold: Fold, path: string, depth: number): boolean {
  const isShown = fold.levels === null || depth < fold.levels - 1;
  return isShown !== fold.toggled.includes(path);
}

/** FOLD with the other state of PATH; what was opened inside of it is shut again. */
export function toggle(fold: Fold, path: string): Fold {
  const rest = fold.toggled.filter((one) => one !== path && !one.startsWith(`${path}/`));
  return { ...fold, toggled: fold.toggled.includes(path) ? rest : [...rest, path] };
}

/** EXPR for the rows that FOLD shows; BRANCHES are those of the whole tree; "": all. */
export function whereOfFold(fold: Fold, branches: ReadonlyMap<string, number>): string {
  const levels = fold.levels ?? Number.POSITIVE_INFINITY;
  const isDeep = (path: string) => (branches.get(path) ?? 0) >= levels - 1;
  const terms = fold.toggled
    .filter((path) => branches.has(path) && !isDeep(path))
    .map((path) => `substr(path, 1, length(${quote(path)}) + 1) <> ${quote(`${path}/`)}`);
  if (fold.levels !== null) {
    const open = fold.toggled.filter((path) => branches.has(path) && isDeep(path)).map(quote);
    const parent = "substr(path, 1, length(path) - length(name) - 1)";
    const inside = open.length > 0 ? ` or ${parent} in (${open.join(", ")})` : "";
    terms.push(`(depth < ${fold.levels}${inside})`);
  }
  return terms.join(" and ");
}
