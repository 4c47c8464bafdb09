// SPDX-License-Identifier: Apache-2.0
// Bundle the page into DIR (dist): index.html, and a script and a style sheet whose names have
// their hashes; each of them once more as .br and .gz, to be sent so.
//
//     node build.mjs [--out DIR] [--one FILE]    the page; FILE: the page as one file, where the
//                                                command puts a title and data for its marks
//     node build.mjs --tests        its unit tests, into dist-tests/
//     node build.mjs --packages     prints which packages are in the page, one a line
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import zlib from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const words = process.argv.slice(2);
const shared = {
  absWorkingDir: here,
  bundle: true,
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  logLevel: "warning",
};

/** The packages that entry points bring into the page, by the paths of their files. */
async function packagesOf(entryPoints) {
  const made = await build({
    ...shared,
    entryPoints,
    outdir: join(here, "dist"),
    write: false,
    metafile: true,
  });
  const names = Object.keys(made.metafile.inputs)
    .map((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1])
    .filter(Boolean);
  return [...new Set(names)].sort();
}

/** A comment with the licences of what is in the page, which they want in each copy of it. */
async function noticesOf(entry) {
  const holders = new Map(); // of each text
  for (const name of await packagesOf([entry])) {
    const folder = join(here, "node_modules", name);
    const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const text = (await readFile(join(folder, "LICENSE"), "utf8")).replace(/\r/g, "");
    const holder = text.match(/^Copyright.*$/m)?.[0];
    if (!holder || text.includes("*/")) throw new Error(`${folder}/LICENSE: not understood`);
    const rest = text
      .replace(holder, "")
      .replace(/\n{3,}/g, "\n\n")
      .trim();
    const words = rest.replace(/\s+/g, " ");
    const names = holders.get(words)?.names ?? [];
    holders.set(words, { rest, names: [...names, `${name} ${version}: ${holder}`] });
  }
  const parts = [...holders.values()].map(({ rest, names }) => `${names.join("\n")}\n\n${rest}`);
  return `/*! This page contains:\n\n${parts.join("\n\n")}\n*/`;
}

async function buildPage(out) {
  const result = await build({
    ...shared,
    banner: { js: await noticesOf("src/main.tsx") },
    entryPoints: [{ in: "src/main.tsx", out: "app" }],
    entryNames: "[name]-[hash]",
    outdir: out,
    metafile: true,
    minify: true,
    target: ["es2022"],
    legalComments: "none",
  });
  const names = Object.keys(result.metafile.outputs).map((path) => basename(path));
  const script = names.find((name) => name.endsWith(".js"));
  const style = names.find((name) => name.endsWith(".css"));
  const page = await readFile(join(here, "src/index.html"), "utf8");
  await writeFile(
    join(out, "index.html"),
    page.replace("app.css", style).replace("app.js", script),
  );
  await pack(out, [script, style, "index.html"]);
}

/** Write the files NAMES of OUT again, as small as they can be. */
async function pack(out, names) {
  const { constants } = zlib;
  for (const name of names) {
    const data = await readFile(join(out, name));
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: data.length };
    await writeFile(join(out, `${name}.br`), zlib.brotliCompressSync(data, { params }));
    await writeFile(join(out, `${name}.gz`), zlib.gzipSync(data, { level: 9 }));
  }
}

/** The policy: what may be there, by its hash; all else is forbidden, requests too. */
function policyOf(script, style) {
  const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const policy =
    `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; ` +
    "img-src data: blob:; base-uri 'none'; form-action 'none'";
  return `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
}

async function buildOne(file) {
  const result = await build({
    ...shared,
    banner: { js: await noticesOf("src/one_file.tsx") },
    entryPoints: [{ in: "src/one_file.tsx", out: "app" }],
    outdir: dirname(file),
    write: false,
    minify: true,
    charset: "utf8",
    target: ["es2022"],
    legalComments: "none",
  });
  const [script, style] = [".js", ".css"].map((suffix) => {
    const found = result.outputFiles.find((made) => made.path.endsWith(suffix));
    if (/<!--|<\/(script|style)/i.test(found.text) || /@(TITLE|DATA)@/.test(found.text))
      throw new Error(`the ${suffix} of the page has text that ends it, or a mark`);
    return found.text;
  });
  const parts = [
    ['<meta charset="utf-8">', (meta) => `${meta}\n${policyOf(script, style)}`],
    ["<title>opscope</title>", () => "<title>@TITLE@</title>"],
    ['<link rel="stylesheet" href="app.css">', () => `<style>${style}</style>`],
    [
      '<script type="module" src="app.js"></script>',
      () =>
        '<script type="application/octet-stream" id="data">@DATA@</script>\n' +
        `<script type="module">${script}</script>`,
    ],
  ];
  let page = await readFile(join(here, "src/index.html"), "utf8");
  for (const [text, replace] of parts) {
    if (page.split(text).length !== 2) throw new Error(`index.html must have once: ${text}`);
    page = page.replace(text, replace);
  }
  await writeFile(file, page);
}

async function buildTests() {
  const files = await readdir(join(here, "src"), { recursive: true });
  await build({
    ...shared,
    entryPoints: files.filter((name) => /\.test\.tsx?$/.test(name)).map((name) => `src/${name}`),
    outdir: "dist-tests",
    platform: "node",
    outExtension: { ".js": ".mjs" },
    outbase: "src",
  });
}

const isTests = words.includes("--tests");
const at = words.indexOf("--out");
const one = words.indexOf("--one");
if (words.includes("--packages")) {
  console.log((await packagesOf(["src/main.tsx", "src/one_file.tsx"])).join("\n"));
} else {
  const out = isTests ? join(here, "dist-tests") : at >= 0 ? words[at + 1] : join(here, "dist");
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  await (isTests ? buildTests() : buildPage(out));
  if (one >= 0) await buildOne(words[one + 1]);
}
