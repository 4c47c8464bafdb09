#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: site
# with: {site}
# args: {logs}/site
"""Make a static site of docs, with an index and a search, and check that all its links resolve.

    python3 tools/make_site.py OUT

Pages are read by a browser from the disk (`file://`) or from any server; nothing is asked of others.
Links to files that are no page lead to copies of them. Exits with 1 if a link leads nowhere, or if the
search would not find a known word. Needs markdown-it-py.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import sys
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
TOP = ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
KNOWN = {
    "straggler": "glossary.html",
    "--bind_all": "SECURITY.html",
    "decode.patch": "tutorial.html",
}
LINK = re.compile(r'(href|src)="([^"]+)"')
STYLE = """
body { margin: 0 auto; max-width: 48rem; padding: 1rem; line-height: 1.5;
       font-family: system-ui, sans-serif; color: #1a1a1a; background: #fff }
header { display: flex; gap: 1rem; align-items: baseline; flex-wrap: wrap }
pre { overflow-x: auto; background: #f3f3f3; padding: .6rem; font-size: .85rem; line-height: 1.3 }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { border: 1px solid #ccc; padding: .2rem .5rem; text-align: left; vertical-align: top }
img { max-width: 100% }
input { font: inherit; padding: .2rem .5rem; flex: 1; min-width: 12rem }
@media (prefers-color-scheme: dark) {
    body { color: #e6e6e6; background: #16181c } pre { background: #22262c } a { color: #8ab4f8 }
    th, td { border-color: #444 } }
"""
# A page that has all words is found; those with words in the title come first.
SEARCH = """
const field = document.querySelector("input"), found = document.querySelector("#found");
field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
    const has = (text) => words.filter((w) => text.toLowerCase().includes(w)).length;
    const hits = words.length === 0 ? [] : PAGES.filter((p) => has(p.title + " " + p.text) === words.length);
    hits.sort((a, b) => has(b.title) - has(a.title));
    found.replaceChildren(...hits.slice(0, 20).map((p) => {
        const item = document.createElement("li"), link = document.createElement("a");
        link.href = document.body.dataset.root + p.path;
        link.textContent = p.title;
        item.append(link);
        return item;
    }));
});
"""
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><link rel="stylesheet" href="{root}style.css"></head>
<body data-root="{root}"><header><a href="{root}docs/README.html">opscope: all pages</a>
<input type="search" placeholder="Search" aria-label="Search"></header><ul id="found"></ul>
<main>{body}</main>
<script src="{root}pages.js"></script><script src="{root}search.js"></script></body></html>
"""


def anchor(title: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", title.strip().lower()).replace(" ", "-")


def pages() -> list[Path]:
    """All pages, from the root of the tree."""
    found = [Path(x) for x in TOP] + [
        p.relative_to(ROOT) for p in (ROOT / "docs").rglob("*.md")
    ]
    return sorted({*found, Path("src/table/rules.md"), Path("tests/data/README.md")})


def make(markdown: MarkdownIt, path: Path, known: set[Path], out: Path) -> tuple[str, str]:
    """Write the page PATH; returns its title and its text."""
    text = (ROOT / path).read_text(encoding="utf-8")
    tokens = markdown.parse(text)
    for token, inside in zip(tokens, tokens[1:]):
        if token.type == "heading_open":
            words = "".join(x.content for x in inside.children or ())
            token.attrSet("id", anchor(words))
    body = markdown.renderer.render(tokens, markdown.options, {})

    def lead(match: re.Match[str]) -> str:
        kind, link = match.groups()
        if re.match(r"[a-z]+:|#", link):
            return match[0]
        name, _, section = link.partition("#")
        target = Path(os.path.normpath(path.parent / name))
        if target in known:
            name = name[: -len(".md")] + ".html"
        elif (ROOT / target / "README.md").is_file() and target / "README.md" in known:
            name = name.rstrip("/") + "/README.html"
        elif (ROOT / target).exists():
            place = out / target
            place.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / target).is_dir():
                shutil.copytree(ROOT / target, place, dirs_exist_ok=True)
            else:
                shutil.copy(ROOT / target, place)
        return f'{kind}="{name}{"#" + section if section else ""}"'

    title = re.search(r"^# (.*)$", text, re.M)
    shown = title[1].replace("`", "") if title else path.name
    place = (out / path).with_suffix(".html")
    place.parent.mkdir(parents=True, exist_ok=True)
    page = PAGE.format(
        title=html.escape(shown), root="../" * len(path.parent.parts), body=LINK.sub(lead, body)
    )
    place.write_text(page, encoding="utf-8")
    return shown, re.sub(r"\s+", " ", text)


def dead_links(out: Path) -> list[str]:
    """Links of the site that lead to no file, or to no section of one."""
    dead = []
    texts = {p.resolve(): p.read_text(encoding="utf-8") for p in out.rglob("*.html")}
    for page, text in texts.items():
        for link in (m[2] for m in LINK.finditer(text)):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, section = html.unescape(link).partition("#")
            target = (page.parent / name).resolve() if name else page
            if not target.exists() or (
                section and target in texts and f'id="{section}"' not in texts[target]
            ):
                dead.append(f"{page.relative_to(out.resolve())}: {link}")
    return dead


def main() -> int:
    """Exit status."""
    out = Path(sys.argv[1])
    known = set(pages())
    markdown = MarkdownIt("commonmark").enable("table")
    found = []
    for path in sorted(known):
        title, text = make(markdown, path, known, out)
        found.append(
            {"path": path.with_suffix(".html").as_posix(), "title": title, "text": text}
        )
    (out / "style.css").write_text(STYLE, encoding="utf-8")
    (out / "search.js").write_text(SEARCH, encoding="utf-8")
    (out / "pages.js").write_text(f"const PAGES = {json.dumps(found)};\n", encoding="utf-8")
    (out / "index.html").write_text(
        '<!doctype html><meta http-equiv="refresh" content="0; url=docs/README.html">\n',
        encoding="utf-8",
    )
    wrong = dead_links(out)
    for word, page in KNOWN.items():
        if not any(word in p["text"] and p["path"].endswith(page) for p in found):
            wrong.append(f"search: {word} is not found in {page}")
    print("\n".join([*wrong, f"{len(found)} pages, {len(wrong)} faults: {out}/index.html"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
