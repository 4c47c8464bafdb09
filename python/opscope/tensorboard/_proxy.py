# SPDX-License-Identifier: Apache-2.0
"""Passes requests of WSGI on to `opscope view` (_viewer.py), and its answers back."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from ._viewer import NoServer, Viewer

PIECE = 1 << 16
PASSED = (
    "Host",
    "Origin",
    "Sec-Fetch-Site",
    "Sec-Fetch-Mode",
    "Sec-Fetch-Dest",
    "If-None-Match",
)
OF_ONE_HOP = {"connection", "keep-alive", "transfer-encoding", "date", "server"}


def serve(
    viewer: Viewer, target: str, environ: dict[str, Any], start_response: Any
) -> Iterable[bytes]:
    """Answer a request with what VIEWER answers to TARGET."""
    if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
        return refuse(start_response, "405 Method Not Allowed", "only GET is answered")
    names = {name: "HTTP_" + name.upper().replace("-", "_") for name in PASSED}
    headers = {name: environ[key] for name, key in names.items() if key in environ}
    target = quote(target, safe="/:,~@!$&'()*+;=")
    if environ.get("QUERY_STRING"):
        target += "?" + environ["QUERY_STRING"]
    try:
        response = viewer.ask(target, headers, environ["REQUEST_METHOD"])
    except NoServer as e:
        return refuse(start_response, "503 Service Unavailable", str(e))
    # Pages of TensorBoard's own origin may show the page in a frame; those of others still cannot.
    start_response(
        f"{response.status} {response.reason}",
        [
            (name, re.sub(r"frame-ancestors 'none'$", "frame-ancestors 'self'", value))
            for name, value in response.getheaders()
            if name.lower() not in OF_ONE_HOP
        ],
    )
    return pieces(response)


def pieces(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """The body of RESPONSE as it comes. One that is cut ends the connection, so that the client
    sees it; nothing waits for ever, because a stream of events has one every five seconds."""
    with response:
        try:
            while piece := response.read1(PIECE):
                yield piece
        except (OSError, http.client.HTTPException) as e:
            raise ConnectionAbortedError(f"opscope view: {e}") from None


def refuse(start_response: Any, status: str, message: str) -> Iterable[bytes]:
    """Answer with an error as the server's interface does."""
    is_refused = status.startswith("403")
    body = json.dumps(
        {
            "code": "refused" if is_refused else "no_server",
            "message": message,
            "what_to_do": None
            if is_refused
            else "see what 'opscope info' says of the log directory",
            "command": None,
        }
    ).encode()
    start_response(
        status,
        [
            ("Content-Type", "application/json; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
        ],
    )
    return [body]
