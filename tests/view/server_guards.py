# SPDX-License-Identifier: Apache-2.0
"""Tests for server.py: who may ask, and what for."""

import gzip
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

import serving
from serving import DEMO, Server, ask_socket

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


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
            if link.startswith("data:"):  # in the page itself
                continue
            assert s.request("/" + link.replace("&amp;", "&"))[0] == 200, link
        yield


def test_foreign_requests_are_refused():
    with Server(DEMO, "--hosts", "proxy.example,other") as s:
        host = f"127.0.0.1:{s.port}"
        good = [
            {"Host": host},
            {"Host": "localhost"},
            {"Host": "LOCALHOST:1"},
            {"Host": "[::1]:6006"},
            {"Host": "127.1.2.3"},
            {"Host": "proxy.example"},
            {"Host": "Other:80"},
            {"Host": host, "Origin": f"http://{host}"},
            {"Host": host, "Sec-Fetch-Site": "same-origin"},
            {"Host": host, "Sec-Fetch-Site": "none"},
            {"Host": "proxy.example", "Origin": "https://proxy.example"},
        ]
        bad = [
            {"Host": "evil.com"},
            {"Host": "localhost.evil.com"},
            {"Host": "evil.localhost"},
            {"Host": "127.0.0.1.evil.com"},
            {"Host": "127.0.0.1.nip.io:6006"},
            {"Host": ""},
            {"Host": "127.0.0.1@evil.com"},
            {"Host": "[::1"},
            {"Host": "127.0.0.256"},
            {"Host": "127.0.0"},
            {"Host": "localhost:80x"},
            {"Host": "0.0.0.0"},
            {"Host": "other, evil.com"},
            {"Host": "2130706433"},
            {"Host": host, "Origin": "http://evil.com"},
            {"Host": host, "Origin": "null"},
            {"Host": host, "Origin": "http://localhost:1"},
            {"Host": host, "Origin": f"http://{host}.evil.com"},
            {"Host": host, "Sec-Fetch-Site": "cross-site"},
            {"Host": host, "Sec-Fetch-Site": "same-site"},
            {
                "Host": host,
                "Sec-Fetch-Site": "cross-site",
                "Sec-Fetch-Mode": "navigate",
                "Sec-Fetch-Dest": "document",
            },
        ]
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
        link = {
            "Host": host,
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "document",
        }
        assert s.request("/", link)[0] == 200
        assert s.request("/", {**link, "Sec-Fetch-Dest": "iframe"})[0] == 403
        yield


def test_paths_lead_nowhere_else():
    with Server(DEMO) as s:
        for path in (
            "/../../etc/passwd",
            "/%2e%2e/%2e%2e/etc/passwd",
            "/api/v1/../../etc/passwd",
            "/api/v1/table/..%2f..%2fetc%2fpasswd",
            "/etc/passwd",
            "//etc/passwd",
            "/api/v1/table/steps/../../session",
            "/api/v1//session",
            "/.git/config",
            "/api/v1/table/%00",
            "/api/v1/session%00",
            "/%",
            "/%zz",
            "/api/v1/%e2%28%a1",
            "/api/v1/table/<script>alert(1)</script>",
            "/api/v1/table/%3Cimg%20src=x%3E",
            "/api/v1/table/%1b%5B31m",
            "/api/v1/table/steps?where=%00",
            "/api/v1/table/steps?%",
            "/api/v1/table/steps?sort=%1b%5B31m",
            "/api/v1/table/steps?" + "a&" * 100,
            "/index.html",
            "/api/v1",
            "/api/v1/table/" + "x" * 4000,
        ):
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


