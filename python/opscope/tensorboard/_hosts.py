# SPDX-License-Identifier: Apache-2.0
"""The names by which a TensorBoard may be called.

A page of another site can let its own name point at this machine (DNS rebinding); what it asks then
counts as a request of TensorBoard's own page. It says that name in ``Host``, so only names that are
TensorBoard's are answered. An address is no name that anybody could point elsewhere.
"""

from __future__ import annotations

import functools
import ipaddress
import os
import re
import socket
from typing import Any

# More names, by commas, as behind a proxy that passes them on; "*": all.
VARIABLE = "OPSCOPE_TENSORBOARD_HOSTS"
REFUSAL = (
    f"TensorBoard is not called so: use localhost or what --host says, or name it in {VARIABLE}"
)


def name_of(host: str | None) -> str:
    """The name or address in the header HOST; "": it is malformed or missing."""
    found = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\[\]:/@\s]+))(?::[0-9]*)?", host or "")
    return (found[1] or found[2]).lower() if found else ""


def is_address(name: str) -> bool:
    """Whether NAME is one of IPv4 or IPv6."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


@functools.cache
def names_of_machine() -> frozenset[str]:
    """What this machine is called. Its resolver may take seconds, so it is asked last, and once."""
    return frozenset(x.lower() for x in (socket.gethostname(), socket.getfqdn()))


class Hosts:
    """The names of the TensorBoard with FLAGS."""

    def __init__(self, flags: Any) -> None:
        self.names = {"localhost"}
        self.binds_all = bool(getattr(flags, "bind_all", False))
        host = getattr(flags, "host", None)
        if host:
            self.names.add(host.lower())
        self.names.update(
            filter(None, (x.strip().lower() for x in os.environ.get(VARIABLE, "").split(",")))
        )

    def know(self, environ: dict[str, Any]) -> bool:
        """Whether the request ENVIRON of WSGI is for one of them."""
        name = name_of(environ.get("HTTP_HOST"))
        return (
            "*" in self.names
            or name in self.names
            or is_address(name)
            or (self.binds_all and bool(name) and name in names_of_machine())
        )
