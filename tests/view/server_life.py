# SPDX-License-Identifier: Apache-2.0
"""Tests for server.py: clients, files and ports that come and go."""

import contextlib
import http.client
import json
import os
import resource
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
import urllib.parse

import serving
from serving import DATA, DEMO, Events, Server, busy_seconds, command, decode, idles, works

# A filter that takes some 100 ms a row.
SLOW = (
    "replace(" * 5
    + "args || 'aaaaaaaaaaaa'"
    + "".join(f", '{a}', '{b * 10}')" for a, b in zip("abcde", "bcdef"))
    + " = ''"
)


def test_slow_and_broken_clients_are_dropped():
    with Server(DEMO) as s:
        begun = time.time()
        opened = [socket.create_connection(("127.0.0.1", s.port)) for _ in range(20)]
        for i, c in enumerate(opened):
            c.sendall(b"GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\nX: "[: i * 3])
        ends = []

        def drip(c):
            with contextlib.suppress(OSError):
                while time.time() - begun < 15:
                    c.sendall(b"a")
                    time.sleep(0.3)
            ends.append(time.time() - begun)

        threads = [threading.Thread(target=drip, args=(c,)) for c in opened]
        for t in threads:
            t.start()
        time.sleep(0.5)
        assert s.get("session")[0] == 200  # others are served meanwhile
        for t in threads:
            t.join()
        assert max(ends) < 9, ends
        yield
        for data in (
            b"\r\n\r\n",
            b"\0" * 100,
            b"GET\r\n\r\n",
            b"GET / HTTP/9.9\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00",
            b"GET /api/v1/session HTTP/1.1\r\nHost: "
            b"localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
            b"GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n",
            b"GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
            b"chunked\r\n\r\nzz\r\n",
            b"GET /" + b"\xff" * 50 + b" HTTP/1.1\r\n\r\n",
        ):
            s.raw(data, timeout=8)
            assert s.get("session")[0] == 200, data
            yield


def test_ten_thousand_connections():
    """So many as this machine lets one process have, at most 10,000."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with Server(DEMO) as s:
        s.wait_ready()
        opened = []
        for _ in range(min(10_000, hard - 200)):
            with contextlib.suppress(OSError):
                opened.append(socket.create_connection(("127.0.0.1", s.port), timeout=5))
        assert len(opened) > 1000 or hard < 1200, len(opened)
        print(f"connections: {len(opened)}")
        assert s.process.poll() is None
        time.sleep(7)  # none has sent a head
        assert s.get("session", timeout=20)[0] == 200
        for c in opened:
            c.close()
        yield
        results = []

        def ask(i):
            with contextlib.suppress(OSError, http.client.HTTPException):
                results.append(s.get("table/operators", {"format": "csv", "limit": i % 9})[0])

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(300)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert set(results) <= {200, 429} and results.count(200) > 20, results
        assert s.get("table/operators", {"format": "csv"})[0] == 200
        yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def open_slow(s, n=1):
    """Connections that have asked a question that takes minutes."""
    query = urllib.parse.urlencode({"where": SLOW, "format": "csv", "sort": "dur_ns"})
    opened = []
    for i in range(n):
        c = socket.create_connection(("127.0.0.1", s.port))
        c.sendall(
            f"GET /api/v1/table/events?{query}&limit={i + 1} HTTP/1.1\r\n"
            "Host: localhost\r\n\r\n".encode()
        )
        opened.append(c)
    return opened


def test_who_leaves_is_not_answered():
    with Server(DEMO) as s:
        s.wait_ready()
        for how in ("close", "reset", "half"):
            (c,) = open_slow(s)
            assert works(s.process.pid, 10), how
            if how == "reset":
                c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if how == "half":
                c.shutdown(socket.SHUT_WR)
            else:
                c.close()
            assert idles(s.process.pid, 6), how
            yield


def test_questions_are_limited():
    with Server(DEMO) as s:
        s.wait_ready()
        opened = open_slow(s, 4)
        time.sleep(0.5)
        status, headers, body = s.get("table/steps", {"format": "csv"})
        assert status == 429 and headers["retry-after"] == "1", (status, body)
        assert s.get("session")[0] == 200 and s.get("catalog")[0] == 200
        yield
        begun = time.time()
        got = opened[0].recv(65536)
        assert b" 504 " in got.split(b"\r\n")[0] and time.time() - begun < 14, got[:200]
        for c in opened:
            c.close()
        assert idles(s.process.pid, 8)
        assert s.get("table/steps", {"format": "csv"})[0] == 200
        yield


def test_functions_are_stopped():
    """Questions that SQLite's own functions would work on for hours."""
    long = "printf('%.*c', 16000000, 'a')"
    calls = [
        f"instr({long}, substr({long}, 8000000) || 'b')",
        f"replace({long}, substr({long}, 8000000) || 'b', 'c') = ''",
        f"trim({long}, replace({long}, 'a', 'b') || 'a') = ''",
        f"{long} LIKE '%' || substr({long}, -900) || 'b'",
    ]
    with Server(DEMO) as s:
        s.wait_ready()
        opened = []
        for call in calls:
            query = urllib.parse.urlencode({"where": call, "format": "csv"})
            c = socket.create_connection(("127.0.0.1", s.port), timeout=60)
            c.sendall(
                f"GET /api/v1/table/operators?{query} HTTP/1.1\r\n"
                "Host: localhost\r\n\r\n".encode()
            )
            opened.append(c)
        for c in opened:
            assert c.recv(65536).split()[1] in (b"200", b"504")
            c.close()
        assert idles(s.process.pid, 8)
        assert s.get("table/steps", {"format": "csv"})[0] == 200
        yield


