#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ask the viewer's server as browsers and programs do, and as attackers do.

usage: server.py [--opscope PATH] [NAME...]

Every table of the catalog in every form must be, to the byte, what the command prints; typed arrays
must have the values of JSON. NAME chooses tests. The last line is "N passed, N failed". The traces
are those of the tree, and of ../shared if it is there.
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
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
SHARED = ROOT.parent / "shared" / "data"
DEMO = DATA / "demo.pt.trace.json.gz"
FORMS = ("text", "csv", "json", "md")

# A filter that takes some 100 ms a row.
SLOW = "replace(" * 5 + "args || 'aaaaaaaaaaaa'" + "".join(
    f", '{a}', '{b * 10}')" for a, b in zip("abcde", "bcdef")) + " = ''"


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
            c.putrequest(method, path, skip_host="Host" in (headers or {}))
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


def command(*words):
    """What the command prints: (status, stdout)."""
    done = subprocess.run([str(OPSCOPE), *map(str, words)], capture_output=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=300)
    return done.returncode, done.stdout


def decode(body):
    """The head and the columns of format=cols, from the text of src/api/cols.h."""
    assert body[:8] == b"osccols1"
    n_head, data = struct.unpack_from("<II", body, 8)
    assert data % 8 == 0 and data >= 16 + n_head
    assert body[16 + n_head:data].strip() == b""
    head = json.loads(body[16:16 + n_head])
    n, words = head["n"], head["words"]
    offsets = struct.unpack_from(f"<{words['n'] + 1}I", body, data + words["offsets"])
    blob = body[data + words["bytes"]:data + words["bytes"] + words["n_bytes"]]
    assert offsets[-1] == len(blob)
    texts = [blob[a:b].decode() for a, b in zip(offsets, offsets[1:])]
    assert len(set(texts)) == len(texts)
    columns = []
    for c in head["columns"]:
        code = {"BigInt64Array": "q", "Float64Array": "d", "Uint8Array": "B",
                "Uint32Array": "I"}[c["array"]]
        assert c["at"] % 8 == 0, c
        values = list(struct.unpack_from(f"<{n}{code}", body, data + c["at"]))
        if c["type"] == "string":
            values = [texts[v] for v in values]
        elif c["type"] == "boolean":
            assert set(values) <= {0, 1}
            values = [bool(v) for v in values]
        if c["missing"] is not None:
            assert c["missing"] % 8 == 0
            gone = body[data + c["missing"]:data + c["missing"] + n]
            assert set(gone) <= {0, 1} and 1 in gone
            values = [None if g else v for v, g in zip(values, gone)]
        columns.append(values)
    return head, columns


def traces():
    """Operands to look at: plain files, and directories of several ranks."""
    found = [DEMO]
    for path in (SHARED / "torch213" / "ddp2_logdir", SHARED / "wild" / "cuda_v100_dlrm_8ranks"):
        found += [path] if path.exists() else []
    for path in (DATA / "alexnet_a100.json.gz", DATA / "small.json"):
        found += [path] if len(found) < 3 else []
    return found


OPTIONS = [
    ("operators", {"sort": "calls", "limit": "3"}), ("operators", {"sort": "-name"}),
    ("kernels", {"group-by": "op", "limit": "2"}), ("operators", {"merge": ""}),
    ("averages", {"group-by": "shape", "sort": "self_cpu_time_total"}),
    ("averages", {"group-by": "shape,stack:3", "no-python": ""}),
    ("events", {"where": "dur_ns > us(10) and name like 'aten::%'", "columns": "id,name,dur_ns"}),
    ("events", {"from": "1ms", "to": "5ms", "limit": "7"}), ("overview", {"steps": "@0"}),
    ("ranges", {"group-by": "thread,category", "sort": "p99_ns"}), ("steps", {"rank": "0"}),
    ("durations", {"name": "aten::add_"}), ("overview", {"compat": "tb"}),
    ("memory_events", {"at": "3ms"}), ("threads", {"columns": "name,events", "limit": "0"}),
    ("operators", {"where": "name like '%<&\"''>%'"}), ("kernels", {"device": "cuda:0"}),
]
TEXT_OPTIONS = [("averages", {"header": "A <b> & c", "top-level": "", "max-name-width": "20"}),
                ("averages", {"torch": "1.13"}), ("kernels", {"full-names": ""})]


