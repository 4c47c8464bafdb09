#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: tensorboard
# with: {tensorboard}
# needs: gcc module
# turn: 2
"""Run TensorBoard with the package's plugin, and ask it as browsers do.

usage: tab.py [--package DIR] [--opscope PATH] [NAME...]

To be run by a Python that has tensorboard; DIR (build-gcc/python) is an importable package, whose
entry points are taken from pyproject.toml. Tables through the proxy must be those of the command,
to the byte. NAME chooses tests. The last line is "N passed, N failed".
"""

import argparse
import contextlib
import gzip
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "tests/data/demo.pt.trace.json.gz"
NUMBER = re.compile(r"-?[0-9]+([.][0-9]+)?(e[-+]?[0-9]+)?")
TAB = "/data/plugin/opscope"


# --- TensorBoard -------------------------------------------------------------------------------


def entry_points():
    """The lines of [project.entry-points.tensorboard_plugins]; tomllib is missing before 3.11."""
    text = (ROOT / "pyproject.toml").read_text()
    lines = text.split("[project.entry-points.tensorboard_plugins]\n")[1].split("\n\n")[0]
    return lines.replace('"', "")


def install_entry_points():
    """A directory for PYTHONPATH with what pip would write about the package."""
    info = TEMP / "installed" / "opscope-0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: opscope\nVersion: 0\n")
    (info / "entry_points.txt").write_text("[tensorboard_plugins]\n" + entry_points() + "\n")
    return info.parent


class Board:
    """A TensorBoard with ARGS, from when it answers."""

    def __init__(self, *args):
        path = os.pathsep.join(map(str, (PACKAGE, INSTALLED)))
        self.log = (TEMP / f"board{time.time_ns()}.log").open("w+b")
        with socket.socket() as s:
            s.bind(("localhost", 0))
            self.port = s.getsockname()[1]
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tensorboard.main",
                "--port",
                str(self.port),
                *map(str, args),
            ],
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
        )
        until = time.time() + 90
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection(("localhost", self.port), 1).close()
                return
            if self.process.poll() is not None or time.time() > until:
                raise AssertionError(f"TensorBoard does not start: {self.said()}")
            time.sleep(0.1)

    def said(self):
        self.log.flush()
        return Path(self.log.name).read_text(errors="replace")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.log.close()

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError("TensorBoard does not end") from None

    def get(self, path, query=(), headers=None, method="GET"):
        """(status, headers, body)"""
        c = http.client.HTTPConnection("localhost", self.port, timeout=120)
        try:
            text = urllib.parse.urlencode(query)
            c.request(method, path + ("?" + text if text else ""), headers=headers or {})
            r = c.getresponse()
            body = r.read()
            if r.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            return r.status, {k.lower(): v for k, v in r.getheaders()}, body
        finally:
            c.close()

    def json(self, path, query=()):
        status, _, body = self.get(path, query)
        assert status == 200, (path, query, status, body[:500])
        return json.loads(body)

    def servers(self):
        """The processes of `opscope view` that it has started."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                parent = int((path / "stat").read_text().rsplit(")", 1)[1].split()[1])
                if (
                    parent == self.process.pid
                    and is_alive(path.name)
                    and b"--until-eof" in (path / "cmdline").read_bytes()
                ):
                    found.append(int(path.name))
        return found

    def wait_ready(self, run):
        until = time.time() + 60
        while time.time() < until:
            self.get(f"{TAB}/api/v1/table/info", {"run": run, "limit": "1"})
            states = {x["name"]: x["state"] for x in self.json(f"{TAB}/api/v1/session")["runs"]}
            if states[run] == "ready":
                return
            time.sleep(0.05)
        raise AssertionError(f"{run} is never ready")


def command(*words):
    """What the command prints."""
    done = subprocess.run(
        [str(OPSCOPE), *map(str, words)],
        capture_output=True,
        check=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )
    return done.stdout


def logdir():
    """A log directory: a run of two files of one worker, and a recording."""
    folder = TEMP / "log"
    if not folder.exists():
        for number in (1700000000000, 1700000001000):
            (folder / "train").mkdir(parents=True, exist_ok=True)
            shutil.copy(DEMO, folder / "train" / f"worker0.{number}.pt.trace.json.gz")
        (folder / "recorded").mkdir()
        env = {**os.environ, "PYTHONPATH": str(PACKAGE)}
        subprocess.run(
            [sys.executable, "-c", RECORDED, str(folder / "recorded/run.osc")],
            check=True,
            env=env,
            timeout=120,
        )
        (folder / "scalars").mkdir()
        (folder / "scalars/config.json").write_text('{"lr": 0.1}')
    return folder


RECORDED = """
import sys
from opscope import record
record.start(out=sys.argv[1])
for _ in range(20):
    with record.scope("load", batch=7):
        with record.scope("read"):
            pass
