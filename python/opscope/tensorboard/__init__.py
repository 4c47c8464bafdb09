# SPDX-License-Identifier: Apache-2.0
"""The tab OPSCOPE of TensorBoard: ``pip install opscope[tensorboard]``, then ``tensorboard --logdir
log/``. See docs/tensorboard.md.

TensorBoard loads this module when it starts, so it imports as little as it can.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorboard.plugins import base_plugin

from ._hosts import REFUSAL, Hosts
from ._logdir import Logdir
from ._proxy import refuse, serve
from ._viewer import Viewer

# TensorBoard puts it into a frame; the page of `opscope view` replaces it there.
SCRIPT = b"""// SPDX-License-Identifier: Apache-2.0
export function render() {
  location.replace(new URL("index.html", import.meta.url));
}
"""
PREFIX = "/data/plugin/opscope"
_viewers: dict[Logdir, Viewer] = {}


def viewer_of(logdir: Logdir) -> Viewer:
    """The one server of this process for LOGDIR."""
    if logdir not in _viewers:
        _viewers[logdir] = Viewer(logdir.words(), logdir.folders)
    return _viewers[logdir]


class Plugin(base_plugin.TBPlugin):
    """The tab."""

    plugin_name = "opscope"

    def __init__(self, context: base_plugin.TBContext) -> None:
        self.logdir, self.hosts = Logdir.of(context), Hosts(context.flags)

    def is_active(self) -> bool:
        """Whether there is a trace; looks at names of files, and starts nothing."""
        return self.logdir.has_traces()

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """How TensorBoard shows it. The page follows its files itself."""
        return base_plugin.FrontendMetadata(
            es_module_path="/index.js", tab_name="OPSCOPE", disable_reload=True
        )

    def get_plugin_apps(self) -> dict[str, Any]:
        """The routes."""
        return {"/index.js": self.send_script, "/*": self.serve}

    def send_script(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """index.js"""
        start_response(
            "200 OK",
            [
                ("Content-Type", "text/javascript; charset=utf-8"),
                ("Content-Length", str(len(SCRIPT))),
                ("Cache-Control", "no-cache"),
                ("X-Content-Type-Options", "nosniff"),
            ],
        )
        return [SCRIPT]

    def serve(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """All else: what the server answers."""
        if not self.hosts.know(environ):
            return refuse(start_response, "403 Forbidden", REFUSAL)
        path = environ["PATH_INFO"].encode("latin-1").decode(errors="replace")
        at = path.find(PREFIX + "/")
        target = path[at + len(PREFIX) :] if at >= 0 else "/"
        return serve(
            viewer_of(self.logdir),
            "/" if target == "/index.html" else target,
            environ,
            start_response,
        )
