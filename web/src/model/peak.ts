// SPDX-License-Identifier: Apache-2.0

export interface Owner {
  readonly operator: string;
  readonly bytes: number;
  readonly count: number;
}

/** What was alive at a peak: TEXT is the column `at_peak` of `memory_peaks`. */
export function peakOwners(text: string): Owner[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return [];
  }
  if (!Array.isArray(list)) return [];
  return list.filter(
    (o): o is Owner => typeof o?.operator === "string" && typeof o?.bytes === "number",
  );
}
