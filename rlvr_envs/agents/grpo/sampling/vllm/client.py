"""Speaking with a vLLM server: its routes, failures that pass, and the key.

Redirects are not followed, and the key is in no message. Only what may be done twice is tried
again.
"""

import os
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from rlvr_envs.core.errors import ConfigError, DependencyError, RlvrEnvsError
from rlvr_envs.core.extras import hint
from rlvr_envs.evaluation.endpoint import retry_after

# What may pass: too early, too many, and faults of the server.
_PASSING = frozenset({408, 409, 425, 429})
_LONGEST_WAIT_S = 30.0

START = (
    "VLLM_SERVER_DEV_MODE=1 vllm serve MODEL --enable-scale-out --logprobs-mode processed_logprobs"
)


class ServerError(RlvrEnvsError):
    """The server gave no answer, or one that shows that it is not in the state it should be in."""


class VllmClient:
    """The HTTP side of a vLLM server; threads may share it.

    Args:
        url: the server's address, such as ``http://localhost:8000``.
        api_key_env: the environment variable with the key, if the server wants one.
        timeout_s: how long to wait for an answer.
        attempts: how often what may be done twice is tried.
        first_wait_s: how long to wait before the second attempt; it doubles each time.
        connections: requests under way at a time.

    Raises:
        ConfigError: the address is malformed or holds a password, or a number is out of range.
        DependencyError: httpx is missing.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key_env: str = "RLVR_SERVER_KEY",
        timeout_s: float = 600.0,
        attempts: int = 5,
        first_wait_s: float = 0.5,
        connections: int = 64,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"a server's URL is like 'http://localhost:8000', got {url!r}")
        if parts.username or parts.password or parts.query:
            raise ConfigError(
                "a server's URL holds no password and no query, since it is stored with the run: "
                f"put the key into the environment variable {api_key_env}"
            )
        if min(attempts, connections) < 1:
            raise ConfigError(
                f"attempts and connections are at least 1, got {attempts} and {connections}"
            )
        try:
            import httpx
        except ImportError as error:
            raise DependencyError(
                f"sampling from a server needs httpx: {hint('report', 'httpx')}"
            ) from error
        self._httpx: Any = httpx
        self.url = url.rstrip("/").removesuffix("/v1")
        self.connections = connections
        self._key = os.environ.get(api_key_env, "").strip()
        if not (self._key.isascii() and self._key.isprintable()):
            raise ConfigError(f"the API key in {api_key_env} holds characters no key has")
        self._attempts, self._first_wait_s = attempts, first_wait_s
        self._http = httpx.Client(
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            timeout=timeout_s,
            limits=httpx.Limits(max_connections=connections),
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def get(self, path: str) -> Any:
        """Return what the server answers, as JSON.

        Raises:
            ConfigError: it refuses.
            ServerError: it gives no answer.
        """
        return self._json(self._ask("GET", path, None, self._attempts))

    def post(self, path: str, body: Mapping[str, Any] | None = None, *, again: bool = False) -> Any:
        """Return what the server answers to a body, as JSON; None for an empty answer.

        Args:
            path: the route, with its query.
            body: what is sent.
            again: whether it may be done twice, so that it is tried again after what may pass.

        Raises:
            ConfigError: the server refuses.
            ServerError: it gives no answer.
        """
        return self._json(self._ask("POST", path, body or {}, self._attempts if again else 1))

    def probe(self, method: str, path: str) -> int:
        """Return the status with which the server answers an empty request.

        Raises:
            ServerError: it cannot be reached.
        """
        try:
            body: dict[str, Any] | None = {} if method == "POST" else None
            return int(self._http.request(method, self.url + path, json=body).status_code)
        except self._httpx.TransportError as error:
            raise ServerError(
                f"no server answers at {self.url} ({self._told(error)}): start it with {START}"
            ) from error

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None, attempts: int) -> Any:
        problem = ""
        for attempt in range(attempts):
            asked = 0.0
            try:
                reply = self._http.request(method, self.url + path, json=body)
            except self._httpx.TransportError as error:
                problem = self._told(error)
            else:
                if reply.is_success:
                    return reply
                problem = self._redact(
                    f"HTTP {reply.status_code}: {' '.join(reply.text[:500].split())}"
                )
                if reply.status_code not in _PASSING and reply.status_code < 500:
                    raise ConfigError(f"the server refuses {self.url}{path}: {problem}")
                asked = retry_after(reply.headers.get("retry-after"), time.time())
            if attempt + 1 < attempts:
                wait = max(asked, self._first_wait_s * 2**attempt)
                time.sleep(min(wait, _LONGEST_WAIT_S))
        times = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        raise ServerError(f"the server failed at {self.url}{path} ({times}): {problem}")

    def _json(self, reply: Any) -> Any:
        if not reply.content:
            return None
        try:
            return reply.json()
        except ValueError as error:
            raise ServerError(
                f"the answer of {reply.request.url} is no JSON: {self._redact(reply.text[:200])!r}"
            ) from error

    def _told(self, error: Exception) -> str:
        return self._redact(f"{type(error).__name__}: {error}")

    def _redact(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text
