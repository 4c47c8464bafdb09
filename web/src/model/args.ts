// SPDX-License-Identifier: Apache-2.0
// The order in which the arguments of an event are read.

/** Names of arguments that are numbers of something. */
const IDS = /(^|[ _])(id|idx|index|ordinal|correlation)s?$/i;

/** ARGS, but what an event says of itself before its ids. */
export function idsLast<T>(args: readonly (readonly [key: string, value: T])[]) {
  return [...args.filter(([key]) => !IDS.test(key)), ...args.filter(([key]) => IDS.test(key))];
}
