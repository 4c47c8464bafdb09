// SPDX-License-Identifier: Apache-2.0
// Which row is open, as the address has it: sel=name:KIND:NAME, or, of an operator with inputs of
// one shape only, sel=shape:SHAPE:NAME.

export interface Opened {
  readonly name: string;
  /** Sizes of the inputs as column input_shape has them; absent: of all shapes. */
  readonly shape?: string;
}

export function selOfOpened(kind: string, { name, shape }: Opened): string {
  if (shape === undefined) return `name:${kind}:${name}`;
  // What ends the shape is not in it.
  return `shape:${shape.replace(/[%:]/g, encodeURIComponent)}:${name}`;
}

/** What SEL opens among rows of KIND; undefined: nothing. */
export function openedOf(kind: string, sel: string): Opened | undefined {
  const [, word, rest] = /^(name|shape):(.*)$/s.exec(sel) ?? [];
  if (word === "name" && rest?.startsWith(`${kind}:`)) return { name: rest.slice(kind.length + 1) };
  const [, shape, name] = (word === "shape" && /^([^:]*):(.*)$/s.exec(rest ?? "")) || [];
  if (kind !== "operator" || shape === undefined || name === undefined) return undefined;
  try {
    return { name, shape: decodeURIComponent(shape) };
  } catch {
    return undefined;
  }
}
