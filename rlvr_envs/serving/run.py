"""Runs the server under uvicorn until a signal ends it, and lets no accepted request down."""

import asyncio
import ipaddress
import logging
import signal
import socket
import sys
from types import FrameType

import uvicorn

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.sandboxes.shared import end_shared
from rlvr_envs.serving.app import Server, Settings
from rlvr_envs.serving.metrics import JsonFormatter, log, note

# A client that does not answer for so long has gone.
_PING_S = 20.0


def is_loopback(host: str) -> bool:
    """Return whether a host can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _Graceful(uvicorn.Server):
    """On the first signal it refuses new work, answers what it accepted, then ends."""

    def __init__(self, config: uvicorn.Config, server: Server, drain_s: float) -> None:
        super().__init__(config)
        self._server = server
        self._drain_s = drain_s
        self._draining: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say where."""
        await super().startup(sockets=sockets)
        for listener in (each for server in self.servers for each in server.sockets):
            host, port = listener.getsockname()[:2]
            note("listening", url=f"http://{f'[{host}]' if ':' in host else host}:{port}")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End; the second signal does not wait."""
        if self._draining is not None:
            self.force_exit = True
            self.should_exit = True
            return
        loop = asyncio.get_running_loop()
        self._draining = loop.create_task(self._drain(signal.Signals(sig).name))

    async def _drain(self, name: str) -> None:
        note("draining", signal=name, sessions=len(self._server.sessions))
        try:
            await asyncio.wait_for(self._server.drain(), self._drain_s)
        except TimeoutError:
            note("drain_timeout", logging.ERROR, seconds=self._drain_s)
        self.should_exit = True


def serve(
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    drain_s: float = 30.0,
    log_level: str = "info",
) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises:
        ConfigError: the host can be reached by others and there are no tokens.
    """
    if not is_loopback(host) and not len(settings.tokens):
        raise ConfigError(
            f"{host} can be reached from other machines: give a file of tokens with --tokens, or "
            "serve on 127.0.0.1"
        )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    log.handlers, log.propagate = [handler], False
    log.setLevel(log_level.upper())
    server = Server(settings)
    config = uvicorn.Config(
        server,
        host=host,
        port=port,
        # uvicorn's own lines hold whole paths, and a path may hold a token.
        log_level="error",
        access_log=False,
        ws="websockets-sansio",
        ws_max_size=settings.max_bytes,
        ws_ping_interval=_PING_S,
        ws_ping_timeout=_PING_S,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=5,
        server_header=False,
    )
    try:
        _Graceful(config, server, drain_s).run()
    finally:
        end_shared()  # else a program that still runs would hold up the end of this process
