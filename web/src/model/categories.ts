// SPDX-License-Identifier: Apache-2.0
/** The parts of a step, in the order of the table `overview`. */
export const CATEGORIES = [
  "kernel",
  "memcpy",
  "memset",
  "communication",
  "runtime",
  "dataloader",
  "cpu_exec",
  "other",
] as const;

export type Category = (typeof CATEGORIES)[number];
