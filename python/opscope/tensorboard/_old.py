# SPDX-License-Identifier: Apache-2.0
"""The HTTP paths of torch-tb-profiler, TensorBoard's former plugin for traces, for scripts that ask
them. Every number is one of opscope's tables; _shapes.py puts them into the forms of that plugin.

A profile is a file: a worker (a process) in a span (a recording window) of a run (a directory).
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, Callable, NamedTuple
from urllib.parse import parse_qsl

from tensorboard.plugins import base_plugin

from .. import TraceError, compare, load
from .._place import COMMAND
from .._trace import Trace
from . import _shapes, _trees
from ._hosts import REFUSAL, Hosts
from ._proxy import PIECE
from ._viewer import NoServer, Viewer

LOADED = 4  # traces that are kept in memory
ALL = "All"  # the worker of the distributed view
GZIPPED = ("memory", "memory_curve", "memory_events", "module", "tree", "diff", "diffnode")


class NotThere(Exception):
    """What was asked for does not exist; the text says what."""


class Wrong(Exception):
    """A parameter is missing or wrong."""


class Profile(NamedTuple):
    """A file of a run."""

    run: str
    worker: str
    span: str
    path: str


class Traces:
    """The traces that were asked for last. Reads again what has changed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept: OrderedDict[tuple[str, ...], Trace] = OrderedDict()

    def get(self, *paths: str) -> Trace:
        """That of PATHS."""
        with self.lock:
            trace = self.kept.pop(paths, None)
            if trace is None:
                trace = load(paths)
            else:
                trace.refresh()
            self.kept[paths] = trace
            while len(self.kept) > LOADED:
                self.kept.popitem(last=False)
            return trace


