"""One call of the fast sampler: requests on their way through the slots."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from rlvr_envs.agents.grpo.sampling.sampler import Completion, Request
from rlvr_envs.agents.grpo.sampling.slot_cache import Extend, Prefill
from rlvr_envs.agents.grpo.sampling.slot_model import extend, prefill
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
    keep: bool = True
    """Whether prompts that go on from what the last call prompted and sampled, as those of an
    episode's next turn do, are computed from there on only."""


@dataclass(slots=True)
class SlotStats:
    """What a call did.

    Attributes:
        tokens: sampled and returned.
        steps: of decoding.
        places: rows computed in these steps.
        prefilled: tokens of prompts computed before, without padding.
        kept: tokens of prompts that were not, since the last call had computed them.
    """

    tokens: int = 0
    steps: int = 0
    places: int = 0
    prefilled: int = 0
    kept: int = 0

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
        # Of each row, the request that was the last in it.
        self.latest: list[int | None] = [None] * state.cache.slots

    def play(self) -> list[tuple[list[int], list[float]]]:
        """Return the tokens and log-probabilities of each request."""
        held, self.state.held = self.state.held, []
        placed = self._place()
        self._prepare(self._resume(placed, held), placed)
        while True:
            self._prepare(placed := self._place(), placed)
            if all(owner is None for owner in self.owners):
                return self.drawn
            if not self.queue:
                self._shrink()
            self._window()

    def _place(self) -> dict[tuple[int, ...], list[int]]:
        """Give free slots to requests, and return the rows by prompt."""
        free = [row for row, owner in enumerate(self.owners) if owner is None]
        placed: dict[tuple[int, ...], list[int]] = {}
        while free and self.queue:
            request, row = self.queue.popleft(), free.pop()
            self.owners[row] = self.latest[row] = request
            placed.setdefault(self.requests[request].prompt, []).append(row)
        return placed

    def _resume(
        self, placed: dict[tuple[int, ...], list[int]], held: Sequence[tuple[int, ...]]
    ) -> dict[tuple[int, ...], list[int]]:
        """Compute the prompts that go on from what rows hold, and return the others.

        All else that the cache holds is forgotten.
        """
        state = self.state
        found = beginnings(held, placed)
        if not found:
            state.cache.clear()
            return placed
        sources = [found[prompt] for prompt in found for _ in placed[prompt]]
        targets = [row for prompt in found for row in placed[prompt]]
        longest = max(len(held[row]) for row in found.values())
        state.cache.keep(state.index(sources), state.index(targets), longest)
        lengths = {prompt: len(held[row]) for prompt, row in found.items()}
        self.stats.kept += sum(lengths.values())
        for chunk in _chunks(found, self.options.prefill_tokens):
            self._extend({prompt: lengths[prompt] for prompt in chunk}, placed)
        return {prompt: rows for prompt, rows in placed.items() if prompt not in found}

    def _extend(
        self, lengths: dict[tuple[int, ...], int], placed: dict[tuple[int, ...], list[int]]
    ) -> None:
        """Compute prompts, but for their last tokens, from where their rows end."""
        state = self.state
        pending = {prompt: prompt[length:-1] for prompt, length in lengths.items()}
        width = max(map(len, pending.values()))
        if width:
            ids = torch.full((len(pending), width), state.pad)
            for row, tokens in zip(ids, pending.values(), strict=True):
                row[: len(tokens)] = torch.tensor(tokens)
            places = state.index(list(lengths.values()))[:, None] + state.index(range(width))
            rows = state.index([placed[prompt][0] for prompt in lengths])
            cache = Extend(state.cache, rows, places, max(map(len, lengths)) - 1)
            extend(state.model, ids.to(state.tokens.device), cache)
            self.stats.prefilled += sum(map(len, pending.values()))
        for prompt in lengths:
            first, *others = placed[prompt]
            if others:
                state.cache.copy(state.index([first]), state.index(others), len(prompt) - 1)

    def _prepare(
        self, pending: dict[tuple[int, ...], list[int]], placed: dict[tuple[int, ...], list[int]]
    ) -> None:
        """Have prompts in the rows that were given to them; `pending` are not yet."""
        if not placed:
            return
        rows = [row for group in placed.values() for row in group]
        last = next(reversed(placed))
        parked, kept = self.parked
        if parked in pending:
            targets = self.state.index(pending[parked])
            self.state.cache.copy(self.state.index([kept]), targets, len(parked) - 1)
        # The parked prompt's slot may be filled from here on.
        new = {prompt: rows for prompt, rows in pending.items() if prompt != parked}
        for chunk in _chunks(new, self.options.prefill_tokens):
            self._prefill({prompt: new[prompt] for prompt in chunk})
        if last != parked:
            self.parked = (last, placed[last][0])
        self.state.put(rows, [self.requests[self._owner(row)] for row in rows])

    def held(self, completions: Sequence[Completion]) -> list[tuple[int, ...]]:
        """Return the tokens that each row holds keys and values of after the call."""
        if not self.options.keep:
            return []
        # Of a completion's last token they are not computed.
        return [
            ()
            if request is None
            else self.requests[request].prompt + completions[request].tokens[:-1]
            for request in self.latest
        ]

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
            self.owners[target] = self.latest[target] = self.owners[source]
            self.latest[source] = None
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


def beginnings(
    held: Sequence[tuple[int, ...]], prompts: Iterable[tuple[int, ...]]
) -> dict[tuple[int, ...], int]:
    """Return, of each prompt, the row that holds the most of it, if one holds nothing else.

    A prompt's last token does not count: the first step takes it.
    """
    rows = [(tokens, row, ()) for row, tokens in enumerate(held) if tokens]
    ends = [(prompt[:-1], len(held), prompt) for prompt in prompts]
    found: dict[tuple[int, ...], int] = {}
    # In the order of the tokens, all beginnings of a prompt come before it, the longest last.
    begun: list[tuple[tuple[int, ...], int]] = []
    for tokens, row, prompt in sorted([*rows, *ends]):
        while begun and tokens[: len(begun[-1][0])] != begun[-1][0]:
            begun.pop()
        if not prompt:
            begun.append((tokens, row))
        elif begun:
            found[prompt] = begun[-1][1]
    return found


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
