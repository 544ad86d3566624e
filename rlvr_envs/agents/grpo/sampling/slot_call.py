"""One call of the fast sampler: requests on their way through the slots."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from rlvr_envs.agents.grpo.sampling.sampler import Request
from rlvr_envs.agents.grpo.sampling.slot_cache import Prefill
from rlvr_envs.agents.grpo.sampling.slot_model import prefill
from rlvr_envs.agents.grpo.sampling.slot_state import SlotState

# Of the shapes that are captured: no fewer rows, and no shorter spans.
_LEAST_ROWS = 8
_LEAST_SPAN = 128


@dataclass(frozen=True, kw_only=True)
class SlotOptions:
    """What a `SlotSampler` may be told beside its size."""

    dtype: torch.dtype | None = None
    """The precision of the computation and of the cache; None for the model's own."""
    copy: bool = True
    """Whether another precision means a copy of the weights in it, which `update` refreshes; it
    takes memory, and saves converting the weights in every step. Otherwise autocast does that."""
    graphs: bool | None = None
    """Whether steps are captured in CUDA graphs; None for wherever the model is on a GPU."""
    cache_tokens: int | None = None
    """The most tokens that the cache has room for: slots become fewer where they are long."""
    prefill_tokens: int = 16_384
    """Tokens of prompts, padding included, that are computed at a time."""
    window: int = 8
    """Steps between two looks at what was sampled."""


@dataclass(slots=True)
class SlotStats:
    """What a call did.

    Attributes:
        tokens: sampled and returned.
        steps: of decoding.
        places: rows computed in these steps.
        prefilled: tokens of prompts computed before, without padding.
    """

    tokens: int = 0
    steps: int = 0
    places: int = 0
    prefilled: int = 0

    @property
    def utilisation(self) -> float:
        """Which part of the rows computed gave a token that was wanted."""
        return self.tokens / max(self.places, 1)


