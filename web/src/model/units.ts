// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them: a column has one unit, that of its largest value, and three
// decimals, so that points align and length shows size.

export interface Unit {
  /** As in the head of a column; "": none. */
  readonly label: string;
  readonly divisor: number;
  readonly decimals: number;
}

const TIMES: readonly Unit[] = [
  { label: "s", divisor: 1e9, decimals: 3 },
  { label: "ms", divisor: 1e6, decimals: 3 },
  { label: "us", divisor: 1e3, decimals: 3 },
  { label: "ns", divisor: 1, decimals: 0 },
];

const SIZES: readonly Unit[] = [
  { label: "GiB", divisor: 2 ** 30, decimals: 3 },
  { label: "MiB", divisor: 2 ** 20, decimals: 3 },
  { label: "KiB", divisor: 2 ** 10, decimals: 3 },
  { label: "B", divisor: 1, decimals: 0 },
];

const RATIO: Unit = { label: "%", divisor: 0.01, decimals: 1 };
const WHOLE: Unit = { label: "", divisor: 1, decimals: 0 };
const NUMBER: Unit = { label: "", divisor: 1, decimals: 3 };

/** The unit for values of the catalog's UNIT of which LARGEST is the largest absolute one. */
export function unitFor(unit: string | null, isInteger: boolean, largest: number): Unit {
  if (unit === "ns") return TIMES.find((u) => largest >= u.divisor) ?? TIMES[3]!;
  if (unit === "bytes") return SIZES.find((u) => largest >= u.divisor) ?? SIZES[3]!;
  if (unit === "ratio") return RATIO;
  const plain = isInteger ? WHOLE : NUMBER;
  return unit ? { ...plain, label: unit } : plain;
}

const MINUS = "\u2212";
const THIN_SPACE = "\u202f";

/** VALUE in UNIT, without its label: 12 346, 44.2, and a true minus. */
export function formatIn(value: number, unit: Unit): string {
  const text = Math.abs(value / unit.divisor).toFixed(unit.decimals);
  const [whole = "0", decimals] = text.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, THIN_SPACE);
  const sign = value < 0 && Number(text) !== 0 ? MINUS : "";
  return sign + grouped + (decimals === undefined ? "" : `.${decimals}`);
}

/** VALUE in the unit that suits it alone, with its label. */
export function format(value: number, unit: string | null, isInteger = true): string {
  const u = unitFor(unit, isInteger, Math.abs(value));
  const text = formatIn(value, u);
  return u.label === "" ? text : `${text}\u00a0${u.label}`;
}

export function formatTime(ns: number): string {
  return format(ns, "ns");
}
