"""The sampler on a vLLM server: tokens in, tokens out, each with the version that sampled it.

The server is given the weights before the first sample of a run and after each update. Nothing is
taken on trust: the server has to name the version that it was given, and each token's version has
to be one that this run gave it while the token was sampled.
"""

import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

from rlvr_envs.agents.grpo.sampling.sampler import Completion, Request, Versions, Weights
from rlvr_envs.agents.grpo.sampling.vllm.client import START, ServerError, VllmClient
from rlvr_envs.agents.grpo.sampling.vllm.requests import checked, ended_of, parameters_of
from rlvr_envs.agents.grpo.sampling.vllm.transport import Transport
from rlvr_envs.core.errors import ConfigError, RlvrEnvsError

_GENERATE = "/inference/v1/generate"

# After an update that failed: how often requests under way are ended, and how long to wait for it.
_ABORTS, _ABORT_WAIT_S = 60, 0.5


class VllmSampler:
    """Continues sequences on a vLLM server.

    With several workers each has a sampler of the same `run`, and one of them `sends`. `update` is
    then for all, and nobody may go on to `generate` before that one has returned from it.

    Args:
        client: of the server.
        end_tokens: what ends a completion.
        transport: how the server gets the weights; None for a server whose weights never change,
            as in an evaluation.
        run: what tells this run's versions from those of another run on the same server; drawn
            anew if None, also where a run is resumed.
        sends: whether this sampler hands the weights over.

    Raises:
        ConfigError: an argument is wrong.
    """

    concurrent = True  # the weights are the server's own

    def __init__(
        self,
        client: VllmClient,
        end_tokens: Iterable[int],
        *,
        transport: Transport | None = None,
        run: str | None = None,
        sends: bool = True,
    ) -> None:
        self._client, self._transport = client, transport
        self._ends = frozenset(end_tokens)
        self._run = secrets.token_hex(4) if run is None else run
        self._sends = sends
        self._connected = False
        # Of the weights that the server has; None before it was given any.
        self._version: int | None = None if transport else 0
        self._under_way = 0  # calls of `generate`
        self._ended = threading.Condition()

    def check(self, context: int | None = None) -> None:
        """Find out whether the server can do what is needed.

        Args:
            context: the most tokens of prompt and completion that will be asked for.

        Raises:
            ConfigError: something is missing; the message names all of it.
            ServerError: it cannot be reached.
        """
        missing = []
        if self._client.probe("POST", _GENERATE) in (403, 404):
            missing.append("--enable-scale-out, for token ids in and out")
        if self._client.probe("GET", "/server_info?config_format=json") == 404:
            missing.append("the environment variable VLLM_SERVER_DEV_MODE=1, for weight updates")
        else:
            info = self._client.get("/server_info?config_format=json")
            missing += self._missing_settings(info.get("vllm_config") or {}, context)
        if missing:
            raise ConfigError(
                f"the vLLM server at {self._client.url} lacks {'; '.join(missing)}. "
                f"Start it with: {START}{self._flag()}"
            )

    def _missing_settings(self, config: Mapping[str, Any], context: int | None) -> list[str]:
        model = config.get("model_config") or {}
        mode, length = model.get("logprobs_mode"), model.get("max_model_len")
        missing = []
        if mode != "processed_logprobs":
            missing.append(
                f"--logprobs-mode processed_logprobs, for log-probabilities at the temperature "
                f"(it has {mode})"
            )
        if context is not None and isinstance(length, int) and length < context:
            missing.append(f"--max-model-len {context} (it has {length})")
        wanted = self._transport.backend if self._transport else None
        has = (config.get("weight_transfer_config") or {}).get("backend")
        if wanted is not None and wanted != has:
            missing.append(f"--weight-transfer-config for the backend {wanted!r} (it has {has!r})")
        return missing

    def _flag(self) -> str:
        backend = self._transport.backend if self._transport else None
        return f' --weight-transfer-config \'{{"backend": "{backend}"}}\'' if backend else ""

    def update(self, weights: Weights, version: int) -> None:
        """Give the server these weights (`Sampler.update`).

        Requests that are under way wait meanwhile, and go on with the new weights: their tokens so
        far are computed again, and their versions say which is which.

        Raises:
            ConfigError: there is no transport, or the server refuses.
            ServerError: the server did not take the weights. It stays paused, so that nothing is
                sampled from weights of which nobody knows what they are.
        """
        if self._transport is None:
            raise ConfigError(
                "the server's weights do not change by themselves, and training needs that: choose "
                "a transport (file, reload, nccl or ipc)"
            )
        if self._sends:
            self._send(self._transport, weights, version)
        else:
            for _ in weights():  # gathering shared weights takes all workers
                pass
        self._version = version

    def _send(self, transport: Transport, weights: Weights, version: int) -> None:
        client = self._client
        if not self._connected:
            transport.connect()
            self._connected = True
        client.post("/pause?mode=keep", again=True)
        try:
            self._replace(transport, weights, version)
        except RlvrEnvsError as error:
            self._version = None  # so that nothing is asked for before an update has gone well
            self._abandon()
            if not isinstance(error, ServerError):
                raise
            raise ServerError(
                f"{error}. The server stays paused, since nobody knows which weights it has: give "
                "it whole ones, by resuming the run, or start it again"
            ) from error
        # From here on its tokens may be of this version.
        self._version = version
        client.post("/resume", again=True)

    def _abandon(self) -> None:
        """End the requests under way, which a paused server would keep for ever.

        More than once, since the server also keeps those that reach it after it has ended others.
        """
        with suppress(RlvrEnvsError):
            for _ in range(_ABORTS):
                self._client.post("/pause?mode=abort")
                with self._ended:
                    if self._ended.wait_for(lambda: not self._under_way, _ABORT_WAIT_S):
                        return

    def _replace(self, transport: Transport, weights: Weights, version: int) -> None:
        """Replace the weights of the paused server, and what it has computed from them."""
        client, label = self._client, self._label(version)
        transport.send(weights(), label)
        # Requests under way would hold on to what they have computed from the old weights.
        reset = client.post("/reset_prefix_cache?reset_running_requests=true", again=True)
        if not (reset or {}).get("success"):
            raise ServerError(
                f"the server at {client.url} kept its prefix cache, which is of older weights, "
                f"when it was given version {version}: it answered {reset}"
            )
        found = transport.version()
        if found != label:
            raise ServerError(
                f"the server at {client.url} was given version {version} ({label}), but says that "
                f"it has {found!r}: it lost the update, or another run gives it weights too"
            )

    def generate(
        self, requests: Sequence[Request], *, temperature: float = 1.0, seed: int = 0
    ) -> list[Completion]:
        """Return a completion of each request, in their order (`Sampler.generate`).

        Each request has a seed of its own. Whether the same seed gives the same tokens is the
        server's affair; batches of other sizes may round otherwise.

        Raises:
            ConfigError: the server refuses a request, or does not return what is needed.
            ServerError: it gave no answer, or sampled from weights that it should not have.
        """
        if self._version is None:
            raise ConfigError(
                "the server has not been given this run's weights: call `update` before the first "
                "`generate`, also where a run is resumed"
            )
        checked(requests, temperature)

        def complete(numbered: tuple[int, Request]) -> Completion:
            number, request = numbered
            oldest = self._version
            body = {
                "token_ids": request.prompt,
                "stream": False,
                "sampling_params": parameters_of(number, request, self._ends, temperature, seed),
            }
            reply = self._client.post(_GENERATE, body, again=True)
            return self._read(reply, request, oldest or 0)

        with self._counted(), ThreadPoolExecutor(self._client.connections) as pool:
            futures = [pool.submit(complete, each) for each in enumerate(requests)]
            try:
                return [future.result() for future in futures]
            finally:
                for future in futures:  # those that have not begun, if one has failed
                    future.cancel()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count a call of `generate` as under way."""
        with self._ended:
            self._under_way += 1
        try:
            yield
        finally:
            with self._ended:
                self._under_way -= 1
                self._ended.notify_all()

    def _read(self, reply: Any, request: Request, oldest: int) -> Completion:
        try:
            choice = reply["choices"][0]
            tokens = [int(token) for token in choice["token_ids"]]
            content = (choice.get("logprobs") or {}).get("content") or []
            logps = [float(each["logprob"]) for each in content]
            spans = [
                (int(span["start"]), int(span["end"]), str(span["version"]))
                for span in choice.get("weight_versions") or []
            ]
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise ServerError(
                f"the server's answer is no completion as vLLM's: {str(reply)[:200]!r}"
            ) from error
        ended = ended_of(tokens, logps, request, self._ends, choice.get("finish_reason"))
        versions = self._versions(spans, len(tokens), oldest)
        return Completion(tuple(tokens), tuple(logps), ended, versions)

    def _versions(
        self, spans: Sequence[tuple[int, int, str]], length: int, oldest: int
    ) -> Versions:
        """Return the versions of a completion, having checked that they can be true."""
        if self._transport is None:
            return ((0, 0),) if length else ()
        starts = [start for start, _, _ in spans]
        ends = [end for _, end, _ in spans]
        if starts != [0, *ends][: len(starts)] or (ends or [0])[-1] != length:
            raise ServerError(
                f"the server does not say which weights sampled each of {length} tokens, but "
                f"{list(spans)}: vLLM from 0.32 on does"
            )
        newest = self._version if self._version is not None else oldest
        known = {self._label(version): version for version in range(oldest, newest + 1)}
        strange = [label for _, _, label in spans if label not in known]
        if strange:
            raise ServerError(
                f"the server at {self._client.url} sampled from the version {strange[0]!r}, not "
                f"from {self._label(newest)}: it was started again, or another run gives it "
                "weights too; resume this run to hand it the weights anew"
            )
        return tuple((start, known[label]) for start, _, label in spans)

    def _label(self, version: int) -> str:
        return f"{self._run}.{version}"
