#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Build the page and write its files as a C table (src/serve/assets.h).

    embed.py WEB PAGE OUT.c TEMPLATE.c OUT.d
    embed.py --packages WEB

TEMPLATE.c gets the page as one file (src/page/template.h). WEB has the sources of the page, and
gets its node_modules; PAGE is where it is built. Where Node 18
or later or npm is missing, or packages cannot be fetched, a note says so and the table is empty: the
program is whole but for the page. --packages says whether node_modules has what the lock file names;
if not, it ends with status 1 and names the command that fetches it. OUT.d names what the table depends on, for Ninja. A file whose name
has a hash (app-0123abcd.js) never changes under its name. A file beside it that is called the same
and .br or .gz is the same, compressed.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".json": "application/json; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
PACKED = (".br", ".gz")  # in the order of enum osc_coding
HASHED = re.compile(r"-[0-9A-Za-z]{8,}\.\w+$")


def files_of(folder):
    found = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix not in PACKED)
    for path in found:
        if path.suffix not in TYPES:
            sys.exit(f"{path}: no type is known for {path.suffix}")
        if not re.fullmatch(r"[\w./-]+", path.relative_to(folder).as_posix()):
            sys.exit(f"{path}: a name of the page must not need quoting")
    return found


def array(name, data):
    """The lines of an array of DATA, which has a byte if DATA has none."""
    lines = [
        "    " + ",".join(str(b) for b in data[at : at + 24]) + ","
        for at in range(0, len(data), 24)
    ]
    return [f"{name}[] = {{", *(lines or ["    0,"]), "};"]


def template(data):
    return "\n".join(
        [
            "/* Written by tools/embed.py. */",
            '#include "page/template.h"',
            "",
            *array("const unsigned char osc_template", data),
            f"const size_t osc_template_bytes = {len(data)};",
            "",
        ]
    )


def table(folder, paths):
    out = ["/* Written by tools/embed.py. */", '#include "serve/assets.h"', ""]
    rows = []
    for i, path in enumerate(paths):
        data = path.read_bytes()
        out += array(f"static const unsigned char asset_{i}", data)
        name = path.relative_to(folder).as_posix()
        url = "/" if name == "index.html" else "/" + name
        kept = "true" if HASHED.search(name) else "false"
        packed = []
        for suffix in PACKED:
            beside = path.with_name(path.name + suffix)
            less = beside.read_bytes() if beside.is_file() else data
            if len(less) < len(data):
                out += array(f"static const unsigned char asset_{i}_{suffix[1:]}", less)
                packed.append(f"{{asset_{i}_{suffix[1:]}, {len(less)}}}")
            else:
                packed.append("{NULL, 0}")
        rows.append(
            f'    {{"{url}", "{TYPES[path.suffix]}", asset_{i}, {len(data)}, {kept},\n'
            f"     {{{', '.join(packed)}}}}},"
        )
    out += ["const struct osc_asset osc_assets[] = {", *rows, "    {.path = NULL},", "};", ""]
    return "\n".join(out)


def run(folder, *words):
    """Run a command; returns the end of what it said if it failed, else None."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return (
        None if done.returncode == 0 else (done.stdout + done.stderr).strip()[-400:] or "failed"
    )


def has_packages(web):
    """Whether web/node_modules agrees with the lock file."""
    lock, have = web / "package-lock.json", web / "node_modules" / ".package-lock.json"
    return have.is_file() and have.stat().st_mtime >= lock.stat().st_mtime


def fetch_packages(web):
    """Make web/node_modules agree with the lock file; returns why it does not, or None."""
    if has_packages(web):
        return None
    if not shutil.which("npm"):
        return "npm is not there"
    # What tests need stays where it was.
    less = [] if (web / "node_modules" / "typescript").is_dir() else ["--omit=dev"]
    return run(web, "npm", "ci", *less, "--no-audit", "--no-fund", "--ignore-scripts")


def build(web, page, one):
    """Returns why there is no page, or None."""
    if not shutil.which("node"):
        return "node is not there"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False)
    found = re.match(r"v(\d+)", version.stdout)
    if not found or int(found[1]) < 18:
        return f"node 18 or later is needed, this is {version.stdout.strip()}"
    return fetch_packages(web) or run(
        web, "node", "build.mjs", "--out", os.fspath(page), "--one", os.fspath(one)
    )


def main():
    if sys.argv[1] == "--packages":
        web = pathlib.Path(sys.argv[2])
        if not has_packages(web):
            sys.exit(
                f"{web}/node_modules lacks packages of {web}/package-lock.json: "
                f"npm ci --omit=dev --ignore-scripts --prefix {web}"
            )
        return
    web, page, to, to_template, depends = (pathlib.Path(p).absolute() for p in sys.argv[1:6])
    one = page.with_name(page.name + ".html")
    shutil.rmtree(page, ignore_errors=True)
    why_not = build(web, page, one)
    if why_not:
        print(f"note: opscope view will have no page: {why_not}", file=sys.stderr)
    to.write_text(table(page, [] if why_not else files_of(page)))
    to_template.write_text(template(b"" if why_not else one.read_bytes()))
    sources = [
        web / "build.mjs",
        web / "package-lock.json",
        web / "src",
        *sorted((web / "src").rglob("*")),
    ]
    depends.write_text(
        f"{sys.argv[3]} {sys.argv[4]}: " + " ".join(os.fspath(p) for p in sources) + "\n"
    )


main()
