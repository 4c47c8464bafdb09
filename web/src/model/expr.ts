// SPDX-License-Identifier: Apache-2.0
// Expressions of --where, from what is written into a field.

/** TEXT as a string of an EXPR of --where. */
export function quote(text: string): string {
  return `'${text.replace(/'/g, "''")}'`;
}

/** Whether TEXT, which is searched, is = and an EXPR of --where. */
export function isExpression(text: string): boolean {
  return text.startsWith("=") && text.slice(1).trim() !== "";
}

/** WHERE of the command for rows whose column NAME has TEXT, or matches /TEXT/; of =EXPR that. */
export function whereOf(name: string, text: string): string {
  if (isExpression(text)) return `(${text.slice(1)})`;
  const pattern = /^\/(.*)\/$/.exec(text);
  if (pattern) return `${name} regexp ${quote(pattern[1] ?? "")}`;
  const literal = text.replace(/[\\%_]/g, "\\$&");
  return `${name} like ${quote(`%${literal}%`)}${literal === text ? "" : " escape '\\'"}`;
}

/** The same for rows of which any of COLUMNS has TEXT. */
export function whereOfAny(columns: readonly string[], text: string): string {
  if (isExpression(text)) return whereOf("", text);
  return columns.map((name) => whereOf(name, text)).join(" or ");
}
