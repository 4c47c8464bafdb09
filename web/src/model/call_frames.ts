// SPDX-License-Identifier: Apache-2.0
// Call stacks as a column has them: frames with `;` between them, innermost first, most of them
// `file(line): function`.

export interface CallFrame {
  readonly text: string;
  readonly function: string;
  /** file:line as editors take it; "": the frame has no place in a file. */
  readonly place: string;
  /** The address that opens the place in VS Code; "": the path says not where the file is. */
  readonly link: string;
}

/** The address that opens LINE of FILE in VS Code; "": FILE is no absolute path. */
export function editorLink(file: string, line: string): string {
  const isWindows = /^[a-z]:[\\/]/i.test(file);
  if (!isWindows && !/^\/[^/]/.test(file)) return "";
  const path = isWindows ? `/${file.replaceAll("\\", "/")}` : file;
  const words = path.split("/").map(encodeURIComponent).join("/");
  return `vscode://file${isWindows ? words.replace("%3A", ":") : words}:${line}`;
}

export function framesOf(stack: string): CallFrame[] {
  return stack
    .split(";")
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .map((text) => {
      const [, file, line, name] = /^(.+)\((\d+)\): (.+)$/.exec(text) ?? [];
      if (file === undefined || line === undefined || name === undefined)
        return { text, function: text, place: "", link: "" };
      return { text, function: name, place: `${file}:${line}`, link: editorLink(file, line) };
    });
}
