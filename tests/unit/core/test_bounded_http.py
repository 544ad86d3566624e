"""Bounded requests against hostile servers on this machine."""

import asyncio
import gzip
import json
import socket
import threading
import time

import pytest

pytest.importorskip("httpx", reason="the extra 'report' is not installed")

from rlvr_envs.core.bounded_http import BoundedClient, NoReply, checked_url
from rlvr_envs.core.errors import ConfigError

KEY = "sk-/abc-123"


OPENED = []


class RawServer:
    """Sends the pieces of a script to whoever connects, with a pause after each."""

    def __init__(self, *pieces, pause_s=0.0):
        self.requests = []
        self._pieces, self._pause_s = pieces, pause_s
        self._stop = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/x"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                channel, _ = self._socket.accept()
            except OSError:
                return
            with channel:
                self.requests.append(channel.recv(1 << 16))
                try:
                    for piece in self._pieces:
                        channel.sendall(piece)
                        if self._stop.wait(self._pause_s):
                            return
                except OSError:
                    pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._socket.close()


def http(body, status="200 OK", **headers):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def client(timeout_s=20.0, most_bytes=1 << 16):
    OPENED.append(BoundedClient("a test", timeout_s=timeout_s, most_bytes=most_bytes, key=KEY))
    return OPENED[-1]


@pytest.fixture(autouse=True)
def closed():
    """Close the clients of a test: a connection that is left open warns in a later one."""
    yield
    while OPENED:
        OPENED.pop().close_now()


def test_a_reply_from_a_thread_and_from_an_event_loop():
    with RawServer(http(b'{"a": 1}', Retry_After="3")) as server:
        blocking = client()
        reply = blocking.ask_now("POST", server.url, {"q": "\ud800"})
        assert (reply.status, reply.json(), reply.retry_after) == (200, {"a": 1}, "3")
        blocking.close_now()

        async def once():
            awaited = client()
            try:
                return await awaited.ask("GET", server.url)
            finally:
                await awaited.close()

        assert asyncio.run(once()).json() == {"a": 1}
        assert b"Bearer " + KEY.encode() in server.requests[0]
        assert b"accept-encoding: identity" in server.requests[0].lower()


def test_a_compressed_reply_is_not_expanded():
    bomb = gzip.compress(b" " * (1 << 24))
    server = RawServer(http(bomb, Content_Encoding="gzip"))
    with server, pytest.raises(NoReply, match="compressed"):
        client().ask_now("GET", server.url)


def test_a_long_reply_is_not_read_to_its_end():
    server = RawServer(b"HTTP/1.1 200 OK\r\n\r\n", *[b"x" * 4096] * 10_000)
    with server, pytest.raises(NoReply, match=r"longer than 0\.0625 MiB"):
        client().ask_now("GET", server.url)


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_the_deadline_holds_for_dripping_headers_and_bodies(head):
    """Every byte comes in time, but there are always more."""
    with RawServer(head, *[b"x"] * 10_000, pause_s=0.02) as server:
        began = time.monotonic()
        with pytest.raises(NoReply, match=r"no answer within 0\.3 s"):
            client(timeout_s=0.3).ask_now("GET", server.url)
        assert time.monotonic() - began < 30  # of 200 s that the server would take


def test_redirects_are_not_followed():
    with RawServer(http(b"{}")) as other:
        with RawServer(http(b"", "302 Found", Location=other.url)) as server:
            assert client().ask_now("GET", server.url).status == 302
        assert other.requests == []


def test_no_part_of_a_key_is_quoted():
    asked = client()
    forms = [KEY, json.dumps(KEY), KEY.replace("/", "\\/"), "sk-%2Fabc-123"]
    for form in forms:
        for before in range(0, 300, 7):
            told = asked.quoted("x" * before + " " + form + " end", chars=300)
            assert "abc" not in told, (form, before)


def test_what_is_no_reply_is_said_without_the_key():
    asked = client()
    with pytest.raises(NoReply, match="the request failed"):
        asked.ask_now("GET", "http://127.0.0.1:1/x")
    server = RawServer(b"\x00\x01 " + KEY.encode() + b"\r\n\r\n")
    with server, pytest.raises(NoReply) as failed:
        asked.ask_now("GET", server.url)
    assert "abc" not in str(failed.value)


@pytest.mark.parametrize(
    "url", ["x", "ftp://h", "http://", "http://u:p@h", "http://h?k=1", "http://[x"]
)
def test_an_address_holds_no_secret(url):
    with pytest.raises(ConfigError, match=r"is like|no password"):
        checked_url(url, "a URL", "http://h", "elsewhere")