record.stop()
"""


# --- the tab -----------------------------------------------------------------------------------


def test_the_tab_is_listed_without_a_server():
    with Board("--logdir", logdir()) as b:
        listed = b.json("/data/plugins_listing")
        assert listed["opscope"]["enabled"] is True, listed["opscope"]
        assert listed["opscope"]["loading_mechanism"] == {
            "type": "IFRAME",
            "module_path": f"{TAB}/index.js",
        }
        status, headers, body = b.get(f"{TAB}/index.js")
        assert status == 200 and b"export function render()" in body
        assert headers["content-type"].startswith("text/javascript")
        assert b.servers() == []
        yield
        status, headers, body = b.get(f"{TAB}/index.html")
        assert status == 200 and b"<html" in body
        policy = headers["content-security-policy"]
        assert "frame-ancestors 'self'" in policy and "'none'; script-src 'self'" in policy
        assert policy.count("frame-ancestors") == 1 and headers["x-content-type-options"]
        assert len(b.servers()) == 1
        for name in re.findall(rb'(?:href|src)="([^"]+\.(?:js|css))"', body):
            assert b.get(f"{TAB}/{name.decode()}")[0] == 200, name
        assert "Illegal Content-Security-Policy" not in b.said()
        yield
    for empty in ("nothing", "text"):
        folder = TEMP / empty
        folder.mkdir()
        (folder / "config.json").write_text('{"a": 1}')
        os.mkfifo(folder / "pipe.json")  # nobody writes into it
        with Board("--logdir", folder) as b:
            assert b.json("/data/plugins_listing")["opscope"]["enabled"] is False
            status, _, body = b.get(f"{TAB}/index.html")
            assert status == 503 and "no runs" in json.loads(body)["message"], body
            yield
            # A trace that comes later is found.
            shutil.copy(DEMO, folder / "a.pt.trace.json.gz")
            time.sleep(1.1)
            assert b.get(f"{TAB}/index.html")[0] == 200
            old = b.servers()
            (folder / "more").mkdir()
            shutil.copy(DEMO, folder / "more" / "b.pt.trace.json.gz")
            assert b.get(f"{TAB}/index.html")[0] == 200 and b.servers() != old
            assert len(b.servers()) == 1
            yield


def test_tables_are_those_of_the_command():
    with Board("--logdir", logdir(), "--path_prefix", "/a/b") as b:
        runs = json.loads(command("info", "--logdir", logdir(), "--format", "json"))
        names = [column["name"] for column in runs["columns"]]
        known = {row[names.index("run")] for row in runs["rows"]} - {None}
        got = b.json(f"/a/b{TAB}/api/v1/runs")["runs"]
        assert got["rows"] == runs["rows"] and known == {"recorded", "train"}, (
            got["rows"],
            runs["rows"],
        )
        yield
        for run, tables in (
            ("train", ("operators", "overview", "steps", "kernels", "memory")),
            ("recorded", ("ranges", "events", "threads")),
        ):
            for table in tables:
                for form in ("csv", "json"):
                    printed = command("table", table, logdir() / run, "--format", form)
                    status, headers, body = b.get(
                        f"/a/b{TAB}/api/v1/table/{table}", {"run": run, "format": form}
                    )
                    assert status == 200 and body == printed, (table, form, status, body[:300])
                    tag = headers["etag"]
                    again = b.get(
                        f"/a/b{TAB}/api/v1/table/{table}",
                        {"run": run, "format": form},
                        {"If-None-Match": tag},
                    )
                    assert again[0] == 304 and again[2] == b"", again
                    yield
        status, _, body = b.get(f"/a/b{TAB}/api/v1/table/operator", {"run": "train"})
        assert status in (400, 404) and "operators" in body.decode(), (status, body)
        assert b.get(f"/a/b{TAB}/api/v1/table/%2e%2e%2f", {})[0] in (400, 404)
        assert b.get(f"/a/b{TAB}/api/v1/session", method="POST")[0] == 405
        yield
        path = f"/a/b{TAB}/api/v1/session"
        for headers in (
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Origin": "http://other.example"},
            {"Host": "evil.example"},
            {"Host": f"localhost.evil.example:{b.port}"},
            {"Host": ""},
        ):
            assert b.get(path, headers=headers)[0] == 403, headers
        same = {"Origin": f"http://localhost:{b.port}", "Sec-Fetch-Site": "same-origin"}
        assert b.get(path, headers=same)[0] == 200
        yield


def test_progress_passes_and_ends_with_its_client():
    with Board("--logdir", logdir()) as b:
        b.wait_ready("train")
        threads = Path(f"/proc/{b.process.pid}/task")
        before = len(list(threads.iterdir()))
        clients = []
        for _ in range(30):
            c = socket.create_connection(("localhost", b.port), timeout=20)
            c.sendall(
                f"GET {TAB}/api/v1/progress?run=train HTTP/1.1\r\n"
                f"Host: localhost:{b.port}\r\n\r\n".encode()
            )
            clients.append(c)
        for c in clients:
            got = b""
            while b"event: ready" not in got:
                piece = c.recv(4096)
                assert piece, got
                got += piece
        assert b"text/event-stream" in got
        yield
        begun = time.time()
        assert b.json(f"{TAB}/api/v1/session") and time.time() - begun < 5
        for c in clients:
            c.close()
        until = time.time() + 25
        while len(list(threads.iterdir())) > before + 3 and time.time() < until:
            time.sleep(0.2)
        assert len(list(threads.iterdir())) <= before + 3
        yield


def test_a_crash_is_survived():
    with Board("--logdir", logdir()) as b:
        assert b.get(f"{TAB}/index.html")[0] == 200
        first = b.servers()
        os.kill(first[0], signal.SIGSEGV)
        until = time.time() + 10
        while b.servers() and time.time() < until:
            time.sleep(0.05)
        assert b.json(f"{TAB}/api/v1/session")["runs"]
        second = b.servers()
        assert len(second) == 1 and second != first
        assert b.json("/data/plugins_listing")["opscope"]["enabled"] is True
        yield
        # Many at once start only one.
        os.kill(second[0], signal.SIGKILL)
        answers = []
        threads = [
            threading.Thread(target=lambda: answers.append(b.get(f"{TAB}/api/v1/session")[0]))
            for _ in range(12)
        ]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert b.get(f"{TAB}/api/v1/session")[0] == 200 and len(b.servers()) == 1
        assert set(answers) <= {200, 503} and 200 in answers, answers
        yield


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_two_boards_and_a_clean_end():
    scratch = TEMP / "scratch"
    scratch.mkdir()
    os.environ["TMPDIR"] = str(scratch)
    try:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            with (
                Board("--logdir", logdir()) as one,
                Board("--logdir", logdir() / "train") as two,
            ):
                for b in (one, two):
                    assert b.get(f"{TAB}/index.html")[0] == 200
                assert len(one.json(f"{TAB}/api/v1/session")["runs"]) == 2
                assert len(two.json(f"{TAB}/api/v1/session")["runs"]) == 1
                pids = one.servers() + two.servers()
                assert len(set(pids)) == 2
                sockets = list(scratch.glob("opscope-*/socket"))
                assert len(sockets) == 2
                assert all(x.stat().st_mode & 0o7777 == 0o600 for x in sockets)
                one.stop(number)
                assert len(two.json(f"{TAB}/api/v1/session")["runs"]) == 1
                two.stop(number)
                until = time.time() + 10
                while any(map(is_alive, pids)) and time.time() < until:
                    time.sleep(0.05)
                assert not any(map(is_alive, pids)), number
                assert not list(scratch.glob("opscope-*/socket"))
                if number != signal.SIGKILL:
                    assert not list(scratch.glob("opscope-*")), number
                yield
    finally:
        del os.environ["TMPDIR"]


# --- in a browser ------------------------------------------------------------------------------


def test_the_tab_in_a_browser():
    chromium, node = shutil.which("chromium"), shutil.which("node")
    if not (chromium and node and (ROOT / "web/node_modules/playwright-core").is_dir()):
        print("no chromium, or no playwright-core in web/node_modules: not tried")
        return
    folder = TEMP / "seen"
    folder.mkdir()
    shutil.copy(DEMO, folder / "worker0.1.pt.trace.json.gz")
    table = json.loads(command("table", "overview", folder, "--format", "json"))
    names = [column["name"] for column in table["columns"]]
    times = [row[names.index("avg_ns")] for row in table["rows"][1:]]
    assert sum(times) > 0
    with Board("--logdir", folder) as b:
        done = subprocess.run(
            [
                node,
                str(ROOT / "tests/tensorboard/tab.mjs"),
                f"http://localhost:{b.port}/#opscope",
                chromium,
                *filter(None, [os.environ.get("TAB_PICTURE")]),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
            cwd=ROOT / "web",
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, (done.stderr[-2000:], b.said()[-2000:])
        got = json.loads(done.stdout)
        assert got["problems"] == [], got
        shown = [float(value) for value in got["values"] if NUMBER.fullmatch(value)]
        for time_ns in times:
            assert any(abs(value - time_ns) <= 1e-6 * time_ns for value in shown), (
                time_ns,
                got,
            )
        yield


def main():
    global PACKAGE, INSTALLED, OPSCOPE, TEMP  # noqa: PLW0603
    parser = argparse.ArgumentParser()
    parser.add_argument("--package", default=ROOT / "build-gcc/python", type=Path)
    parser.add_argument("--opscope", default=ROOT / "build-gcc/opscope", type=Path)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    PACKAGE, OPSCOPE = args.package.resolve(), args.opscope.resolve()
    # What a shell starts in the background ignores SIGINT, and so would what is started here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="tab-") as scratch:
        TEMP = Path(scratch)
        INSTALLED = install_entry_points()
        for name, test in list(globals().items()):
            if not name.startswith("test_") or (args.names and name[5:] not in args.names):
                continue
            begun, n = time.time(), 0
            try:
                for _ in test():
                    n += 1
                print(f"ok {name[5:]} ({n} checks, {time.time() - begun:.1f} s)", flush=True)
            except Exception:  # the other tests shall run
                failed += 1
                print(
                    f"FAILED {name[5:]} after {n} checks\n{traceback.format_exc()}", flush=True
                )
            passed += n
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


PACKAGE = INSTALLED = OPSCOPE = TEMP = None

if __name__ == "__main__":
    sys.exit(main())
