#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the files of the built page as a C table (src/serve/assets.h).

    embed.py FOLDER OUT.c OUT.d

FOLDER need not exist: the table is empty then. OUT.d names what the table depends on, for Ninja.
A file whose name has a hash (app-0123abcd.js) never changes under its name.
"""
import os
import pathlib
import re
import sys

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png",
         ".json": "application/json; charset=utf-8", ".txt": "text/plain; charset=utf-8"}
HASHED = re.compile(r"-[0-9A-Za-z]{8,}\.\w+$")


def files_of(folder):
    found = sorted(p for p in folder.rglob("*") if p.is_file())
    for path in found:
        if path.suffix not in TYPES:
            sys.exit(f"{path}: no type is known for {path.suffix}")
        if not re.fullmatch(r"[\w./-]+", path.relative_to(folder).as_posix()):
            sys.exit(f"{path}: a name of the page must not need quoting")
    return found


def table(folder, paths):
    out = ["/* Written by tools/embed.py. */", '#include "serve/assets.h"', ""]
    rows = []
    for i, path in enumerate(paths):
        data = path.read_bytes()
        out.append(f"static const unsigned char asset_{i}[] = {{")
        for at in range(0, len(data), 24):
            out.append("    " + ",".join(str(b) for b in data[at:at + 24]) + ",")
        if not data:
            out.append("    0,")
        out.append("};")
        name = path.relative_to(folder).as_posix()
        url = "/" if name == "index.html" else "/" + name
        kept = "true" if HASHED.search(name) else "false"
        rows.append(f'    {{"{url}", "{TYPES[path.suffix]}", asset_{i}, {len(data)}, {kept}}},')
    out += ["const struct osc_asset osc_assets[] = {", *rows, "    {.path = NULL},", "};", ""]
    return "\n".join(out)


def main():
    folder, to, depends = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    there = folder.is_dir() and (folder / "index.html").is_file()
    paths = files_of(folder) if there else []
    seen = [folder, *(p for p in folder.rglob("*"))] if folder.is_dir() else \
        [next(p for p in folder.parents if p.is_dir())]
    pathlib.Path(to).write_text(table(folder, paths))
    pathlib.Path(depends).write_text(f"{to}: " + " ".join(os.fspath(p) for p in seen) + "\n")


main()
