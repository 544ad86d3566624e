"""The server of the page: files of a folder, to browsers on this machine only."""

from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rlvr_envs.core.errors import ConfigError, RlvrEnvsError

HOST = "127.0.0.1"


class _Files(SimpleHTTPRequestHandler):
    """Gives files to the page itself, and to no page of another origin.

    The data are scripts, which a page on the internet could otherwise include; and it could get a
    name of its own to mean this machine.

    Args:
        args: what the base takes.
        newest: returns the name of the folder of the page as it is now; whoever asks for a page is
            sent there, while an older one that a browser still shows keeps its files.
        kwargs: what the base takes.
    """

    def __init__(self, *args: Any, newest: Callable[[], str] | None, **kwargs: Any) -> None:
        self._newest = newest
        super().__init__(*args, **kwargs)

    def do_GET(self) -> None:
        if self._from_here() and not self._sent_on():
            super().do_GET()

    def do_HEAD(self) -> None:
        if self._from_here() and not self._sent_on():
            super().do_HEAD()

    def _from_here(self) -> bool:
        port = self.connection.getsockname()[1]
        allowed = {f"{name}:{port}" for name in (HOST, "localhost")}
        site = self.headers.get("Sec-Fetch-Site", "none")
        if self.headers.get("Host") in allowed and site in ("none", "same-origin"):
            return True
        self.send_error(403, "Only the page itself may read this")
        return False

    def _sent_on(self) -> bool:
        path = urlsplit(self.path).path
        if self._newest is None or not path.endswith(("/", "/index.html")):
            return False
        try:
            name = self._newest()
        except RlvrEnvsError as error:
            self.send_error(500, "The page cannot be made anew", str(error))
            return True
        if path.startswith(f"/{name}/"):
            return False
        self.send_response(302)
        self.send_header("Location", f"/{name}/")
        self.send_header("Content-Length", "0")
        self.end_headers()
        return True

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


def server(
    folder: Path, port: int = 0, newest: Callable[[], str] | None = None
) -> ThreadingHTTPServer:
    """Return a server of a folder that listens; port 0 is any free one.

    Args:
        folder: of a page, or of folders of pages if ``newest`` is given.
        port: of 127.0.0.1.
        newest: called in the server's threads; returns the name of the newest page's folder.

    Raises:
        ConfigError: the port is taken or not allowed.
    """
    try:
        files = partial(_Files, directory=str(folder), newest=newest)
        return ThreadingHTTPServer((HOST, port), files)
    except (OSError, OverflowError) as error:
        raise ConfigError(
            f"port {port} cannot be had ({error}): choose another, or none for any free one"
        ) from error