class OldPlugin(base_plugin.TBPlugin):
    """Never a tab."""

    plugin_name = "pytorch_profiler"

    def __init__(self, context: base_plugin.TBContext, viewer: Callable[[], Viewer]) -> None:
        self.viewer, self.traces = viewer, Traces()
        self.hosts = Hosts(context.flags)

    def is_active(self) -> bool:
        """Never: it has no page."""
        return False

    def get_plugin_apps(self) -> dict[str, Any]:
        """A route for each path."""
        paths = [name[4:].replace("__", "/") for name in vars(type(self)) if name[:4] == "get_"]
        return {f"/{path}": self.app(path) for path in paths if path != "plugin_apps"}

    def app(self, path: str) -> Callable[[dict[str, Any], Any], Iterable[bytes]]:
        """The application at PATH."""
        answer = getattr(self, "get_" + path.replace("/", "__"))

        def respond(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            words = dict(parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True))
            kind, headers = "application/json", [("X-Content-Type-Options", "nosniff")]
            try:
                if not self.hosts.know(environ):
                    raise PermissionError(REFUSAL)
                if environ.get("HTTP_SEC_FETCH_SITE") in ("cross-site", "same-site"):
                    raise PermissionError("a page of another site or port asks")
                status, found = "200 OK", answer(words)
            except (
                Wrong,
                NotThere,
                PermissionError,
                NoServer,
                TraceError,
                OSError,
                ValueError,
            ) as e:
                kind, status = "text/plain; charset=utf-8", status_of(e)
                found = f"{e}\n".encode()
            body = found if isinstance(found, bytes) else json.dumps(found).encode()
            if status[0] == "2" and (path in GZIPPED or path == "trace"):
                body = body if path == "trace" else gzip.compress(body, 1)
                headers.append(("Content-Encoding", "gzip"))
            start_response(
                status,
                [
                    ("Content-Type", kind),
                    ("Content-Length", str(len(body))),
                    ("Cache-Control", "no-store"),
                    *headers,
                ],
            )
            return (body[at : at + PIECE] for at in range(0, len(body), PIECE))

        return respond

    # --- what there is ----------------------------------------------------------------------

    def profiles(self, run: str | None = None) -> list[Profile]:
        """All, or those of RUN; of equal ones the last."""
        table = self.viewer().json("runs")["runs"]
        names = [column["name"] for column in table["columns"]]
        found: dict[tuple[str, str, str], Profile] = {}
        for cells in table["rows"]:
            row = dict(zip(names, cells))
            span = "default" if row["span"] is None else str(row["span"])
            if row["run"] is not None and run in (None, row["run"]):  # else it was left out
                key = (row["run"], row["worker"], span)
                found[key] = Profile(*key, row["file"])
        if run is not None and not found:
            raise NotThere(f"could not find the run {run}")
        return list(found.values())

    def profile(self, words: dict[str, str], before: str = "") -> Profile:
        """The one that WORDS name, in parameters that begin with BEFORE."""
        run, worker, span = (word(words, before + name) for name in ("run", "worker", "span"))
        for found in self.profiles(run):
            if (found.worker, found.span) == (worker, span):
                return found
        raise NotThere(f"could not find the profile for {run}/{worker}/{span}")

    def trace_of(self, words: dict[str, str]) -> Trace:
        """The trace of the profile that WORDS name."""
        return self.traces.get(self.profile(words).path)

    def distributed(self, words: dict[str, str]) -> Trace:
        """All workers of a span of a run."""
        run, span = word(words, "run"), word(words, "span")
        paths = [x.path for x in self.profiles(run) if x.span == span]
        if words.get("worker") != ALL or not paths:
            raise NotThere(f"could not find the profile for {run}/{words.get('worker')}/{span}")
        return self.traces.get(*paths)

    def distributed_spans(self, run: str) -> Iterator[str]:
        """The spans of RUN with a distributed view."""
        profiles = self.profiles(run)
        for span in sorted({x.span for x in profiles}, key=by_number):
            trace = self.traces.get(*(x.path for x in profiles if x.span == span))
            if _trees.communicates(trace):
                yield span

    def get_runs(self, words: dict[str, str]) -> object:
        try:
            return {"runs": sorted({x.run for x in self.profiles()}), "loading": False}
        except NoServer:  # there are none
            return {"runs": [], "loading": False}

    def get_views(self, words: dict[str, str]) -> object:
        run = word(words, "run")
        found: set[str] = set()
        for profile in self.profiles(run):
            found.update(_shapes.views(self.traces.get(profile.path)))
        if next(self.distributed_spans(run), None) is not None:
            found.add("Distributed")
        return [view for view in _shapes.VIEWS if view in found]

    def get_workers(self, words: dict[str, str]) -> object:
        run, view = word(words, "run"), word(words, "view")
        if view == "Distributed":
            return [ALL] if next(self.distributed_spans(run), None) is not None else []
        profiles = self.profiles(run)
        if view not in _shapes.ALWAYS:
            profiles = [x for x in profiles if view in _shapes.views(self.traces.get(x.path))]
        return sorted({x.worker for x in profiles})

    def get_spans(self, words: dict[str, str]) -> object:
        run, worker = word(words, "run"), word(words, "worker")
        if worker == ALL:
            return list(self.distributed_spans(run))
        return sorted({x.span for x in self.profiles(run) if x.worker == worker}, key=by_number)

    # --- views of a profile -----------------------------------------------------------------

    def get_overview(self, words: dict[str, str]) -> object:
        profile = self.profile(words)
        workers = {x.worker for x in self.profiles(profile.run)}
        return _shapes.overview(self.traces.get(profile.path), len(workers))

    def get_operation(self, words: dict[str, str]) -> object:
        return _shapes.operator_pies(self.trace_of(words), is_by_shape(words))

    def get_operation__table(self, words: dict[str, str]) -> object:
        return _shapes.operators(self.trace_of(words), is_by_shape(words))

    def get_operation__stack(self, words: dict[str, str]) -> object:
        name, shape = word(words, "op_name"), None
        if is_by_shape(words):
            shape = word(words, "input_shape")
        found = _shapes.stacks(self.trace_of(words), name, shape)
        if found is None:
            raise NotThere(f"no operator {name} with a stack")
        return found

    def get_kernel(self, words: dict[str, str]) -> object:
        return _shapes.kernel_pie(self.trace_of(words))

    def get_kernel__table(self, words: dict[str, str]) -> object:
        return _shapes.kernels(self.trace_of(words), words.get("group_by") != "Kernel")

    def get_kernel__tc_pie(self, words: dict[str, str]) -> object:
        return _shapes.tensor_core_pie(self.trace_of(words))

    def get_trace(self, words: dict[str, str]) -> bytes:
        path = self.profile(words).path
        more = ["--counters"] * ("Kernel" in _shapes.views(self.traces.get(path)))
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "trace.json.gz")
            run_command("export", path, "-o", out, *more)
            with open(out, "rb") as f:
                return f.read()

    def get_memory(self, words: dict[str, str]) -> object:
        return _shapes.memory(
            self.trace_of(words), part(words), words.get("memory_metric", "KB")
        )

    def get_memory_curve(self, words: dict[str, str]) -> object:
        return _shapes.memory_curve(
            self.trace_of(words),
            words.get("time_metric", "ms"),
            words.get("memory_metric", "MB"),
        )

    def get_memory_events(self, words: dict[str, str]) -> object:
        return _shapes.memory_events(
            self.trace_of(words),
            part(words),
            words.get("time_metric", "ms"),
            words.get("memory_metric", "KB"),
        )

    def get_module(self, words: dict[str, str]) -> object:
        found = _trees.modules(self.trace_of(words))
        if found is None:
            raise NotThere("the trace has no modules")
        return found

    def get_tree(self, words: dict[str, str]) -> object:
        return _trees.tree(self.trace_of(words))

    # --- several profiles -------------------------------------------------------------------

    def get_distributed__gpuinfo(self, words: dict[str, str]) -> object:
        run, span = word(words, "run"), word(words, "span")
        self.distributed(words)
        return _trees.gpu_info(
            [(x.worker, self.traces.get(x.path)) for x in self.profiles(run) if x.span == span]
        )

    def get_distributed__overlap(self, words: dict[str, str]) -> object:
        return _trees.overlap(self.distributed(words))

    def get_distributed__waittime(self, words: dict[str, str]) -> object:
        return _trees.wait_time(self.distributed(words))

    def get_distributed__commops(self, words: dict[str, str]) -> object:
        return _trees.operations(self.distributed(words))

    def pairs(self, words: dict[str, str]) -> dict[str, Any]:
        """The rows of diff_tree by their paths."""
        sides = [self.traces.get(self.profile(words, before).path) for before in ("", "exp_")]
        table = compare(*sides).table("diff_tree", compat="tb")
        return {row["path"]: row for row in _shapes.rows_of(table)}

    def get_diff(self, words: dict[str, str]) -> object:
        return _trees.pairs_below(self.pairs(words), "0")

    def get_diffnode(self, words: dict[str, str]) -> object:
        path, pairs = words.get("path", "0"), self.pairs(words)
        if path not in pairs:
            raise NotThere(f"could not find diff run for {path}")
        return _trees.pair_with_children(pairs, path)