def as_words(options):
    words = []
    for name, value in options.items():
        words += [f"--{name}={value}" if value else f"--{name}"]
    return words


def check_same(server, trace, table, form, options):
    status, printed = command("table", table, trace, "--format", form, *as_words(options))
    got, headers, body = server.get(f"table/{table}", {**options, "format": form})
    if status != 0:
        assert got >= 400, (table, form, options, status, got)
        return
    assert got == 200, (table, form, options, got, body[:300])
    assert body == printed, (table, form, options, body[:200], printed[:200])
    assert headers["x-content-type-options"] == "nosniff"


def test_tables_are_those_of_the_command():
    for trace in traces():
        with Server(trace) as s:
            for table in s.json("catalog")["tables"]:
                for form in FORMS if not table["compares"] else ():
                    check_same(s, trace, table["name"], form, {})
                    yield


def test_options_are_those_of_the_command():
    for trace in traces():
        with Server(trace) as s:
            for table, options in OPTIONS:
                for form in ("csv", "json", "md"):
                    check_same(s, trace, table, form, options)
                    yield
            for table, options in TEXT_OPTIONS:
                check_same(s, trace, table, "text", options)
                yield


def test_a_selection_of_the_server_is_that_of_the_command():
    with Server(DEMO, "--steps", "@1", "--no-args") as s:
        for table in ("events", "operators", "overview"):
            status, printed = command("table", table, DEMO, "--format", "csv", "--steps", "@1",
                                      "--no-args")
            assert status == 0 and s.get(f"table/{table}", {"format": "csv"})[2] == printed
            yield


def test_columns_have_the_values_of_json():
    for trace in traces():
        with Server(trace) as s:
            for table in s.json("catalog")["tables"]:
                if table["compares"]:
                    continue
                name = table["name"]
                expected = s.json(f"table/{name}", {"format": "json"})
                for ints in ("exact", "number"):
                    status, _, body = s.get(f"table/{name}", {"limit": "1000000", "ints": ints})
                    assert status == 200, body
                    head, columns = decode(body)
                    rows = [list(r) for r in zip(*columns)] if head["n"] else []
                    wanted = [[c["name"], c["type"], c["unit"], c["help"]]
                              for c in expected["columns"]]
                    assert [[c["name"], c["type"], c["unit"], c["help"]]
                            for c in head["columns"]] == wanted, name
                    assert rows == expected["rows"], name
                    assert head["notes"] == expected["notes"] and head["rows"] == len(rows)
                    arrays = {c["array"] for c in head["columns"] if c["type"] == "integer"}
                    assert arrays <= ({"BigInt64Array"} if ints == "exact" else
                                      {"BigInt64Array", "Float64Array"})
                yield


