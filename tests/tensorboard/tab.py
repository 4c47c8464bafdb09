#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: tensorboard
# with: {tensorboard}
# needs: gcc module
# turn: 2
"""Run TensorBoard with the package's plugins, and ask it as browsers and old scripts do.

usage: tab.py [--package DIR] [--opscope PATH] [--shared DIR] [NAME...]

To be run by a Python that has tensorboard; DIR (build-gcc/python) is an importable package, whose
entry points are taken from pyproject.toml. Tables through the proxy must be those of the command,
to the byte; the old paths must give the recorded answers of the plugin whose paths they were, where
they are there (../shared). NAME chooses tests. The last line is "N passed, N failed".
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
TAB, OLD = "/data/plugin/opscope", "/data/plugin/pytorch_profiler"


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
        assert listed["pytorch_profiler"]["enabled"] is False
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
            assert b.json(f"{OLD}/runs") == {"runs": [], "loading": False}
            yield
            # A trace that comes later is found.
            shutil.copy(DEMO, folder / "a.pt.trace.json.gz")
            time.sleep(1.1)
            assert b.json(f"{OLD}/runs")["runs"] == [empty]
            assert b.get(f"{TAB}/index.html")[0] == 200
            old = b.servers()
            (folder / "more").mkdir()
            shutil.copy(DEMO, folder / "more" / "b.pt.trace.json.gz")
            assert b.get(f"{TAB}/index.html")[0] == 200 and b.servers() != old
            assert len(b.servers()) == 1
            assert b.json(f"{OLD}/runs")["runs"] == sorted([empty, "more"])
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
        for path in (f"{TAB}/api/v1/session", f"{OLD}/runs"):
            for headers in (
                {"Sec-Fetch-Site": "cross-site"},
                {"Sec-Fetch-Site": "same-site"},
                {"Origin": "http://other.example"},
                {"Host": "evil.example"},
                {"Host": f"localhost.evil.example:{b.port}"},
                {"Host": ""},
            ):
                if path.startswith(TAB) or "Origin" not in headers:
                    assert b.get("/a/b" + path, headers=headers)[0] == 403, (path, headers)
            origin = f"http://localhost:{b.port}"
            assert (
                b.get(
                    "/a/b" + path, headers={"Origin": origin, "Sec-Fetch-Site": "same-origin"}
                )[0]
                == 200
            )
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


# --- old paths ---------------------------------------------------------------------------------


def load(path):
    """Recorded JSON, or None."""
    for found in (path, path.with_name(path.name + ".gz")):
        if found.exists():
            text = found.read_bytes()
            return json.loads(gzip.decompress(text) if found.suffix == ".gz" else text)
    return None


# Texts of help and advice are opscope's own.
OURS = {"tooltip", "tooltips", "recommendations", "recommendation_list", "description"}


def differs(got, want, slack, where=""):
    """Where GOT is not WANT, whose numbers have an error of SLACK; None: nowhere. Rows stand in any
    order."""
    if isinstance(want, dict):
        if not isinstance(got, dict) or got.keys() - OURS != want.keys() - OURS:
            keys = got.keys() ^ want.keys() if isinstance(got, dict) else got
            return f"{where}: {str(keys)[:300]}"
        return next(
            filter(
                None,
                (
                    differs(got[k], want[k], slack, f"{where}.{k}")
                    for k in want
                    if k not in OURS
                ),
            ),
            None,
        )
    if isinstance(want, list):
        if not isinstance(got, list) or len(got) != len(want):
            return f"{where}: {len(got)} and {len(want)}"
        if want and isinstance(want[0], (list, dict)) and not where.endswith(".columns"):
            got, want = sorted(got, key=key_of), sorted(want, key=key_of)
        return next(
            filter(
                None,
                (
                    differs(g, w, slack, f"{where}[{k}]")
                    for k, (g, w) in enumerate(zip(got, want))
                ),
            ),
            None,
        )
    if isinstance(want, (int, float)) and not isinstance(want, bool):
        is_number = isinstance(got, (int, float)) and not isinstance(got, bool)
        error = max(
            slack * (1 if isinstance(want, int) or slack == 0 else 0.3),
            1e-9 * abs(want),
            0.01001 if isinstance(want, float) else 0,
        )
        return None if is_number and abs(got - want) <= error else f"{where}: {got} not {want}"
    if isinstance(want, str) and "visualization-tooltip" in want and slack:
        return None if isinstance(got, str) and got[:50] == want[:50] else f"{where}: {got}"
    return None if got == want else f"{where}: {got!r} not {want!r}"


def key_of(row):
    """The texts of a row, and then its numbers."""
    cells = list(row.values()) if isinstance(row, dict) else row
    return (
        [x for x in cells if isinstance(x, str)],
        [str(type(x)) for x in cells],
        [x for x in cells if isinstance(x, (int, float))],
    )


def link(folder, files):
    """A log directory of FILES: run -> {name: recorded file}."""
    for run, names in files.items():
        (folder / run).mkdir(parents=True)
        for name, path in names.items():
            (folder / run / name).symlink_to(path)
    return folder


# File -> path, and what it needs.
ANSWERS = {
    "overview": ("overview", {}),
    "operators": ("operation/table", {"group_by": "Operation"}),
    "operators_by_input_shape": ("operation/table", {"group_by": "OperationAndInputShape"}),
    "operator_pies": ("operation", {"group_by": "Operation"}),
    "kernel_pie": ("kernel", {}),
    "kernels": ("kernel/table", {"group_by": "Kernel"}),
    "kernels_by_op": ("kernel/table", {"group_by": "KernelNameAndOpName"}),
    "tensor_core_pie": ("kernel/tc_pie", {}),
    "memory_stats": ("memory", {}),
    "memory_events": ("memory_events", {}),
    "memory_curve": ("memory_curve", {}),
    "memory_stats_range": ("memory", {}),
    "memory_events_range": ("memory_events", {}),
    "modules": ("module", {}),
}


# Operators of which the plugin counts calls only in subtrees with records; and, in a part of time,
# also those that began before it and do nothing in it.
WRONG = {
    ("transformer", "memory_stats"): {"aten::reshape", "ViewBackward0"},
    ("transformer", "memory_stats_range"): {
        "aten::reshape",
        "ViewBackward0",
        "aten::bmm",
        "aten::matmul",
    },
}


def compare(b, case, name, words, slack):
    """Compare an answer with the recorded one; False: there is none."""
    # The last source of the plugin answers otherwise than its release; rows of operators that it
    # lost are in the release alone.
    want = load(EXPECTED / case / f"{name}.json")
    if want is None:
        return False
    if name == "overview" or (case == "steps_loader" and name.startswith("memory_events")):
        want = load(EXPECTED / case / "src_041e7ce" / f"{name}.json") or want
    path, more = ANSWERS[name]
    if name.endswith("_range"):
        more = {key: want[key] for key in ("start_ts", "end_ts")}
        want = want["result"]
    got = b.json(f"{OLD}/{path}", {**words, **more})
    if name == "overview":
        assert got.pop("environments")[0]["title"] == "Number of Worker(s)"
        summary = got.pop("gpu_metrics", None)
        want["gpu_summary"] = want.pop("gpu_summary", None)
        assert (summary and summary["data"]) == want.pop("gpu_summary"), summary
        assert got["recommendations"].count("<li>") == want["recommendations"].count("<li>")
    if name.startswith("memory_events"):
        want.pop("row_counts", None)
    for operator in WRONG.get((case, name), ()):
        for answer in (got, want):
            answer["rows"]["CPU"] = [x for x in answer["rows"]["CPU"] if x[0] != operator]
    if name == "memory_curve":
        for device, points in want["rows"].items():
            if len(points) >= 10_240:  # it leaves some out
                ours = got["rows"][device]
                near = {round(x[0], 3): x for x in ours}
                assert len(ours) >= len(points) and ours[0] == near[round(points[0][0], 3)]
                for at, allocated, _ in points[::50]:
                    assert any(
                        abs(x[0] - at) < 1e-3 and abs(x[1] - allocated) < 1e-3
                        for x in ours[bisect(ours, at - 2e-3) : bisect(ours, at + 2e-3)]
                    )
                got["rows"][device] = points
    found = differs(got, want, slack)
    assert found is None, (case, name, found)
    return True


def bisect(points, at):
    """The index of the first of POINTS that is not before AT."""
    return next((k for k, x in enumerate(points) if x[0] >= at), len(points))


def test_old_paths_give_the_recorded_answers():
    if not EXPECTED.is_dir():
        print("no recorded answers: only the shapes are looked at")
        return
    with Board("--logdir", SHARED / "data/tb_samples") as b:
        assert b.json(f"{OLD}/runs") == {
            "runs": ["resnet50_num_workers_0", "resnet50_num_workers_4"],
            "loading": False,
        }
        for run in ("resnet50_num_workers_0", "resnet50_num_workers_4"):
            words, case = {"run": run, "worker": "worker0", "span": "1"}, f"{run}_span1"
            for name in ANSWERS:
                if compare(b, case, name, words, 0):
                    yield
            assert b.json(f"{OLD}/views", {"run": run}) == load(EXPECTED / case / "views.json")
            stacks = load(EXPECTED / case / "operator_stacks.json")
            for operator, want in list(stacks.items())[::5]:
                got = b.json(f"{OLD}/operation/stack", {**words, "op_name": operator})
                assert differs(got, want, 0) is None, (operator, differs(got, want, 0))
                yield
            tree = b.json(f"{OLD}/tree", words)
            first = next(iter(load(EXPECTED / case / "trees.json").values()))
            assert tree["start_time"] == first["root_start"], (tree["start_time"], first)
            assert tree["end_time"] == first["root_end"]
            assert [x["name"] for x in tree["children"]] == first[
                "root_children_names_first_12"
            ]
            yield
        words = {
            "run": "resnet50_num_workers_0",
            "worker": "worker0",
            "span": "1",
            "exp_run": "resnet50_num_workers_4",
            "exp_worker": "worker0",
            "exp_span": "1",
        }
        root = load(EXPECTED / "diff/diffnode_root.json")
        for pair in (root, *root["children"]):
            for half in ("left", "right"):
                pair[half]["aggs"] = []
                if pair[half]["name"] == "CompositeNodes":
                    pair[half]["total_duration"] = None
        found = differs(b.json(f"{OLD}/diffnode", words), root, 0)
        assert found is None, found
        assert len(b.json(f"{OLD}/diff", words)["children"]) == len(root["children"])
        assert b.get(f"{OLD}/diffnode", {**words, "path": "0-99"})[0] == 404
        yield
        status, headers, body = b.get(
            f"{OLD}/trace", {k: words[k] for k in ("run", "worker", "span")}
        )
        assert status == 200 and headers["content-encoding"] == "gzip"
        events = json.loads(body)["traceEvents"]
        assert any(e.get("ph") == "C" and "GPU" in e["name"] for e in events)
        yield


def test_old_paths_of_current_torch():
    if not EXPECTED.is_dir():
        return
    data = SHARED / "data/torch213"
    runs = {
        case: {"worker0.1.pt.trace.json.gz": data / case / "trace.json.gz"}
        for case in ("resnet_all", "resnet_infer", "steps_loader", "transformer")
    }
    runs["ddp2"] = {x.name: x for x in (data / "ddp2_logdir").iterdir()}
    with Board("--logdir", link(TEMP / "torch213", runs)) as b:
        for case in ("resnet_all", "steps_loader", "transformer"):
            words = {"run": case, "worker": "worker0", "span": "1"}
            for name in ANSWERS:
                if compare(b, case, name, words, 1):
                    yield
            assert b.json(f"{OLD}/views", {"run": case}) == load(EXPECTED / case / "views.json")
        assert b.json(f"{OLD}/workers", {"run": "ddp2", "view": "Overview"}) == [
            "host_0",
            "host_1",
        ]
        assert b.json(f"{OLD}/workers", {"run": "ddp2", "view": "Distributed"}) == ["All"]
        assert b.json(f"{OLD}/spans", {"run": "ddp2", "worker": "All"}) == ["1"]
        assert "Distributed" in b.json(f"{OLD}/views", {"run": "ddp2"})
        yield
        want = load(EXPECTED / "ddp2/src_041e7ce/distributed.json")
        words = {"run": "ddp2", "worker": "All", "span": "1"}
        for path, key in (
            ("overlap", "overlap"),
            ("waittime", "wait"),
            ("commops", "comm_ops"),
            ("gpuinfo", "gpu_info"),
        ):
            got = b.json(f"{OLD}/distributed/{path}", words)
            if key == "wait":  # it compares collectives that run at once in another order
                for view in (got, want[key]):
                    view["data"] = {"3": view["data"]["3"], "4": view["data"]["4"]}
            found = differs(got, want[key], 1)
            if key == "comm_ops":
                assert "gloo:broadcast" in json.dumps(got)
                for view in (got, want[key]):
                    for table in view["data"].values():
                        table["rows"] = [x for x in table["rows"] if x[0] != "gloo:broadcast"]
                found = differs(got, want[key], 1)
            assert found is None, (path, found)
            yield
        for path in ("overview", "module", "distributed/overlap"):
            assert b.get(f"{OLD}/{path}", {"run": "no", "worker": "a", "span": "1"})[0] == 404
            assert b.get(f"{OLD}/{path}", {"run": "ddp2"})[0] == 400
        assert (
            b.get(
                f"{OLD}/memory_curve",
                {"run": "ddp2", "worker": "host_0", "span": "1", "memory_metric": "MiB"},
            )[0]
            == 400
        )
        yield


def test_old_paths_have_shapes():
    with Board("--logdir", logdir()) as b:
        assert b.json(f"{OLD}/runs")["runs"] == ["recorded", "train"]
        words = {"run": "train", "worker": "worker0", "span": "2"}
        for path in sorted({path for path, _ in ANSWERS.values()} | {"tree"}):
            status, _, body = b.get(f"{OLD}/{path}", words)
            assert status == 200, (path, status, body[:300])
            yield
        assert b.json(f"{OLD}/spans", {"run": "train", "worker": "worker0"}) == ["1", "2"]
        operators = b.json(f"{OLD}/operation/table", words)["data"]
        table = json.loads(
            command("table", "operators", DEMO, "--format", "json", "--compat", "tb")
        )
        names = [column["name"] for column in table["columns"]]
        calls = {row[names.index("name")]: row[names.index("calls")] for row in table["rows"]}
        assert {row["name"]: row["calls"] for row in operators} == calls and len(calls) > 10
        yield
        status, _, body = b.get(
            f"{OLD}/overview", {"run": "recorded", "worker": "run", "span": "default"}
        )
        assert status == 200, (body, b.said()[-3000:])
        yield


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
    global PACKAGE, INSTALLED, OPSCOPE, SHARED, EXPECTED, TEMP  # noqa: PLW0603
    parser = argparse.ArgumentParser()
    parser.add_argument("--package", default=ROOT / "build-gcc/python", type=Path)
    parser.add_argument("--opscope", default=ROOT / "build-gcc/opscope", type=Path)
    parser.add_argument("--shared", default=ROOT.parent / "shared", type=Path)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    PACKAGE, OPSCOPE = args.package.resolve(), args.opscope.resolve()
    SHARED, EXPECTED = args.shared.resolve(), args.shared.resolve() / "expected/tb"
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


PACKAGE = INSTALLED = OPSCOPE = SHARED = EXPECTED = TEMP = None

if __name__ == "__main__":
    sys.exit(main())
