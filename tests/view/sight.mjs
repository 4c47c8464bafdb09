// SPDX-License-Identifier: Apache-2.0
// What is in sight before anything is chosen: words that are whole, columns that say something, bars
// that can be told apart.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, compare, data, folder, hashOf, rowsOf, settle, start, withView } from "./browser.mjs";

const demo = join(data, "demo.pt.trace.json.gz");
const small = join(data, "small.json");

/** Whether all words of the rail are whole in a window of WIDTH. */
async function testRail(page, width) {
  await page.setViewportSize({ width, height: 768 });
  const cut = await page.$$eval(".rail a", (list) =>
    list.filter((a) => a.scrollWidth > a.clientWidth).map((a) => a.textContent),
  );
  check(cut.length === 0, `the rail cuts ${cut} at ${width} pixels`);
}

/** The columns of the grid, by the names of their cells, from the left. */
function columnsOf(page) {
  return page.$$eval(".grid .row[aria-rowindex='2'] .cell", (list) =>
    list.map((e) => e.dataset.c ?? "missing"),
  );
}

/** Without device work there are no columns of it, until they are chosen. */
async function testNoDevices(page) {
  const columns = await columnsOf(page);
  const of = columns.filter((name) => /device|^tc_/.test(name));
  check(columns.includes("host_self_ns") && of.length === 0, `no devices: ${columns}`);
  await page.click(".columns-menu summary");
  await page.click(".columns-menu label:has-text('device_self_ns') input");
  await settle(page);
  check((await columnsOf(page)).includes("device_self_ns"), "a column of devices can be chosen");
  await compare(page, "a column of devices");
}

/** A trace of a module with N others inside, and a module in the last one. */
function makeDeep(n) {
  const path = join(folder, "deep.json");
  const traceEvents = [];
  const module = (id, name, ts, dur, parent) =>
    traceEvents.push({
      ...{ ph: "X", name: `nn.Module: ${name}`, cat: "python_function", pid: 1, tid: 1, ts, dur },
      args: { "Python id": id, "Python module id": 0, "Python parent id": parent },
    });
  module(1, "AVeryLongNameOfAModel_0", 0, 100 * n + 10, null);
  for (let i = 0; i < n; i++) module(i + 2, `AnAttentionLayerWithALongName_${i}`, 100 * i, 90 + i, 1);
  module(n + 2, "Linear_0", 100 * n - 90, 20, n + 1);
  writeFileSync(path, JSON.stringify({ traceEvents }));
  return path;
}

/** The tree of modules has names and numbers in sight; sorted rows say where they are. */
async function testModules(page) {
  const columns = await columnsOf(page);
  check(columns[0] === "name" && columns[1] === "calls", `the tree begins with ${columns}`);
  const cell = page.locator(".grid .cell[data-c='name']").last();
  const title = await cell.getAttribute("title");
  check(/^AVeryLongNameOfAModel_0\/AnAttention/.test(title), `the path is its title: ${title}`);
  const inSight = await page.$eval(".grid .cell[data-c='host_self_ns']", (e) => {
    const box = e.getBoundingClientRect();
    return box.right <= e.closest(".grid").getBoundingClientRect().right;
  });
  check(inSight, "times are in sight");
  const widths = await page.$$eval(".ranked tbody tr", (rows) =>
    rows.map((row) => row.querySelector(".ranked-bar").getBoundingClientRect().width),
  );
  check(widths[0] >= widths.at(-1) && widths[0] > 30, `other leaves room for rows: ${widths}`);
  const isCut = await page.locator(".ranked tr:last-child .ranked-bar.cut").count();
  check(isCut > 0, "a bar that is cut looks so");
  await compare(page, "a deep tree");
  await page.click(".grid [role=columnheader] button:has-text('host self')");
  await settle(page);
  const sorted = await columnsOf(page);
  check(sorted[0] === "name" && sorted.at(-1) === "path", `sorted rows have ${sorted}`);
  check((await hashOf(page)).includes("sort=-host_self_ns"), "they are sorted");
}

/** What was found and what to do about it is there whole, however long and narrow. */
async function testRemedies(page) {
  await page.setViewportSize({ width: 880, height: 600 });
  const rows = await rowsOf(`opscope table quality ${small} --merge`);
  const longest = Math.max(...rows.map((row) => row.remedy.length));
  check(longest > 80, `the longest remedy has ${longest} characters`);
  const parts = await page.$$eval(".advice li", (list) =>
    list.map((item) => ({
      text: item.innerText,
      isCut: [item, ...item.querySelectorAll("*")].some(
        (e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline",
      ),
      right: item.getBoundingClientRect().right,
    })),
  );
  check(parts.length === rows.length, `${parts.length} findings of ${rows.length}`);
  for (const [i, { text, isCut, right }] of parts.entries()) {
    const { message, remedy } = rows[i] ?? {};
    check(text.includes(message) && text.includes(remedy), `finding ${i} is '${text}'`);
    check(!isCut && right <= 880, `'${text}' is cut`);
  }
  await compare(page, "findings");
}

export async function testSight(browser) {
  const server = await start([demo]);
  await withView(browser, server, "operators", async (page) => {
    for (const width of [1280, 1024, 880]) await testRail(page, width);
  });
  await withView(browser, server, "operators", testNoDevices);
  server.stop();
  const found = await start([small]);
  await withView(browser, found, "quality", testRemedies);
  found.stop();
  const deep = await start([makeDeep(40)]);
  await withView(browser, deep, "modules", testModules);
  deep.stop();
}
