# SPDX-License-Identifier: Apache-2.0
"""The process `opscope view` behind TensorBoard.

It listens at a Unix socket in a directory of ours, starts with the first request, ends with the
pipe that this process holds, and is started again if it has died.
"""

from __future__ import annotations

import atexit
import contextlib
import http.client
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections import deque
from typing import Any, Callable

from .._place import COMMAND

# The server ends a question after ten seconds, and sends something every five where there is news.
PATIENCE_S = 60
START_S = 20
PAUSE_S = 1.0  # after an attempt to start it that failed


class NoServer(Exception):
    """There is no server; the text is what it said."""


class Connection(http.client.HTTPConnection):
    """HTTP over the Unix socket PATH."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=PATIENCE_S)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Viewer:
    """The process `opscope view WORDS`. MARK tells which runs there are: if that changes, the page
    gets a new process, because one looks for runs only when it starts."""

    def __init__(self, words: list[str], mark: Callable[[], object]) -> None:
        self.words, self.mark = words, mark
        self.lock = threading.Lock()  # of the rest
        self.process: subprocess.Popen[bytes] | None = None
        self.folder, self.failed_at = "", -PAUSE_S
        self.marked: object = None
        self.said: deque[str] = deque(maxlen=20)
        atexit.register(self.stop)

    def _read(self, stream: Any, is_there: threading.Event) -> None:
        with stream:
            for line in stream:
                text = line.decode(errors="replace").strip()
                if text.startswith("opscope view: unix:"):
                    is_there.set()
                else:
                    self.said.append(text)
        is_there.set()  # or there is none

    def _start(self) -> None:
        if time.monotonic() - self.failed_at < PAUSE_S:
            raise NoServer("\n".join(self.said))
        self.said.clear()
        self.marked = self.mark()
        self.folder = tempfile.mkdtemp(prefix="opscope-")
        self.process = subprocess.Popen(
            [COMMAND, "view", *self.words, "--until-eof", f"--socket={self.folder}/socket"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        is_there = threading.Event()
        threading.Thread(
            target=self._read, args=(self.process.stderr, is_there), daemon=True
        ).start()
        if is_there.wait(START_S) and os.path.exists(f"{self.folder}/socket"):
            return
        self._end()
        self.failed_at = time.monotonic()
        raise NoServer("\n".join(self.said) or "opscope view does not start")

    def _end(self) -> None:
        if self.process is not None:
            if self.process.stdin is not None:
                self.process.stdin.close()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self) -> None:
        """End it."""
        with self.lock:
            self._end()

    def _connect(self, target: str) -> Connection:
        """A connection to it; starts it if it has to."""
        with self.lock:
            if (
                self.process is None
                or self.process.poll() is not None
                or (target == "/" and self.mark() != self.marked)
            ):
                self._end()
                self._start()
            return Connection(f"{self.folder}/socket")

    def ask(
        self, target: str, headers: dict[str, str], method: str = "GET"
    ) -> http.client.HTTPResponse:
        """The response to a request, of which the head was read. One that dies meanwhile is asked
        again. NoServer: there is none."""
        for is_last in (False, True):
            c = self._connect(target)
            try:
                c.request(method, target, headers={"Connection": "close", **headers})
                return c.getresponse()
            except (OSError, http.client.HTTPException) as e:
                c.close()
                if is_last or isinstance(e, TimeoutError):
                    raise NoServer(f"opscope view has not answered ({e})") from None
                # One that dies closes its socket before it is known to have ended.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    if (process := self.process) is not None:
                        process.wait(1)
        raise NoServer("opscope view has not answered")