def test_windows_are_parts_of_the_whole():
    for trace in traces():
        with Server(trace) as s:
            for query in ({}, {"sort": "-dur_ns"}, {"where": "dur_ns > 0"}, {"merge": ""}):
                head, whole = decode(s.get("table/events", {**query, "limit": "1000000"})[2])
                n = head["rows"]
                assert n > 9 and n == head["n"], n
                for offset, limit in ((0, 7), (3, 1), (n // 2, 11), (n - 2, 50), (n, 5),
                                      (n + 9, 5), (0, 0), (2**62, 3)):
                    part, columns = decode(s.get("table/events", {**query, "offset": offset,
                                                                  "limit": limit})[2])
                    assert columns == [c[offset:offset + limit] for c in whole], (offset, limit)
                    assert part["rows"] == n
                    yield


def test_windows_cross_chunks():
    trace, n = TEMP / "long.json", 140000
    with trace.open("w") as f:
        f.write('{"traceEvents":[')
        for i in range(n):
            f.write(f'{{"ph":"X","cat":"cpu_op","name":"o{i % 7}","pid":1,"tid":{i % 3},"ts":{i}'
                    f',"dur":{i % 11 + 1}}},\n')
        f.write('{"ph":"X","cat":"cpu_op","name":"end","pid":1,"tid":1,"ts":150000,"dur":1}]}')
    with Server(trace) as s:
        first = decode(s.get("table/events", {"columns": "id", "limit": 1})[2])[1][0][0]
        for offset in (0, 4095, 4096, 65530, 65536, 65537, 131071, 139990, n, n + 1, 10 * n):
            head, columns = decode(s.get("table/events", {"columns": "id,name", "limit": 20,
                                                          "offset": offset})[2])
            ids = list(range(first + offset, first + min(offset + 20, n + 1)))
            assert columns[0] == ids and head["rows"] == n + 1, (offset, columns)
            assert columns[1][:1] == [f"o{offset % 7}"] or offset >= n, (offset, columns)
            yield


def unnamed(text):
    """TEXT without the names of the files, which a comparison need not have."""
    return re.sub(rb'"sources": \[[^]]*\]|^\(?[Tt]races?:? .*$|`[^`]*\.json[^`]*`', b"", text, flags=re.M)


def test_runs_compare():
    folder = TEMP / "pair"
    for name in ("a", "b"):
        (folder / name).mkdir(parents=True)
    shutil.copy(DEMO, folder / "a" / "w1.1.pt.trace.json.gz")
    shutil.copy(DATA / "alexnet_a100.json.gz", folder / "b" / "w1.1.pt.trace.json.gz")
    with Server("--logdir", folder, "--run", "a") as s:
        session = s.json("session")
        assert session["run"] == "a" and [r["name"] for r in session["runs"]] == ["a", "b"]
        for table in ("diff_steps", "diff_operators", "diff_kernels", "diff_tree"):
            for form in FORMS:
                status, printed = command("table", table, folder / "a", folder / "b", "--format",
                                          form)
                got = s.get(f"table/{table}", {"run": "b", "base": "a", "format": form})
                assert status == 0 and got[0] == 200, (table, form, got)
                assert unnamed(got[2]) == unnamed(printed), (table, form, got)
            decode(s.get(f"table/{table}", {"run": "b", "base": "a"})[2])
            yield
        status, _, body = s.get("table/diff_steps")
        assert status == 400 and b"base=" in body
        status, _, body = s.get("table/steps", {"base": "a"})
        assert status == 400, body
        assert s.get("table/steps", {"run": "c"})[0] == 404
        runs = s.json("runs", {"run": "b"})
        assert runs["run"] == "b" and len(runs["runs"]["rows"]) == 2
        assert any(row[0] == "format" for row in runs["info"]["rows"]), runs["info"]["rows"]
        yield


def test_errors_say_what_to_do():
    with Server(DEMO) as s:
        for path, query, status, word in (
                ("tabel/steps", {}, 404, "table"), ("table/stepz", {}, 404, "steps"),
                ("table/", {}, 404, "table"), ("table", {}, 404, "table"),
                ("session/x", {}, 404, "session"), ("", {}, 404, "nothing"),
                ("table/steps", {"sorted": "x"}, 400, "--sort"),
                ("table/steps", {"sort": "totl_ns"}, 400, "total_ns"),
                ("table/steps", {"columns": "step,labl"}, 400, "label"),
                ("table/steps", {"where": "total_ns >"}, 400, "where"),
                ("table/steps", {"format": "cvs"}, 400, "csv"),
                ("table/steps", {"format": "csv", "offset": "1"}, 400, "offset"),
                ("table/steps", {"offset": "-1"}, 400, "offset"),
                ("table/steps", {"limit": "1000001"}, 400, "limit"),
                ("table/steps", {"ints": "x"}, 400, "ints"),
                ("table/steps", {"steps": "x"}, 400, "--steps"),
                ("table/steps", {"threads": "4"}, 400, "threads"),
                ("table/steps", {"max-memory": "1"}, 400, "max-memory"),
                ("table/steps", {"group-by": "shape"}, 400, "group-by"),
                ("table/steps", {"header": "x", "format": "csv"}, 400, "header"),
                ("table/steps", {"rank": "7"}, 404, "rank"),
                ("table/steps", {"run": "demo"}, 404, "demo.pt.trace.json.gz"),
                ("table/steps", {"fp": "0" * 32}, 409, "changed")):
            got, headers, body = s.get(path, query)
            assert got == status, (path, query, got, body)
            error = json.loads(body)
            assert set(error) == {"code", "message", "what_to_do", "command"}, error
            assert word in error["message"], (word, error)
            assert headers["content-type"].startswith("application/json")
            yield
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"):
            got, headers, _ = s.request("/api/v1/session", method=method)
            assert got == 405 and headers["allow"] == "GET, HEAD", (method, got)
            yield
        got, headers, body = s.request("/api/v1/session", method="HEAD")
        assert got == 200 and body == b"" and int(headers["content-length"]) > 100
        yield


def test_tags_save_answers():
    with Server(DEMO) as s:
        for path, query in (("table/steps", {"format": "csv"}), ("table/operators", {}),
                            ("catalog", {})):
            _, headers, body = s.get(path, query)
            tag = headers["etag"]
            assert tag.startswith('W/"') and "no-cache" in headers["cache-control"]
            status, again, nothing = s.get(path, query, headers={"If-None-Match": tag})
            assert status == 304 and nothing == b"" and again["etag"] == tag
            status, _, same = s.get(path, query, headers={"If-None-Match": 'W/"other"'})
            assert status == 200 and same == body
            yield
        other = s.get("table/steps", {"format": "json"})[1]["etag"]
        assert other != s.get("table/steps", {"format": "csv"})[1]["etag"]
        yield


CSP = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
       "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")


