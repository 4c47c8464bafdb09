# SPDX-License-Identifier: Apache-2.0
"""A server that tests ask, and what they need beside it."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
SHARED = ROOT.parent / "shared" / "data"
DEMO = DATA / "demo.pt.trace.json.gz"

# Set by server.py.
OPSCOPE, TEMP = None, None


class Server:
    """`opscope view` with ARGS, from when it prints its address."""

    def __init__(self, *args, port="0", opscope=None):
        words = [str(opscope or OPSCOPE), "view", *map(str, args)]
        words += ["--port", port] if port is not None else []
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.lines, self.url = [], None
        for raw in self.process.stderr:
            self.lines.append(raw.decode().rstrip())
            found = re.search(r"view: (http://\S+)", self.lines[-1])
            if found:
                self.url = found[1]
                break
        if not self.url:
            raise AssertionError(f"no address: {self.lines}")
        parts = urllib.parse.urlsplit(self.url)
        self.port, self.base = parts.port, parts.path
        self.reader = threading.Thread(target=self.read_rest, daemon=True)
        self.reader.start()

    def read_rest(self):
        for raw in self.process.stderr:
            self.lines.append(raw.decode().rstrip())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self, number=signal.SIGTERM):
        """End it; returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError("the server does not end") from None

    def request(self, path, headers=None, method="GET", timeout=120):
        """(status, headers, body)"""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            c.putrequest(
                method,
                path,
                skip_host="Host" in (headers or {}),
                skip_accept_encoding="Accept-Encoding" in (headers or {}),
            )
            for name, value in (headers or {}).items():
                c.putheader(name, value)
            c.endheaders()
            r = c.getresponse()
            return r.status, {k.lower(): v for k, v in r.getheaders()}, r.read()
        finally:
            c.close()

    def get(self, path, query=(), **more):
        text = urllib.parse.urlencode(query)
        return self.request(f"{self.base}api/v1/{path}" + ("?" + text if text else ""), **more)

    def json(self, path, query=()):
        status, _, body = self.get(path, query)
        assert status == 200, (path, status, body[:300])
        return json.loads(body)

    def wait_ready(self):
        until = time.time() + 60
        while time.time() < until:
            run = self.json("session")["runs"][0]
            if run["state"] == "ready":
                return run
            assert run["state"] != "failed", run
            time.sleep(0.05)
        raise AssertionError("it is never ready")

    def raw(self, data, timeout=20):
        """Send bytes; returns what comes back until the server closes or TIMEOUT."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as s:
            s.sendall(data)
            got = b""
            with contextlib.suppress(TimeoutError, ConnectionResetError):
                while chunk := s.recv(65536):
                    got += chunk
            return got


class Events:
    """The stream of events of S."""

    def __init__(self, s):
        self.socket = socket.create_connection(("127.0.0.1", s.port), timeout=15)
        self.socket.sendall(b"GET /api/v1/progress HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.file = self.socket.makefile("rb")

    def next(self):
        """(name, data)"""
        name = None
        for raw in self.file:
            line = raw.decode().strip()
            if line.startswith("event: "):
                name = line[7:]
            if line.startswith("data: ") and name:
                return name, json.loads(line[6:])
        raise AssertionError("the stream has ended")

    def until(self, wanted):
        while True:
            name, data = self.next()
            if name == wanted:
                return data


def command(*words):
    """What the command prints: (status, stdout)."""
    done = subprocess.run(
        [str(OPSCOPE), *map(str, words)],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )
    return done.returncode, done.stdout


def decode(body):
    """The head and the columns of format=cols, from the text of src/api/cols.h."""
    assert body[:8] == b"osccols1"
    n_head, data = struct.unpack_from("<II", body, 8)
    assert data % 8 == 0 and data >= 16 + n_head
    assert body[16 + n_head : data].strip() == b""
    head = json.loads(body[16 : 16 + n_head])
    n, words = head["n"], head["words"]
    offsets = struct.unpack_from(f"<{words['n'] + 1}I", body, data + words["offsets"])
    blob = body[data + words["bytes"] : data + words["bytes"] + words["n_bytes"]]
    assert offsets[-1] == len(blob)
    texts = [blob[a:b].decode() for a, b in zip(offsets, offsets[1:])]
    assert len(set(texts)) == len(texts)
    columns = []
    for c in head["columns"]:
        code = {
            "BigInt64Array": "q",
            "Float64Array": "d",
            "Uint8Array": "B",
            "Uint32Array": "I",
        }[c["array"]]
        assert c["at"] % 8 == 0, c
        values = list(struct.unpack_from(f"<{n}{code}", body, data + c["at"]))
        if c["type"] == "string":
            values = [texts[v] for v in values]
        elif c["type"] == "boolean":
            assert set(values) <= {0, 1}
            values = [bool(v) for v in values]
        if c["missing"] is not None:
            assert c["missing"] % 8 == 0
            gone = body[data + c["missing"] : data + c["missing"] + n]
            assert set(gone) <= {0, 1} and 1 in gone
            values = [None if g else v for v, g in zip(values, gone)]
        columns.append(values)
    return head, columns


def traces():
    """Operands to look at: plain files, and directories of several ranks."""
    found = [DEMO]
    for path in (
        SHARED / "torch213" / "ddp2_logdir",
        SHARED / "wild" / "cuda_v100_dlrm_8ranks",
    ):
        found += [path] if path.exists() else []
    for path in (DATA / "alexnet_a100.json.gz", DATA / "small.json"):
        found += [path] if len(found) < 3 else []
    return found


def ask_socket(path, target, headers=""):
    """What a server at the Unix socket PATH answers: (status, head and body)."""
    with socket.socket(socket.AF_UNIX) as c:
        c.settimeout(60)
        c.connect(str(path))
        c.sendall(f"GET {target} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n".encode())
        got = b""
        while chunk := c.recv(65536):
            got += chunk
    return int(got.split()[1]), got.decode(errors="replace")


def busy_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def works(pid, within):
    """Whether the process begins to work WITHIN seconds."""
    until = time.time() + within
    while time.time() < until:
        before = busy_seconds(pid)
        time.sleep(0.5)
        if busy_seconds(pid) - before >= 0.03:
            return True
    return False


def idles(pid, within):
    """Whether the process stops working WITHIN seconds."""
    until = time.time() + within
    while time.time() < until:
        before = busy_seconds(pid)
        time.sleep(0.5)
        if busy_seconds(pid) - before < 0.03:  # also where other programs leave it little
            return True
    return False