def status_of(e: Exception) -> str:
    """The status for an error."""
    return (
        "404 Not Found"
        if isinstance(e, (NotThere, FileNotFoundError))
        else "403 Forbidden"
        if isinstance(e, PermissionError)
        else "503 Service Unavailable"
        if isinstance(e, NoServer)
        else "400 Bad Request"
        if isinstance(e, (Wrong, ValueError))
        else "500 Internal Server Error"
    )


def by_number(span: str) -> tuple[int, str]:
    """The key by which spans are in order of their numbers."""
    return (int(span), "") if span.isdigit() else (0, span)


def word(words: dict[str, str], name: str) -> str:
    """The parameter NAME."""
    if name not in words:
        raise Wrong(f"the parameter {name} is missing")
    return words[name]


def is_by_shape(words: dict[str, str]) -> bool:
    """Whether operators are grouped by their shapes, too."""
    return words.get("group_by") == "OperationAndInputShape"


def part(words: dict[str, str]) -> tuple[int | None, int | None]:
    """The part of time that WORDS choose: the first and the last us."""
    first, last = (words.get(name) for name in ("start_ts", "end_ts"))
    return (None if first is None else int(first)), (None if last is None else int(last))


def run_command(*words: str) -> bytes:
    """What the command prints. OSError: why it fails."""
    done = subprocess.run(
        [COMMAND, *words], capture_output=True, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode != 0:
        raise OSError(done.stderr.decode(errors="replace"))
    return done.stdout
