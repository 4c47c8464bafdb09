#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: export-browser
# args: --opscope {gcc}/opscope --largest 200000
# full: --opscope {gcc}/opscope
# needs: browser
"""Check that a browser reads every export.

    python3 tests/export/browser.py --opscope PATH [--shared DIR] [--largest BYTES]
        [--chromium PROGRAM]

Each trace of the shared data and tests/data (with --largest only those that are not larger), and
some whose names contain any bytes, is written as .json, .json.gz and with --counters and --redact.
A page in a headless Chromium gets them from a server in this program, inflates and parses them
with the browser's own functions, and sends back the number of events and the total length of their
names. Both must be the same as with Python's json and gzip. Ends with `N passed, N failed`; exit
status 1 on any failure.
"""

from __future__ import annotations

import argparse
import gzip
import http.server
import json
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "tests/oracle"), str(HERE)]

import sample  # noqa: E402
from support import nasty_trace, run  # noqa: E402

PAGE = b"""<!doctype html><script type="module">
for (const name of await (await fetch('list')).json()) {
  let answer;
  try {
    const body = (await fetch(name)).body;
    const plain = name.endsWith('.gz') ? body.pipeThrough(new DecompressionStream('gzip')) : body;
    const bytes = await new Response(plain).arrayBuffer();
    const events = JSON.parse(new TextDecoder('utf-8', {fatal: true}).decode(bytes)).traceEvents;
    let units = 0;
    for (const e of events)
      units += String(e.name).length;
    answer = [events.length, units];
  } catch (e) {
    answer = String(e);
  }
  await fetch('answer', {method: 'POST', body: JSON.stringify([name, answer])});
}
await fetch('answer', {method: 'POST', body: 'null'});
</script>"""
FORMS = (
    ("a.json", []),
    ("a.json.gz", []),
    ("c.json.gz", ["--counters"]),
    ("r.json.gz", ["--redact"]),
)


def expected(path: Path) -> list[int]:
    """Events, and UTF-16 units in their names, as Python reads them."""
    text = path.read_bytes()
    events = json.loads(gzip.decompress(text) if path.suffix == ".gz" else text)["traceEvents"]
    return [len(events), sum(len(e["name"].encode("utf-16-le")) // 2 for e in events)]


class Server(http.server.ThreadingHTTPServer):
    """Serves the page and the files below FOLDER, and receives the page's answers."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder, self.answers, self.is_done = folder, {}, threading.Event()
        self.names = sorted(str(p.relative_to(folder)) for p in folder.rglob("*.json*"))


class Handler(http.server.BaseHTTPRequestHandler):
    """One request."""

    def reply(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        name = self.path[1:]
        if name == "":
            self.reply(PAGE, "text/html")
        elif name == "list":
            self.reply(json.dumps(self.server.names).encode(), "application/json")
        elif name in self.server.names:
            self.reply((self.server.folder / name).read_bytes(), "application/octet-stream")
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        answer = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if answer is None:
            self.server.is_done.set()
        else:
            self.server.answers[answer[0]] = answer[1]
        self.reply(b"", "text/plain")

    def log_message(self, *args: object) -> None:
        pass


def ask_browser(chromium: str, folder: Path, profile: Path) -> dict:
    """The page's answers about the files below FOLDER."""
    with Server(folder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with subprocess.Popen(
            [
                chromium,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                f"--user-data-dir={profile}",
                f"http://127.0.0.1:{server.server_address[1]}/",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as browser:
            server.is_done.wait(timeout=300)
            browser.terminate()
        server.shutdown()
        return server.answers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--opscope", type=Path, required=True)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument(
        "--largest",
        type=int,
        default=sys.maxsize,
        metavar="BYTES",
        help="leave out larger traces",
    )
    parser.add_argument("--chromium", default="chromium")
    args = parser.parse_args()
    opscope = args.opscope / "opscope" if args.opscope.is_dir() else args.opscope
    passed = failed = 0

    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as scratch:
        files, profile = Path(scratch) / "files", Path(scratch) / "profile"
        traces = [
            p
            for folder in (args.shared / "data", ROOT / "tests/data")
            for p in sample.of(sorted(folder.rglob("*.json*")))
            if p.is_file() and p.stat().st_size <= args.largest
        ]
        for seed in range(20):
            traces.append(Path(scratch) / f"{seed}.json")
            traces[-1].write_bytes(nasty_trace(seed))
        want = {}
        for n, trace in enumerate(traces):
            (files / str(n)).mkdir(parents=True)
            for name, options in FORMS:
                out = files / str(n) / name
                done = run(opscope, "export", trace, *options, "-o", out)
                if done.returncode != 0:
                    print("FAILED", trace, name, done.stderr.decode())
                    failed += 1
                    continue
                want[f"{n}/{name}"] = expected(out)
        got = ask_browser(args.chromium, files, profile)
    for name, numbers in want.items():
        is_good = got.get(name) == numbers
        passed += is_good
        failed += not is_good
        if not is_good:
            print("FAILED", traces[int(name.partition("/")[0])], name, got.get(name), numbers)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
