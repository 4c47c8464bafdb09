// SPDX-License-Identifier: Apache-2.0
// Bundle the page into DIR (dist): index.html, and a script and a style sheet whose names have
// their hashes.
//
//     node build.mjs [--out DIR]    the page
//     node build.mjs --tests        its unit tests, into dist-tests/
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
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

async function buildPage(out) {
  const result = await build({
    ...shared,
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
const out = isTests ? join(here, "dist-tests") : at >= 0 ? words[at + 1] : join(here, "dist");
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
await (isTests ? buildTests() : buildPage(out));