class SlotCall:
    """One call's requests on their way through the slots."""

    def __init__(
        self, state: SlotState, requests: Sequence[Request], options: SlotOptions, stats: SlotStats
    ) -> None:
        self.state, self.requests, self.options, self.stats = state, requests, options, stats
        groups: dict[tuple[int, ...], list[int]] = {}
        for i, request in enumerate(requests):
            groups.setdefault(request.prompt, []).append(i)
        self.queue = deque(i for group in groups.values() for i in group)
        self.owners: list[int | None] = [None] * state.rows
        # Of each request, tokens and log-probabilities.
        self.drawn: list[tuple[list[int], list[float]]] = [([], []) for _ in requests]
        # A prompt whose group still waits, and a slot that holds it. A slot of the group that ends
        # is filled with the group's next member, which leaves the prompt in place.
        self.parked: tuple[tuple[int, ...], int] = ((), 0)

    def play(self) -> list[tuple[list[int], list[float]]]:
        """Return the tokens and log-probabilities of each request."""
        while True:
            self._admit()
            if all(owner is None for owner in self.owners):
                return self.drawn
            if not self.queue:
                self._shrink()
            self._window()

    def _admit(self) -> None:
        """Fill free slots with requests."""
        free = [row for row, owner in enumerate(self.owners) if owner is None]
        placed: dict[tuple[int, ...], list[int]] = {}
        while free and self.queue:
            request, row = self.queue.popleft(), free.pop()
            self.owners[row] = request
            placed.setdefault(self.requests[request].prompt, []).append(row)
        if not placed:
            return
        rows = [row for group in placed.values() for row in group]
        last = next(reversed(placed))
        parked, kept = self.parked
        if parked in placed:
            targets = self.state.index(placed.pop(parked))
            self.state.cache.copy(self.state.index([kept]), targets, len(parked) - 1)
        # The parked prompt's slot may be filled from here on.
        for chunk in _chunks(placed, self.options.prefill_tokens):
            self._prefill({prompt: placed[prompt] for prompt in chunk})
        if last != parked:
            self.parked = (last, placed[last][0])
        self.state.put(rows, [self.requests[self._owner(row)] for row in rows])

    def _prefill(self, placed: dict[tuple[int, ...], list[int]]) -> None:
        """Compute prompts but for their last tokens, which are the first step's."""
        state = self.state
        ids = torch.full((len(placed), max(map(len, placed)) - 1), state.pad)
        for row, prompt in zip(ids, placed, strict=True):
            row[: len(prompt) - 1] = torch.tensor(prompt[:-1])
        sources = [i for i, rows in enumerate(placed.values()) for _ in rows]
        targets = [row for rows in placed.values() for row in rows]
        cache = Prefill(state.cache, state.index(targets), state.index(sources))
        prefill(state.model, ids.to(state.tokens.device), cache)
        self.stats.prefilled += sum(len(prompt) - 1 for prompt in placed)

    def _shrink(self) -> None:
        """Move the slots in use together where half of the rows would do."""
        live = [row for row, owner in enumerate(self.owners) if owner is not None]
        rows = len(self.owners)
        least = _LEAST_ROWS if self.state.graphs else 1
        while rows // 2 >= max(len(live), least):
            rows //= 2
        if rows == len(self.owners):
            return
        sources = [row for row in live if row >= rows]
        targets = [row for row in range(rows) if self.owners[row] is None][: len(sources)]
        if sources:
            self.state.move(sources, targets, max(self._length(row) for row in sources))
        for source, target in zip(sources, targets, strict=True):
            self.owners[target] = self.owners[source]
        del self.owners[rows:]

    def _window(self) -> None:
        """Go some steps, and see what was sampled."""
        state, rows = self.state, len(self.owners)
        live = [row for row, owner in enumerate(self.owners) if owner is not None]
        steps = min(self.options.window, max(self._left(row) for row in live))
        span = max(self._length(row) for row in live) + steps
        span = min(span_for(span, state.graphs), state.cache.span)
        tokens, logps = [], []
        for _ in range(steps):
            state.step(rows, span)
            tokens.append(state.tokens[:rows].clone())
            logps.append(state.logps[:rows].clone())
        self.stats.steps += steps
        self.stats.places += steps * rows
        columns = torch.stack(tokens, 1).tolist(), torch.stack(logps, 1).tolist()
        done = state.done[:rows].tolist()
        for row in live:
            own_tokens, own_logps = self.drawn[self._owner(row)]
            own_tokens += columns[0][row]
            own_logps += columns[1][row]
            if done[row]:  # what came after the end is cut off in the end
                self.owners[row] = None

    def _owner(self, row: int) -> int:
        owner = self.owners[row]
        if owner is None:
            raise RuntimeError(f"slot {row} is free")
        return owner

    def _length(self, row: int) -> int:
        """Return the tokens that a slot in use has in the cache."""
        owner = self._owner(row)
        return len(self.requests[owner].prompt) - 1 + len(self.drawn[owner][0])

    def _left(self, row: int) -> int:
        owner = self._owner(row)
        return self.requests[owner].max_tokens - len(self.drawn[owner][0])


def _chunks(prompts: Iterable[tuple[int, ...]], tokens: int) -> list[list[tuple[int, ...]]]:
    """Split prompts, those of one token left out, so that padded they have so many tokens."""
    chunks: list[list[tuple[int, ...]]] = []
    for prompt in sorted(prompts, key=len, reverse=True):
        if len(prompt) == 1:
            continue
        if chunks and (len(chunks[-1]) + 1) * (len(chunks[-1][0]) - 1) <= tokens:
            chunks[-1].append(prompt)
        else:
            chunks.append([prompt])
    return chunks


def span_for(length: int, graphs: bool) -> int:
    """Return the span to read for a length: one of few for graphs, each half as long again."""
    if not graphs:
        return -(-length // 16) * 16
    span = _LEAST_SPAN
    while span < length:
        span = span * 3 // 2 if span & (span - 1) == 0 else span // 3 * 4
    return span


def rows_for(requests: int, slots: int, graphs: bool) -> int:
    """Return the rows to begin with: for graphs one of the halves of the slots."""
    if not graphs:
        return min(requests, slots)
    rows = slots
    while rows // 2 >= max(requests, _LEAST_ROWS):
        rows //= 2
    return rows