def test_pages_are_guarded():
    with Server(DEMO) as s:
        for path in ("/", "/api/v1/session", "/api/v1/catalog", "/nothing", "/api/v1/table/x"):
            _, headers, body = s.request(path)
            assert headers["content-security-policy"] == CSP
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["cross-origin-opener-policy"] == "same-origin"
            assert headers["cross-origin-resource-policy"] == "same-origin"
            assert not any(k.startswith("access-control") for k in headers)
            assert b"<script>" not in body and b"style=" not in body
            yield
        page = s.request("/")[2].decode()
        for link in re.findall(r'href="([^"]*)"', page):
            assert not link.startswith(("/", "http")), link
            if link.startswith("data:"):   # in the page itself
                continue
            assert s.request("/" + link.replace("&amp;", "&"))[0] == 200, link
        yield


def test_foreign_requests_are_refused():
    with Server(DEMO, "--hosts", "proxy.example,other") as s:
        host = f"127.0.0.1:{s.port}"
        good = [{"Host": host}, {"Host": "localhost"}, {"Host": "LOCALHOST:1"},
                {"Host": "[::1]:6006"}, {"Host": "127.1.2.3"}, {"Host": "proxy.example"},
                {"Host": "Other:80"}, {"Host": host, "Origin": f"http://{host}"},
                {"Host": host, "Sec-Fetch-Site": "same-origin"},
                {"Host": host, "Sec-Fetch-Site": "none"},
                {"Host": "proxy.example", "Origin": "https://proxy.example"}]
        bad = [{"Host": "evil.com"}, {"Host": "localhost.evil.com"}, {"Host": "evil.localhost"},
               {"Host": "127.0.0.1.evil.com"}, {"Host": "127.0.0.1.nip.io:6006"}, {"Host": ""},
               {"Host": "127.0.0.1@evil.com"}, {"Host": "[::1"}, {"Host": "127.0.0.256"},
               {"Host": "127.0.0"}, {"Host": "localhost:80x"}, {"Host": "0.0.0.0"},
               {"Host": "other, evil.com"}, {"Host": "2130706433"},
               {"Host": host, "Origin": "http://evil.com"}, {"Host": host, "Origin": "null"},
               {"Host": host, "Origin": "http://localhost:1"},
               {"Host": host, "Origin": f"http://{host}.evil.com"},
               {"Host": host, "Sec-Fetch-Site": "cross-site"},
               {"Host": host, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate",
                "Sec-Fetch-Dest": "document"}]
        for headers in good:
            assert s.request("/api/v1/session", headers)[0] == 200, headers
            yield
        for headers in bad:
            status, _, body = s.request("/api/v1/session", headers)
            assert status in (400, 403), (headers, status)
            assert b"demo" not in body
            yield
        assert b" 400 " in s.raw(b"GET /api/v1/session HTTP/1.1\r\n\r\n").split(b"\r\n")[0]
        assert b" 403 " in s.raw(b"GET /api/v1/session HTTP/1.0\r\n\r\n").split(b"\r\n")[0]
        link = {"Host": host, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate",
                "Sec-Fetch-Dest": "document"}
        assert s.request("/", link)[0] == 200
        assert s.request("/", {**link, "Sec-Fetch-Dest": "iframe"})[0] == 403
        yield


