// SPDX-License-Identifier: Apache-2.0
// Lists of numbers as --rank and --span have them: "0-3,7".

interface NumberRange {
  readonly first: number;
  readonly last: number;
}

function rangesOf(list: string): NumberRange[] {
  return list.split(",").flatMap((word) => {
    const [, first, last = first] = /^\s*(\d+)(?:-(\d+))?\s*$/.exec(word) ?? [];
    return first === undefined ? [] : [{ first: Number(first), last: Number(last) }];
  });
}

/** Whether N is in LIST; in "" is every number. */
export function hasNumber(list: string, n: number): boolean {
  return list === "" || rangesOf(list).some(({ first, last }) => first <= n && n <= last);
}

/** EXPR of --where for rows whose COLUMN is in LIST; "" for all. */
export function whereIn(column: string, list: string): string {
  return rangesOf(list)
    .map(({ first, last }) =>
      first === last ? `${column} = ${first}` : `${column} between ${first} and ${last}`,
    )
    .join(" or ");
}
