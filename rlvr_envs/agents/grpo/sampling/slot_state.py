"""What the fast sampler has on the device, and its step."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from rlvr_envs.agents.grpo.sampling.cuda_graph import Graphs
from rlvr_envs.agents.grpo.sampling.generate import pick
from rlvr_envs.agents.grpo.sampling.sampler import Request
from rlvr_envs.agents.grpo.sampling.slot_cache import Decode, Layout, SlotCache
from rlvr_envs.agents.grpo.sampling.slot_model import decode


class SlotState:
    """What is on the device: the slots, and each one's token, length and limit."""

    def __init__(
        self,
        model: Any,
        cache: SlotCache,
        layout: Layout,
        ends_and_pad: tuple[frozenset[int], int],
        *,
        graphs: bool,
    ) -> None:
        device, slots = model.device, cache.slots
        ends, self.pad = ends_and_pad
        self.model, self.cache, self.graphs = model, cache, graphs
        self.pointers: list[int] = []
        self.rows = slots
        # Of each row, the tokens that it holds keys and values of, as the last call left them.
        self.held: list[tuple[int, ...]] = []
        self.tokens = torch.zeros(slots, dtype=torch.long, device=device)
        self.lengths = torch.zeros(slots, dtype=torch.long, device=device)
        self.left = torch.zeros(slots, dtype=torch.long, device=device)
        self.done = torch.ones(slots, dtype=torch.bool, device=device)
        self.logps = torch.zeros(slots, device=device)
        self.noise = torch.ones(slots, layout.vocabulary, device=device)
        self.temperature = torch.ones((), device=device)
        self.is_end = torch.zeros(layout.vocabulary, dtype=torch.bool, device=device)
        self.is_end[[end for end in ends if end < layout.vocabulary]] = True
        self.generator: torch.Generator | None = None
        self._run: Callable[[int, int], None] = Graphs(self._step) if graphs else self._step

    def start(self, temperature: float, generator: torch.Generator) -> None:
        """Make ready for a call, but for the cache."""
        self.lengths.zero_()
        self.done.fill_(True)
        self.noise.fill_(1.0)
        self.temperature.fill_(temperature or 1.0)
        self.generator = generator if temperature else None

    def forget_graphs(self) -> None:
        """Capture again what is captured: weights have moved."""
        if isinstance(self._run, Graphs):
            self._run.clear()

    def step(self, rows: int, span: int) -> None:
        """Sample one token in each of the first rows."""
        if self.generator is not None:
            # Outside of the graph, which then needs to know nothing of seeds.
            self.noise[:rows].exponential_(generator=self.generator)
        self._run(rows, span)

    def _step(self, rows: int, span: int) -> None:
        tokens, lengths, left, done = (
            each[:rows] for each in (self.tokens, self.lengths, self.left, self.done)
        )
        logits = decode(self.model, tokens, Decode(self.cache, lengths, span))
        picked, logps = pick(logits, self.temperature, self.noise[:rows])
        # A slot that is done stands still: it writes again where it wrote, within its bounds.
        lengths += ~done
        left -= 1
        tokens.copy_(picked.where(~done, self.pad))
        self.logps[:rows] = logps
        done |= self.is_end[picked] | (left <= 0)

    def put(self, rows: Sequence[int], requests: Sequence[Request]) -> None:
        """Set requests, whose prompts but for the last token are in the cache, going in rows."""
        at = self.index(rows)
        self.tokens[at] = self.index([each.prompt[-1] for each in requests])
        self.lengths[at] = self.index([len(each.prompt) - 1 for each in requests])
        self.left[at] = self.index([each.max_tokens for each in requests])
        self.done[at] = False

    def move(self, sources: Sequence[int], targets: Sequence[int], length: int) -> None:
        """Copy rows to others."""
        source, target = self.index(sources), self.index(targets)
        self.cache.copy(source, target, length)
        for each in (self.tokens, self.lengths, self.left, self.done):
            each[target] = each[source]

    def index(self, numbers: Sequence[int]) -> Tensor:
        """Return numbers as a tensor on the device."""
        return torch.tensor(numbers, dtype=torch.long, device=self.tokens.device)