def test_slow_readers_leave_room():
    with Server(DEMO) as s:
        s.wait_ready()
        expected = s.get("table/events", {"format": "json"})[2]
        assert len(expected) > 1 << 20  # more than is kept for a client
        opened = []
        for _ in range(6):
            c = socket.socket()
            c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            c.connect(("127.0.0.1", s.port))
            c.sendall(
                b"GET /api/v1/table/events?format=json HTTP/1.0\r\nHost: localhost\r\n\r\n"
            )
            assert c.recv(16)
            opened.append(c)
        time.sleep(0.5)
        assert s.get("table/steps", {"format": "csv"})[0] == 200
        yield
        opened[0].close()
        for c in opened[1:]:  # they get all of it in the end
            c.settimeout(60)
            got = b"".join(iter(lambda c=c: c.recv(1 << 16), b""))
            assert got.endswith(expected[-1000:]), len(got)
            c.close()
        assert idles(s.process.pid, 8)
        yield


def test_the_page_is_there_while_the_trace_loads():
    fifo = serving.TEMP / "slow.json"
    os.mkfifo(fifo)
    with Server(fifo) as s:
        assert s.request("/")[0] == 200 and s.get("catalog")[0] == 200
        session = s.json("session")
        assert session["runs"][0]["state"] in ("waiting", "loading"), session
        assert s.json("runs")["info"] is None
        results = []
        asking = threading.Thread(
            target=lambda: results.append(s.get("table/steps", {"format": "csv"}))
        )
        asking.start()
        leaving = socket.create_connection(("127.0.0.1", s.port))
        leaving.sendall(b"GET /api/v1/table/steps HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(0.3)
        leaving.close()
        assert not results
        fifo.write_bytes((DATA / "small.json").read_bytes())
        asking.join(30)
        assert results and results[0][0] == 200 and results[0][2].startswith(b"step,"), results
        yield
    other = serving.TEMP / "never.json"
    os.mkfifo(other)
    s = Server(other)
    c = socket.create_connection(("127.0.0.1", s.port))
    c.sendall(b"GET /api/v1/table/steps HTTP/1.1\r\nHost: localhost\r\n\r\n")
    time.sleep(0.3)
    assert s.stop() == 0
    yield


def test_files_are_followed():
    folder = serving.TEMP / "follow"
    folder.mkdir()
    first = folder / "w1.1.pt.trace.json"

    def write(path, n):
        events = [
            {
                "ph": "X",
                "cat": "cpu_op",
                "name": f"op{i}",
                "pid": 1,
                "tid": 1,
                "ts": 10 * i,
                "dur": 5,
            }
            for i in range(n)
        ]
        part = path.with_suffix(".part")
        part.write_text(json.dumps({"traceEvents": events, "distributedInfo": {"rank": 0}}))
        part.rename(path)

    write(first, 3)
    with Server(folder) as s:
        stream = Events(s)
        before = stream.until("ready")["fingerprint"]
        assert before == s.json("session")["runs"][0]["fingerprint"]
        tag = s.get("table/operators", {"format": "csv"})[1]["etag"]
        assert len(decode(s.get("table/operators")[2])[1][0]) == 3
        write(first, 5)
        after = stream.until("model")["fingerprint"]
        assert after != before
        status, headers, _ = s.get(
            "table/operators", {"format": "csv"}, headers={"If-None-Match": tag}
        )
        assert status == 200 and headers["etag"] != tag
        assert len(decode(s.get("table/operators")[2])[1][0]) == 5
        assert s.get("table/operators", {"fp": before})[0] == 409
        yield
        write(folder / "w2.1.pt.trace.json", 2)
        stream.until("model")
        assert (
            len(
                {
                    r["file"] if isinstance(r, dict) else r[0]
                    for r in s.json("table/tracks", {"format": "json"})["rows"]
                }
            )
            >= 1
        )
        assert (
            command("table", "operators", folder, "--format", "csv")[1]
            == s.get("table/operators", {"format": "csv"})[2]
        )
        yield
        stop = threading.Thread(target=s.stop)
        stop.start()
        stream.until("bye")
        stop.join()
        assert s.process.returncode == 0
        yield


def test_files_that_vanish_are_told():
    trace = serving.TEMP / "vanishing.json"
    shutil.copy(DATA / "small.json", trace)
    with Server(trace) as s:
        stream = Events(s)
        stream.until("ready")
        before = s.get("table/events", {"format": "csv"})[2]
        trace.unlink()
        assert "vanishing" in stream.until("stale")["message"]
        assert s.get("table/events", {"format": "csv"})[2] == before
        yield


def test_an_idle_server_costs_little():
    with Server(DEMO) as s:
        s.wait_ready()
        stream = Events(s)
        stream.until("ready")
        time.sleep(1)
        before = busy_seconds(s.process.pid)
        time.sleep(4)
        assert busy_seconds(s.process.pid) - before < 0.45
        yield


def test_ports():
    with contextlib.ExitStack() as stack:
        one = stack.enter_context(Server(DEMO, port=None))
        two = stack.enter_context(Server(DEMO, port=None))
        assert one.port != two.port and one.get("session")[0] == two.get("session")[0] == 200
        assert any("is taken" in line for line in two.lines), two.lines
        done = subprocess.run(
            [str(serving.OPSCOPE), "view", str(DEMO), "--port", str(one.port)],
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
        assert done.returncode == 1 and f"port {one.port} is taken" in done.stderr, done
        yield
    for words, status, word in (
        (["--port", "x"], 2, "port"),
        (["--port", "65536"], 2, "port"),
        (["--host", "a", "--bind_all"], 2, "exclude"),
        (["--socket", "a", "--port", "0"], 2, "excludes"),
        (["--socket", "a" * 200], 2, "107 bytes"),
        (["--host", "no.such.host.invalid"], 2, "host"),
        (["--path_prefix", "a?b"], 2, "prefix"),
    ):
        done = subprocess.run(
            [str(serving.OPSCOPE), "view", str(DEMO), *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == status and word in done.stderr, (words, done)
        yield
    empty = serving.TEMP / "empty"
    empty.mkdir()
    for name in ("missing.json", str(empty)):
        done = subprocess.run(
            [str(serving.OPSCOPE), "view", name, "--port", "0"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode != 0 and "http" not in done.stderr, done
        yield
    broken = serving.TEMP / "broken.json"
    broken.write_bytes(b"\x7fELF not a trace")
    done = subprocess.run(
        [str(serving.OPSCOPE), "view", str(broken), "--port", "0"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    told = command("info", broken)[0]
    assert (done.returncode == 1) == (told == 1), (done, told)
    yield


def test_signals_end_it():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        s = Server(DEMO)
        c = socket.create_connection(("127.0.0.1", s.port))  # open, and idle
        begun = time.time()
        assert s.stop(number) == 0 and time.time() - begun < 5, number
        c.close()
        yield
    s = Server(DEMO)
    s.wait_ready()
    opened = open_slow(s, 4)
    time.sleep(0.5)
    assert s.stop(signal.SIGINT) == 0
    for c in opened:
        c.close()
    yield
