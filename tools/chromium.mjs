// SPDX-License-Identifier: Apache-2.0
// Chromium, and programs that say where they listen: for tests of the page, benches and pictures.
// Needs what `npm ci` puts into web/.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The tree. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
/** For packages of the page. */
export const require = createRequire(join(root, "web/package.json"));
const { chromium } = require("playwright-core");
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A browser that asks nobody but the page. */
export function launch(executablePath = "/usr/bin/chromium") {
  return chromium.launch({ executablePath, args: FLAGS });
}

/**
 * Start PROGRAM, and wait until WHAT is in what it says: its first group is the address. Rejected if
 * the program ends before.
 */
export function startUntil(program, args, what, env = process.env) {
  const child = spawn(program, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  return new Promise((done, fail) => {
    let said = "";
    child.stderr.on("data", (bytes) => {
      said += bytes;
      const found = what.exec(said);
      if (found) done({ address: found[1], stop: () => child.kill(), said: () => said });
    });
    child.on("error", fail);
    child.on("exit", () => fail(new Error(`${program} ended: ${said.slice(-2000)}`)));
  });
}

/** Start `opscope view` of ARGS. */
export function serve(opscope, args) {
  return startUntil(opscope, ["view", "--port", "0", ...args], /view: (http:\S+)/);
}
