// SPDX-License-Identifier: Apache-2.0
// Some of the rows of a table that the server wrote as text, to the byte.

/** The records of CSV, each with its end of line; quoted fields may have lines in them. */
function csvRecords(text: string): string[] {
  const records: string[] = [];
  let from = 0;
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 34) isQuoted = !isQuoted;
    else if (c === 10 && !isQuoted) {
      records.push(text.slice(from, i + 1));
      from = i + 1;
    }
  }
  if (from < text.length) records.push(text.slice(from));
  return records;
}

/** TEXT in FORMAT with the head and, of its rows, only ROWS. */
export function pickRows(text: string, format: string, rows: ReadonlySet<number>): string {
  if (format === "csv") {
    const [head = "", ...body] = csvRecords(text);
    return head + body.filter((_, i) => rows.has(i)).join("");
  }
  if (format === "md") {
    const lines = text.split(/(?<=\n)/);
    const first = 2;
    const end = lines.findIndex((line, i) => i >= first && !line.startsWith("|"));
    const last = end < 0 ? lines.length : end;
    return lines.filter((_, i) => i < first || i >= last || rows.has(i - first)).join("");
  }
  const mark = '\n "rows": [\n';
  const at = text.indexOf(mark);
  if (at < 0) return text;
  const lines = text.slice(at + mark.length).split("\n");
  const body = lines.filter((line) => line.startsWith("  ["));
  const chosen = body.filter((_, i) => rows.has(i)).map((line) => line.replace(/(,|\]\})$/, ""));
  return `${text.slice(0, at)}${mark}${chosen.join(",\n")}]}\n`;
}