def test_paths_lead_nowhere_else():
    with Server(DEMO) as s:
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/v1/../../etc/passwd",
                     "/api/v1/table/..%2f..%2fetc%2fpasswd", "/etc/passwd", "//etc/passwd",
                     "/api/v1/table/steps/../../session", "/api/v1//session", "/.git/config",
                     "/api/v1/table/%00", "/api/v1/session%00", "/%", "/%zz", "/api/v1/%e2%28%a1",
                     "/api/v1/table/<script>alert(1)</script>", "/api/v1/table/%3Cimg%20src=x%3E",
                     "/api/v1/table/%1b%5B31m", "/api/v1/table/steps?where=%00",
                     "/api/v1/table/steps?%", "/api/v1/table/steps?sort=%1b%5B31m",
                     "/api/v1/table/steps?" + "a&" * 100, "/index.html", "/api/v1",
                     "/api/v1/table/" + "x" * 4000):
            status, headers, body = s.request(path)
            assert status in (400, 404), (path, status)
            assert b"root:" not in body and not re.search(rb"[\x00-\x09\x0b-\x1f]", body), path
            assert headers["content-type"].startswith("application/json"), path
            json.loads(body)
            yield
        assert s.request("http://127.0.0.1/etc/passwd")[0] in (400, 403, 404)
        for n in (8100, 8300, 20000):
            status, _, body = s.request("/api/v1/session?" + "x" * n)
            assert status == (200 if n < 8192 else 414), (n, status)
            yield
        assert s.request("/api/v1/session?" + "x" * 200000)[0] in (414, 431)
        assert s.request("/api/v1/session", {"Cookie": "x" * 100000})[0] in (413, 414, 431)
        assert s.get("session")[0] == 200
        yield


