"""The server of the page: files of a folder, to browsers on this machine only."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError

HOST = "127.0.0.1"


class _Files(SimpleHTTPRequestHandler):
    """Gives files to the page itself, and to no page of another origin.

    The data are scripts, which a page on the internet could otherwise include; and it could get a
    name of its own to mean this machine.
    """

    def do_GET(self) -> None:
        if self._from_here():
            super().do_GET()

    def do_HEAD(self) -> None:
        if self._from_here():
            super().do_HEAD()

    def _from_here(self) -> bool:
        port = self.connection.getsockname()[1]
        allowed = {f"{name}:{port}" for name in (HOST, "localhost")}
        site = self.headers.get("Sec-Fetch-Site", "none")
        if self.headers.get("Host") in allowed and site in ("none", "same-origin"):
            return True
        self.send_error(403, "Only the page itself may read this")
        return False

    def list_directory(self, path: Any) -> None:
        """Refuse: the page knows its files."""
        self.send_error(404)

    def end_headers(self) -> None:
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("X-Frame-Options", "DENY")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        """Say nothing: the terminal is for the command."""


def server(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of a folder that listens; port 0 is any free one.

    Raises:
        ConfigError: the port is taken or not allowed.
    """
    try:
        return ThreadingHTTPServer((HOST, port), partial(_Files, directory=str(folder)))
    except (OSError, OverflowError) as error:
        raise ConfigError(
            f"port {port} cannot be had ({error}): choose another, or none for any free one"
        ) from error
