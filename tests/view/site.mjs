// SPDX-License-Identifier: Apache-2.0
// step: site-browser
// args: --python {site} --out {logs}/site-browser
// needs: browser
// turn: 6
/*
 * Open the site of docs from the disk in a browser, at pixel ratios 1 and 2: its search finds known words,
 * its links work, and no page is wider than the window.
 *
 *     node tests/view/site.mjs --python PYTHON --out FOLDER
 */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { launch, root } from "../../tools/chromium.mjs";

const { values } = parseArgs({ options: { python: { type: "string" }, out: { type: "string" } } });
const out = path.resolve(values.out);
let passed = 0;
let failed = 0;

function check(what, isTrue) {
    if (isTrue) passed++;
    else {
        failed++;
        console.log(`failed: ${what}`);
    }
}

const made = spawnSync(values.python, [path.join(root, "tools/make_site.py"), out], { encoding: "utf8" });
check(`the site is made: ${made.stdout}${made.stderr}`, made.status === 0);
const browser = await launch();
for (const ratio of [1, 2]) {
    const context = await browser.newContext({
        deviceScaleFactor: ratio,
        viewport: { width: 900, height: 1000 },
    });
    const page = await context.newPage();
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    page.on("pageerror", (error) => check(`no error: ${error}`, false));
    await page.goto(pathToFileURL(path.join(out, "index.html")).href);
    await page.waitForURL("**/docs/README.html");
    for (const [words, title] of [
        ["stragglers skew", "One rank is late"],
        ["glossary straggler", "Glossary"],
        ["half a step slow", "Tutorial"],
    ]) {
        await page.fill("input", words);
        const titles = await page.locator("#found a").allTextContents();
        check(`${words} finds ${title}: ${titles}`, titles.some((x) => x.startsWith(title)));
    }
    await page.fill("input", "glossary zzqx");
    check("nothing is found for unknown words", (await page.locator("#found a").count()) === 0);
    await page.fill("input", "glossary straggler");
    await page.click("#found a >> nth=0");
    check("a hit opens", (await page.locator("h1").count()) > 0);
    for (const name of ["docs/README", "docs/tutorial", "docs/versions", "docs/tasks/late_rank", "README"]) {
        await page.goto(pathToFileURL(path.join(out, `${name}.html`)).href);
        const wide = await page.evaluate(
            () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
        );
        check(`${name} fits the window`, !wide);
        await page.screenshot({ path: path.join(out, `${path.basename(name)}-${ratio}.png`) });
    }
    check("nothing is asked of a server", asked.every((x) => x.startsWith("file:")));
    await context.close();
}
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
