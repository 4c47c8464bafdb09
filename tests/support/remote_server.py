# SPDX-License-Identifier: Apache-2.0
"""A server for tests: files, pages that list them, an object store like S3, and faults.

    python3 remote_server.py DIR PORTFILE

Serves DIR under /files/ and, as objects of the bucket `traces`, under /traces/, whose requests must be
signed with key `id` and secret `secret`, session token `token` (Signature Version 4, computed here
from its description). Writes its port to PORTFILE.
"""

import hashlib
import hmac
import http.server
import os
import pathlib
import sys
import time
import urllib.parse
from xml.sax.saxutils import escape

ROOT = pathlib.Path(sys.argv[1])
PAGE = 2  # objects in one answer of a list


def sha(data):
    return hashlib.sha256(data).hexdigest()


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature(handler, signed, scope):
    """The signature that the request must have."""
    path, _, query = handler.path.partition("?")
    pairs = sorted(part.partition("=")[::2] for part in query.split("&") if part)
    canonical = "\n".join(
        [
            handler.command,
            path,
            "&".join(f"{k}={v}" for k, v in pairs),
            *(f"{name}:{handler.headers[name].strip()}" for name in signed),
            "",
            ";".join(signed),
            handler.headers["x-amz-content-sha256"],
        ]
    )
    text = "\n".join(
        [
            "AWS4-HMAC-SHA256",
            handler.headers["x-amz-date"],
            "/".join(scope),
            sha(canonical.encode()),
        ]
    )
    key = b"AWS4secret"
    for part in scope:
        key = mac(key, part)
    return mac(key, text).hex()


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", kind="application/json", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) + int(headers.pop("missing", 0))))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, code, text):
        body = (
            f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{text}</Message></Error>"
        )
        self.answer(403, body.encode(), "application/xml")

    def is_signed(self):
        head = self.headers.get("Authorization", "")
        if not head.startswith("AWS4-HMAC-SHA256 "):
            return self.refuse("AccessDenied", "Access Denied")
        parts = dict(
            p.strip().split("=", 1) for p in head[len("AWS4-HMAC-SHA256 ") :].split(",")
        )
        user, *scope = parts["Credential"].split("/")
        signed = parts["SignedHeaders"].split(";")
        if (
            user != "id"
            or self.headers.get("x-amz-security-token") != "token"
            or "x-amz-security-token" not in signed
        ):
            return self.refuse("InvalidAccessKeyId", "The key does not exist.")
        if not hmac.compare_digest(signature(self, signed, scope), parts["Signature"]):
            return self.refuse("SignatureDoesNotMatch", "The signature does not match.")
        return True

    def list_objects(self, query):
        prefix = query.get("prefix", [""])[0]
        names = sorted(str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file())
        names = [n for n in names if n.startswith(prefix)] + [prefix + "../../evil.json"]
        first = int(query.get("continuation-token", ["a/+0"])[0][3:])
        body = "<ListBucketResult>" + "".join(
            f"<Contents><Key>{escape(n)}</Key></Contents>" for n in names[first : first + PAGE]
        )
        if first + PAGE < len(names):
            body += f"<NextContinuationToken>a/+{first + PAGE}</NextContinuationToken>"
        self.answer(200, (body + "</ListBucketResult>").encode(), "application/xml")

    def do_GET(self):
        path, _, query = self.path.partition("?")
        host = f"localhost:{self.server.server_address[1]}"
        if path.startswith("/traces/"):
            if not self.is_signed():
                return
            if path == "/traces/":
                self.list_objects(urllib.parse.parse_qs(query))
            elif (ROOT / urllib.parse.unquote(path[8:])).is_file():
                self.answer(200, (ROOT / urllib.parse.unquote(path[8:])).read_bytes())
            else:
                self.answer(404, b"<Error><Message>The key does not exist.</Message></Error>")
        elif path.startswith("/files/"):
            self.path = self.path[len("/files") :]
            super().do_GET()
        elif path.startswith("/far/"):
            self.answer(
                301, x_amz_bucket_region="eu-west-7", Location=f"http://{host}/seen.json"
            )
        elif path == "/moved.json":
            self.answer(302, Location="/files/run/rank_0/w.1.pt.trace.json")
        elif path == "/away.json":  # another host
            self.answer(302, Location=f"http://{host}/seen.json")
        elif path == "/seen.json":
            has_any = "Authorization" in self.headers
            self.answer(
                500 if has_any else 401,
                b"credentials came" if has_any else b"who are you?",
                "text/plain",
            )
        elif path == "/private.json":
            self.answer(
                200 if self.headers.get("Authorization") == "Basic bWU6cHc=" else 401,
                (ROOT / "run/rank_0/w.1.pt.trace.json").read_bytes(),
            )
        elif path == "/round.json":
            self.answer(302, Location="/round.json")
        elif path == "/page.json":
            self.answer(200, b"<html>please log in</html>", "text/html")
        elif path == "/cut.json":
            self.answer(200, b'{"traceEvents": [', missing=100)
            self.close_connection = True
        elif path == "/fail.json":
            self.answer(500, b"out of order", "text/plain")
        elif path == "/endless.json":
            self.send_response(200)
            self.end_headers()
            self.close_connection = True
            try:
                for _ in range(600):
                    self.wfile.write(b" " * 100000)
                    time.sleep(0.1)
            except OSError:  # the client has had enough
                pass
        elif path == "/slow.json":
            time.sleep(60)
        elif path == "/evil/":
            self.answer(
                200,
                b'<a href="../up.json">x</a> <a href="%2e%2e%2fup.json">x</a> '
                b'<a href="/abs.json">x</a> <a href="http://x/y.json">x</a> '
                b'<a href="?C=N">x</a> <a href="notes.txt">x</a>',
                "text/html",
            )
        else:
            self.answer(404, b"no such thing", "text/plain")

    def translate_path(self, path):
        return str(ROOT) + urllib.parse.unquote(path.partition("?")[0])


os.chdir(ROOT)
SERVER = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
pathlib.Path(sys.argv[2]).write_text(str(SERVER.server_address[1]))
SERVER.serve_forever()
