# SPDX-License-Identifier: Apache-2.0
"""The viewer in notebooks: a run as one HTML page, in a frame."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from . import _opscope, _place
from ._trace import Path, Trace, in_python, speaking_python, to_options

# A page of another origin (sandbox) that may run its script, save files and copy texts. What is
# before the frame is under it, and all that is left where frames are removed.
FRAME = """\
<div style="position: relative; width: 100%; height: {height}px">
<p>The page of {name} is shown where the notebook is trusted: run the cell again, or use
<code>.save("run.html")</code> and open the file.</p>
<iframe title="opscope: {name}" sandbox="allow-scripts allow-downloads" allow="clipboard-write"
style="position: absolute; top: 0; left: 0; width: 100%; height: 100%; border: 0; \
background: Canvas" srcdoc="{page}"></iframe>
</div>"""


class View:
    """A run as one HTML page, which notebooks show in a frame. Made by :func:`view`.

    The page has all it shows: it needs no server and no network, also after the program has ended
    or the notebook was sent to somebody else.
    """

    def __init__(self, name: str, page: bytes, height: int) -> None:
        self._name, self._page, self._height = name, page, height

    @property
    def html(self) -> bytes:
        """The page, as in the file that :meth:`save` writes."""
        return self._page

    def save(self, path: Path) -> None:
        """Write the page to the file `path`, which any browser opens from the disk.

        The file appears whole or not at all. OSError: it cannot be written.
        """
        to = os.fsdecode(path)
        part = f"{to}.{os.getpid()}.part"
        try:
            with open(part, "xb") as out:
                out.write(self._page)
            os.replace(part, to)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(part)
            raise

    def __repr__(self) -> str:
        return f"<opscope.View {self._name}, {len(self._page)} bytes>"

    def _repr_html_(self) -> str:
        """The page in a frame, for notebooks."""
        page = self._page.decode(errors="replace")
        return FRAME.format(
            height=self._height,
            name=escape(self._name),
            page=page.replace("&", "&amp;").replace('"', "&quot;"),
        )


@contextlib.contextmanager
def _files(trace: Any) -> Iterator[list[str]]:
    """The paths of what :func:`view` takes."""
    if isinstance(trace, Trace):
        yield trace._paths
    elif isinstance(trace, (str, bytes, os.PathLike)):
        yield [os.fsdecode(trace)]
    elif hasattr(trace, "export_chrome_trace"):
        with tempfile.TemporaryDirectory(prefix="opscope-") as folder:
            path = os.path.join(folder, "profile.pt.trace.json")
            trace.export_chrome_trace(path)
            yield [path]
    elif isinstance(trace, Iterable) and not hasattr(trace, "read"):
        yield [os.fsdecode(path) for path in trace]
    else:
        raise TypeError(
            "view() takes a trace, a path, several of them, or a profile, "
            f"not {type(trace).__name__}"
        )


def _make(paths: list[str], options: dict[str, object]) -> tuple[bytes, list[str]]:
    """The page of PATHS that the command writes, and the lines that it says."""
    if "-" in paths:
        raise ValueError("view: what came from standard input cannot be read again")
    for path in paths:
        os.stat(path)
    words = [
        f"--{name}" if value is None else f"--{name}={value}"
        for name, value in to_options(options)
    ]
    done = subprocess.run(
        [_place.COMMAND, "export", "--format=html", "--output=-", *words, "--", *paths],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    said = [
        line.split("opscope export: ", 1)[-1]
        for line in done.stderr.decode(errors="replace").splitlines()
        if "opscope export: quality: " not in line
    ]  # the page tells it
    if done.stdout.rstrip().endswith(b"</html>"):  # also if one of several files failed
        return done.stdout, said
    text = "\n".join(said) or f"opscope export ended with status {done.returncode}"
    with speaking_python():
        raise (ValueError if done.returncode == 2 else _opscope.TraceError)(text)


def view(
    trace: Trace | Path | Iterable[Path] | Any, *, height: int = 720, **options: object
) -> View:
    """Make the page that ``opscope view`` shows, as one file for a notebook, or to send.

    `trace` is a path (a file, or a directory: one run), several of them, what :func:`load`
    returned, or a profile of ``opscope.torch`` or ``torch.profiler`` that has ended. As the
    last expression of a cell it is shown in a frame, `height` pixels high::

        opscope.view("run.osc")
        opscope.view(prof, redact=True).save("run.html")

    `options` are those of ``opscope export``, such as ``rank="0"``, ``steps="5-7"``,
    ``redact=True``; those with which a trace was loaded hold, too. The files are read again, as
    they are now. The page has at most 3 MB, whatever the size of the trace: it tells what it leaves
    out, and the command that prints it.

    The frame is an ``iframe`` with the page in its attribute ``srcdoc``. JupyterLab, the classic
    notebook, VS Code and Colab all show that; browsers refuse to open ``data:`` addresses of this
    size, and VS Code those of ``blob:``. Nothing has to run in the notebook itself, and the page
    cannot reach it (``sandbox``), nor any server. Where a notebook is not trusted, or on sites that
    show notebooks, frames are removed: then a sentence says how to get the page. Jupyter drops
    what a cell prints beyond 3 MB in 3 s: show one page a cell.

    A missing file raises FileNotFoundError, a file that is not a trace TraceError, a wrong option
    ValueError. TraceError also if opscope was built without the page of the viewer.
    """
    if isinstance(trace, Trace):
        known = {name: value for name, value in trace._options.items() if name != "one_by_one"}
        options = {**known, **options}
    with _files(trace) as paths:
        page, said = _make(paths, options)
    for line in [] if isinstance(trace, Trace) else said:
        warnings.warn(in_python(line), stacklevel=2)
    name = os.path.basename(paths[0].rstrip("/")) if paths else ""
    return View("trace" if options.get("redact") else name, page, height)