def test_a_socket_is_for_a_proxy():
    path = serving.TEMP / "socket"
    words = [str(serving.OPSCOPE), "view", str(DEMO), "--socket", str(path)]
    with subprocess.Popen(
        [*words, "--until-eof"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as p:
        assert p.stderr.readline() == f"opscope view: unix:{path}\n"
        assert path.stat().st_mode & 0o7777 == 0o600
        assert ask_socket(path, "/api/v1/session", "Host: tb.example:8080\r\n")[0] == 200
        assert ask_socket(path, "/api/v1/session", "Host: a\r\nOrigin: http://a\r\n")[0] == 200
        for wrong in (
            "",
            "Host: a\r\nSec-Fetch-Site: cross-site\r\n",
            "Host: a\r\nOrigin: http://b\r\n",
        ):
            assert ask_socket(path, "/api/v1/session", wrong)[0] in (400, 403), wrong
        yield
        # Nothing listens at a port.
        inodes = {os.readlink(x) for x in Path(f"/proc/{p.pid}/fd").iterdir()}
        lines = [
            x.split()
            for name in ("tcp", "tcp6")
            if Path("/proc/net", name).exists()
            for x in Path("/proc/net", name).read_text().splitlines()[1:]
        ]
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
            c.request(
                "GET",
                f"/api/v1/{path}",
                headers={"Cookie": f"opscope_{s.port}={token}", "Accept-Encoding": "gzip"},
            )
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


def test_files_of_the_page_are_sent_compressed():
    """Each file is there as it is, by gzip and by brotli, all made when the page was built."""
    with Server(DEMO) as s:
        status, _, page = s.request("/")
        assert status == 200
        names = re.findall(r'(?:src|href)="([\w.-]+-[0-9A-Z]{8}\.\w+)"', page.decode())
        if not names:  # built without the page
            return
        assert sorted(n.rsplit(".", 1)[1] for n in names) == ["css", "js"], names
        for name in ("", *names):
            _, told, plain = s.request(f"/{name}")
            assert "content-encoding" not in told and told["vary"] == "Accept-Encoding", told
            if name.endswith(".js"):  # with the notices of what is in it
                for text in (
                    b"Jason Miller",
                    b"Preact Team",
                    b"Leon Sorokin",
                    b"The above copyright notice and this permission notice shall be",
                ):
                    assert text in plain, text
            kept = "private, max-age=31536000, immutable" if name else "no-store"
            for accepted, coding in (
                ("gzip", "gzip"),
                ("br;q=0, gzip;q=0.5", "gzip"),
                ("gzip, deflate, br", "br"),
                ("*", "br"),
                ("gzip;q=0, identity", None),
                ("x-br", None),
            ):
                status, h, body = s.request(f"/{name}", {"Accept-Encoding": accepted})
                assert status == 200 and h.get("content-encoding") == coding, (
                    name,
                    accepted,
                    h,
                )
                assert h["vary"] == "Accept-Encoding" and h["cache-control"] == kept, h
                assert h["content-type"] == told["content-type"], h
                assert int(h["content-length"]) == len(body), h
                if coding == "gzip":
                    assert len(body) < len(plain) and gzip.decompress(body) == plain, name
                elif coding == "br":
                    assert len(body) < len(plain) and unbrotli(body) == plain, name
                else:
                    assert body == plain, name
                yield


def unbrotli(data):
    """DATA without brotli; Node, which the page was built with, has it."""
    script = (
        "const c = []; process.stdin.on('data', d => c.push(d)).on('end', () => "
        "process.stdout.write(require('zlib').brotliDecompressSync(Buffer.concat(c))))"
    )
    return subprocess.run(
        ["node", "-e", script], input=data, capture_output=True, check=True
    ).stdout


def test_other_users_need_the_token():
    if os.getuid() != 0:
        return
    script = (
        "import os,sys,socket,encodings.idna\nos.setuid(65534)\n"
        "s=socket.create_connection(('127.0.0.1',int(sys.argv[1])))\n"
        "s.sendall(f'GET {sys.argv[2]} HTTP/1.1\\r\\nHost: localhost\\r\\n{sys.argv[3]}'\n"
        "          'Connection: close\\r\\n\\r\\n'.encode())\n"
        "print(s.makefile().read())"
    )
    with Server(DEMO) as s:

        def ask(path, header=""):
            got = subprocess.run(
                [sys.executable, "-c", script, str(s.port), path, header],
                capture_output=True,
                text=True,
                check=True,
                timeout=60,
            ).stdout
            cookie = re.search(r"Set-Cookie: (\S+)", got)
            return got.split()[1] + " " + (cookie[1] if cookie else "")

        assert ask("/api/v1/session").startswith("401")
        line = next(x for x in s.lines if "token=" in x)
        assert "65534" in line, line
        token = re.search(r"token=([0-9a-f]{32})", line)[1]
        assert ask(f"/?token={token}").startswith("303 opscope_")
        assert ask("/api/v1/session", f"Cookie: opscope_{s.port}={token}\r\n").startswith("200")
        assert s.get("session")[0] == 200
        yield


def test_other_users_leave_room():
    """Another user, who asks without the token and keeps what it can, locks nobody out."""
    if os.getuid() != 0:
        return
    script = (
        "import os,sys,socket,encodings.idna\nos.setuid(65534)\n"
        "def connect(request):\n"
        " c=socket.create_connection(('127.0.0.1',int(sys.argv[1])))\n"
        " c.settimeout(20)\n c.sendall(request)\n return c\n"
        "asked=[connect(b'GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n')"
        " for i in range(20)]\n"
        "closed=0\n"
        "for c in asked:\n"
        " while c.recv(9999): pass\n"
        " closed+=1\n"
        "kept=[]\n"
        "for i in range(600):\n"
        " try: kept.append(connect(b'GET'))\n"
        " except OSError: pass\n"
        "print(closed,flush=True)\nsys.stdin.read()"
    )
    with Server(DEMO) as s:
        with subprocess.Popen(
            [sys.executable, "-c", script, str(s.port)],
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as other:
            assert other.stdout.readline() == "20\n"  # after 401 a connection is closed
            begun = time.time()
            assert s.get("session", timeout=4)[0] == 200
            assert time.time() - begun < 4
            other.stdin.close()
        assert sum("token=" in x for x in s.lines) == 1, s.lines
        yield


def test_a_closed_socket_is_nobodys():
    """Its row in the system's table is of user 0, who would need no token."""
    if os.getuid() != 0:
        return
    script = (
        "import os,sys,socket,encodings.idna\nos.setuid(65534)\n"
        "c=socket.create_connection(('127.0.0.1',int(sys.argv[1])))\n"
        "c.sendall(b'GET /api/v1/session HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n')\n"
        "c.close()"
    )
    with Server(DEMO) as s:
        s.wait_ready()
        s.process.send_signal(signal.SIGSTOP)  # as a busy machine does for some milliseconds
        try:
            subprocess.run([sys.executable, "-c", script, str(s.port)], check=True, timeout=60)
            time.sleep(0.3)
        finally:
            s.process.send_signal(signal.SIGCONT)
        until = time.time() + 10
        while not any("token=" in x for x in s.lines) and time.time() < until:
            time.sleep(0.05)
        assert any("an unknown user" in x for x in s.lines), s.lines
        yield
