// SPDX-License-Identifier: Apache-2.0

/** NAME in at most MOST characters: its middle is cut, as both ends tell names apart. */
export function shorten(name: string, most = 56): string {
  const text = name.replace(/\s+/g, " ");
  if (text.length <= most) return text;
  const head = Math.ceil((most - 1) * 0.6);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}

/** NAME, which is in full a title, as a chart has it; TAIL tells it from others of the same name. */
export function shortLabel(name: string, tail: string): string {
  const text = foldKernel(name);
  return tail === "" ? shorten(text) : `${shorten(text, 24)} ${shorten(tail, 32)}`;
}

/** A signature of C++ without what it returns and takes; other names stay as they are. */
export function foldKernel(name: string): string {
  if (!name.startsWith("void ")) return name;
  let depth = 0;
  for (let i = 5; i < name.length; i++) {
    const c = name[i];
    if (c === "<") depth++;
    else if (c === ">" && name[i - 1] !== "-") depth--;
    else if (c === "(" && depth === 0) {
      if (name.startsWith("(anonymous namespace)", i)) i += 20;
      else return name.slice(5, i);
    }
  }
  return name.slice(5);
}