def test_names_are_data():
    """Names with markup, quotes, control characters, and bytes that are no UTF-8."""
    names = ["<script>alert(1)</script>", "</td><img src=x onerror=y>", "a\"b'c`d", "\x1b[31mred",
             "tab\tline\nfeed", "\u202eevil", "=HYPERLINK(\"x\")", "x" * 5000, "", "a,b;c|d"]
    trace = TEMP / "<b>&'\"name.json"
    events = [{"ph": "X", "cat": "cpu_op", "name": n, "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5}
              for i, n in enumerate(names)]
    text = json.dumps({"traceEvents": events}).encode().replace(b"a,b;c|d", b"a,b;\xff\xfe|d")
    trace.write_bytes(text)
    with Server(trace) as s:
        for table in ("ranges", "operators", "events", "averages"):
            for form in FORMS:
                check_same(s, trace, table, form, {})
            head, columns = decode(s.get(f"table/{table}")[2])
            got = columns[[c["name"] for c in head["columns"]].index("name")]
            assert set(names[:8]) <= set(got), (table, got)
            yield
        session = s.json("session")
        assert session["run"] == trace.name
        assert s.get("table/steps", {"run": trace.name})[0] == 200
        yield


def test_slow_and_broken_clients_are_dropped():
    with Server(DEMO) as s:
        begun = time.time()
        opened = [socket.create_connection(("127.0.0.1", s.port)) for _ in range(20)]
        for i, c in enumerate(opened):
            c.sendall(b"GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\nX: "[:i * 3])
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
        for data in (b"\r\n\r\n", b"\0" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                     b"\x16\x03\x01\x02\x00\x01\x00", b"GET /api/v1/session HTTP/1.1\r\nHost: "
                     b"localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
                     b"GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\n\r\n",
                     b"GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
                     b"chunked\r\n\r\nzz\r\n", b"GET /" + b"\xff" * 50 + b" HTTP/1.1\r\n\r\n"):
            s.raw(data, timeout=8)
            assert s.get("session")[0] == 200, data
            yield


def test_a_thousand_connections():
    with Server(DEMO) as s:
        s.wait_ready()
        opened = []
        for _ in range(1200):
            with contextlib.suppress(OSError):
                opened.append(socket.create_connection(("127.0.0.1", s.port), timeout=5))
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


def busy_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def open_slow(s, n=1):
    """Connections that have asked a question that takes minutes."""
    query = urllib.parse.urlencode({"where": SLOW, "format": "csv", "sort": "dur_ns"})
    opened = []
    for i in range(n):
        c = socket.create_connection(("127.0.0.1", s.port))
        c.sendall(f"GET /api/v1/table/events?{query}&limit={i + 1} HTTP/1.1\r\n"
                  "Host: localhost\r\n\r\n".encode())
        opened.append(c)
    return opened


def idles(pid, within):
    """Whether the process stops working WITHIN seconds."""
    until = time.time() + within
    while time.time() < until:
        before = busy_seconds(pid)
        time.sleep(0.5)
        if busy_seconds(pid) - before < 0.1:
            return True
    return False


def test_who_leaves_is_not_answered():
    with Server(DEMO) as s:
        s.wait_ready()
        for how in ("close", "reset", "half"):
            c, = open_slow(s)
            time.sleep(0.7)
            assert not idles(s.process.pid, 0.6), how
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


def test_the_page_is_there_while_the_trace_loads():
    fifo = TEMP / "slow.json"
    os.mkfifo(fifo)
    with Server(fifo) as s:
        assert s.request("/")[0] == 200 and s.get("catalog")[0] == 200
        session = s.json("session")
        assert session["runs"][0]["state"] in ("waiting", "loading"), session
        assert s.json("runs")["info"] is None
        results = []
        asking = threading.Thread(
            target=lambda: results.append(s.get("table/steps", {"format": "csv"})))
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
    other = TEMP / "never.json"
    os.mkfifo(other)
    s = Server(other)
    c = socket.create_connection(("127.0.0.1", s.port))
    c.sendall(b"GET /api/v1/table/steps HTTP/1.1\r\nHost: localhost\r\n\r\n")
    time.sleep(0.3)
    assert s.stop() == 0
    yield


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


def test_files_are_followed():
    folder = TEMP / "follow"
    folder.mkdir()
    first = folder / "w1.1.pt.trace.json"

    def write(path, n):
        events = [{"ph": "X", "cat": "cpu_op", "name": f"op{i}", "pid": 1, "tid": 1, "ts": 10 * i,
                   "dur": 5} for i in range(n)]
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
        status, headers, _ = s.get("table/operators", {"format": "csv"},
                                   headers={"If-None-Match": tag})
        assert status == 200 and headers["etag"] != tag
        assert len(decode(s.get("table/operators")[2])[1][0]) == 5
        assert s.get("table/operators", {"fp": before})[0] == 409
        yield
        write(folder / "w2.1.pt.trace.json", 2)
        stream.until("model")
        assert len({r["file"] if isinstance(r, dict) else r[0] for r in
                    s.json("table/tracks", {"format": "json"})["rows"]}) >= 1
        assert command("table", "operators", folder, "--format", "csv")[1] == \
            s.get("table/operators", {"format": "csv"})[2]
        yield
        stop = threading.Thread(target=s.stop)
        stop.start()
        stream.until("bye")
        stop.join()
        assert s.process.returncode == 0
        yield


def test_files_that_vanish_are_told():
    trace = TEMP / "vanishing.json"
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
        done = subprocess.run([str(OPSCOPE), "view", str(DEMO), "--port", str(one.port)],
                              capture_output=True, text=True, check=False, timeout=30)
        assert done.returncode == 1 and f"port {one.port} is taken" in done.stderr, done
        yield
    for words, status, word in ((["--port", "x"], 2, "port"), (["--port", "65536"], 2, "port"),
                                (["--host", "a", "--bind_all"], 2, "exclude"),
                                (["--socket", "a", "--port", "0"], 2, "excludes"),
                                (["--socket", "a" * 200], 2, "107 bytes"),
                                (["--host", "no.such.host.invalid"], 2, "host"),
                                (["--path_prefix", "a?b"], 2, "prefix")):
        done = subprocess.run([str(OPSCOPE), "view", str(DEMO), *words], capture_output=True,
                              text=True, check=False, timeout=60)
        assert done.returncode == status and word in done.stderr, (words, done)
        yield
    empty = TEMP / "empty"
    empty.mkdir()
    for name in ("missing.json", str(empty)):
        done = subprocess.run([str(OPSCOPE), "view", name, "--port", "0"], capture_output=True,
                              text=True, check=False, timeout=60)
        assert done.returncode != 0 and "http" not in done.stderr, done
        yield
    broken = TEMP / "broken.json"
    broken.write_bytes(b"\x7fELF not a trace")
    done = subprocess.run([str(OPSCOPE), "view", str(broken), "--port", "0"], capture_output=True,
                          text=True, check=False, timeout=60)
    told = command("info", broken)[0]
    assert (done.returncode == 1) == (told == 1), (done, told)
    yield


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


def test_a_socket_is_for_a_proxy():
    path = TEMP / "socket"
    words = [str(OPSCOPE), "view", str(DEMO), "--socket", str(path)]
    with subprocess.Popen([*words, "--until-eof"], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as p:
        assert p.stderr.readline() == f"opscope view: unix:{path}\n"
        assert path.stat().st_mode & 0o7777 == 0o600
        assert ask_socket(path, "/api/v1/session", "Host: tb.example:8080\r\n")[0] == 200
        assert ask_socket(path, "/api/v1/session", "Host: a\r\nOrigin: http://a\r\n")[0] == 200
        for wrong in ("", "Host: a\r\nSec-Fetch-Site: cross-site\r\n",
                      "Host: a\r\nOrigin: http://b\r\n"):
            assert ask_socket(path, "/api/v1/session", wrong)[0] in (400, 403), wrong
        yield
        # Nothing listens at a port.
        inodes = {os.readlink(x) for x in Path(f"/proc/{p.pid}/fd").iterdir()}
        lines = [x.split() for name in ("tcp", "tcp6") if Path("/proc/net", name).exists()
                 for x in Path("/proc/net", name).read_text().splitlines()[1:]]
        assert not [x for x in lines if f"socket:[{x[9]}]" in inodes]
        second = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        assert second.returncode == 1 and "is there already" in second.stderr, second
        assert ask_socket(path, "/", "Host: a\r\n")[0] == 200
        yield
        p.stdin.write("what is written is not looked at\n")
        p.stdin.flush()
        time.sleep(0.5)
        assert p.poll() is None
        p.stdin.close()
        assert p.wait(10) == 0 and not path.exists()
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


def test_a_prefix():
    with Server(DEMO, "--path_prefix", "/a/b/") as s:
        assert s.base == "/a/b/" and s.get("session")[0] == 200
        assert s.request("/a/b/")[0] == 200
        status, headers, _ = s.request("/a/b")
        assert status == 303 and headers["location"] == "/a/b/"
        for path in ("/", "/api/v1/session", "/a/bc/", "/a/b/../b/"):
            assert s.request(path)[0] == 404, path
        yield


def test_a_token_is_needed_from_afar():
    with Server(DEMO, "--bind_all", "--path_prefix", "p") as s:
        token = urllib.parse.parse_qs(urllib.parse.urlsplit(s.url).query)["token"][0]
        assert re.fullmatch(r"[0-9a-f]{32}", token)
        assert s.get("session")[0] == 401 and s.request("/p/")[0] == 401
        for wrong in ("", "0" * 32, token[:-1], token + "0", token.upper() + "x"):
            assert s.request(f"/p/?token={wrong}")[0] == 401, wrong
        status, headers, _ = s.request(f"/p/?a=1&token={token}&b=2")
        assert status == 303 and headers["location"] == "/p/?a=1&b=2", headers
        cookie = headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/p/" in cookie
        yield
        value = cookie.split(";")[0]
        assert s.get("session", headers={"Cookie": f"x=1; {value}"})[0] == 200
        for wrong in (value[:-1], value + "0", value.replace("=", "2="), "x" + value):
            assert s.get("session", headers={"Cookie": wrong})[0] == 401, wrong
        for name in (socket.gethostname(), "127.0.0.1"):
            assert s.get("session", headers={"Cookie": value, "Host": name})[0] == 200, name
        assert s.get("session", headers={"Cookie": value, "Host": "evil.com"})[0] == 403
        yield


def test_far_answers_are_compressed():
    done = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=False)
    address = next((a for a in done.stdout.split() if "." in a), None)
    if not address:
        return
    with Server(DEMO, "--bind_all") as s:
        token = urllib.parse.parse_qs(urllib.parse.urlsplit(s.url).query)["token"][0]
        c = http.client.HTTPConnection(address, s.port, timeout=60)
        for path in ("table/events?format=csv", "table/steps?format=csv", "catalog"):
            c.request("GET", f"/api/v1/{path}",
                      headers={"Cookie": f"opscope_{s.port}={token}", "Accept-Encoding": "gzip"})
            r = c.getresponse()
            body = r.read()
            assert r.status == 200, (r.status, body)
            if r.getheader("Content-Encoding") is None:  # built without ISA-L
                return
            assert r.getheader("Content-Encoding") == "gzip"
            plain = s.request(f"/api/v1/{path}", {"Cookie": f"opscope_{s.port}={token}"})
            assert "content-encoding" not in plain[1] and gzip.decompress(body) == plain[2]
            yield
        c.close()


def test_other_users_need_the_token():
    if os.getuid() != 0:
        return
    script = ("import os,sys,socket,encodings.idna\nos.setuid(65534)\n"
              "s=socket.create_connection(('127.0.0.1',int(sys.argv[1])))\n"
              "s.sendall(f'GET {sys.argv[2]} HTTP/1.1\\r\\nHost: localhost\\r\\n{sys.argv[3]}'\n"
              "          'Connection: close\\r\\n\\r\\n'.encode())\n"
              "print(s.makefile().read())")
    with Server(DEMO) as s:
        def ask(path, header=""):
            got = subprocess.run([sys.executable, "-c", script, str(s.port), path, header],
                                 capture_output=True, text=True, check=True, timeout=60).stdout
            cookie = re.search(r"Set-Cookie: (\S+)", got)
            return got.split()[1] + " " + (cookie[1] if cookie else "")

        assert ask("/api/v1/session").startswith("401")
        line = next(x for x in s.lines if "token=" in x)
        assert "65534" in line, line
        token = re.search(r"token=([0-9a-f]{32})", line)[1]
        assert ask(f"/?token={token}").startswith("303 opscope_")
        assert ask("/api/v1/session",
                   f"Cookie: opscope_{s.port}={token}\r\n").startswith("200")
        assert s.get("session")[0] == 200
        yield


def main():
    global OPSCOPE, TEMP  # pylint: disable=global-statement
    parser = argparse.ArgumentParser()
    parser.add_argument("--opscope", default=ROOT / "build-gcc" / "opscope", type=Path)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    OPSCOPE = args.opscope.resolve()
    passed = failed = 0
    if subprocess.run([OPSCOPE, "view", "--help"], capture_output=True, check=False).returncode:
        print("this opscope was built without the server")
        return 1
    with tempfile.TemporaryDirectory(prefix="view-") as scratch:
        TEMP = Path(scratch)
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
                print(f"FAILED {name[5:]} after {n} checks\n{traceback.format_exc()}", flush=True)
            passed += n
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


OPSCOPE, TEMP = None, None

if __name__ == "__main__":
    sys.exit(main())
