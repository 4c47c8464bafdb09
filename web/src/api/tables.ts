// SPDX-License-Identifier: Apache-2.0
// Names of tables and columns as types, from the catalog (tools/page_types.py): one that does not
// exist does not compile.

import type { Tables } from "../../gen/tables.ts";

export type TableName = keyof Tables;

/** The columns of table T; of several tables, those that all of them have. */
export type ColumnOf<T extends TableName> = keyof Tables[T] & string;

/** A row of T: the values that it has as texts. */
export type TextsOf<T extends TableName> = { readonly [C in ColumnOf<T>]?: string };

/** Of each table its columns with numbers. */
type Numbers = {
  readonly [T in TableName]: {
    readonly [C in ColumnOf<T> as Tables[T][C] extends "integer" | "number" ? C : never]: true;
  };
};

/** Those of T with numbers. */
export type NumberOf<T extends TableName> = keyof Numbers[T] & string;

/** NAME, a table that only the catalog of the server knows: of its rows all columns are read by
 * names that are known only then (Frame.find). */
export function tableNamed(name: string): TableName {
  return name as TableName;
}
