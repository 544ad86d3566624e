"""The sampler protocol: what continues token sequences, and tells how likely each token was.

Weights have versions: 0 is what a run begins with, and each update of the trainer adds one. A
completion says which version sampled each of its tokens.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

# Gives the trained weights as (name, tensor) pairs, each time anew: see `weights.weights_of`.
Weights = Callable[[], Iterable[tuple[str, Any]]]

# (start, version) pairs: the tokens from `start` on, up to the next pair's, are of that version.
Versions = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """A sequence to continue.

    Requests of one call with equal prompts are a group: a sampler may compute the prompt once.

    Attributes:
        prompt: token ids, at least one.
        max_tokens: the most tokens to add, from 1.
    """

    prompt: tuple[int, ...]
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Completion:
    """What was added.

    Attributes:
        tokens: token ids, the end-of-sequence token included where it was sampled.
        logps: each one's log-probability in the distribution that it was sampled from, that is at
            the sampler's temperature, in nats.
        finished: whether an end-of-sequence token ended it, rather than ``max_tokens``.
        versions: which version of the weights sampled each token, as (start, version) pairs of
            which the first starts at 0; empty where there is no token, or nobody knows.
    """

    tokens: tuple[int, ...]
    logps: tuple[float, ...]
    finished: bool
    versions: Versions = ()


class Sampler(Protocol):
    """Continues sequences; `generate` (plain transformers), `slots` and `vllm` have one each."""

    @property
    def concurrent(self) -> bool:
        """Whether `generate` may run in one thread while another trains and calls `update`."""

    def generate(
        self, requests: Sequence[Request], *, temperature: float = 1.0, seed: int = 0
    ) -> list[Completion]:
        """Return a completion of each request, in their order.

        Args:
            requests: may be of any number and lengths.
            temperature: above 0; or 0 for the likeliest token, whose log-probability is then that
                of temperature 1.
            seed: of the draws: the same requests, weights and seed give the same tokens.

        Raises:
            ConfigError: a request does not fit into the model's context.
        """

    def update(self, weights: Weights, version: int) -> None:
        """Sample from these weights from now on: nothing computed before may be used again.

        It is to be called before the first `generate` of a run, which may have been resumed, and
        after each update of the weights. A sampler that works on the trainer's own model forgets
        what it has computed; one that has weights of its own takes them from `weights`.

        Args:
            weights: gives the weights by the names that the model's checkpoints have for them.
            version: their number, which completions bear from now on.

        Raises:
            ServerError: a server did not take them.
        """


def staleness(versions: Versions, now: int) -> int:
    """Return by how many updates the oldest token is behind the version `now`; 0 without tokens."""
    return max((now - version for _, version in versions), default=0)


def version_of_each(versions: Versions, length: int) -> list[int]:
    """Return the version of each of so many tokens.

    Raises:
        ValueError: the pairs do not cover the tokens.
    """
    starts = [start for start, _ in versions]
    if length and (not starts or starts[0] != 0 or starts != sorted(set(starts))):
        raise ValueError(f"(start, version) pairs begin at 0 and rise, got {versions}")
    if starts and starts[-1] >= length:
        raise ValueError(f"a version starts at token {starts[-1]} of {length}")
    ends = [end for _, end in pairwise([*starts, length])]
    return [
        version
        for (start, version), end in zip(versions, ends, strict=True)
        for _ in range(start, end)
    ]
