"""Clock, rounds and memory of `grpo.py`, and what the numbers depend on."""

import gc
import statistics
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from typing import Any, Protocol

import torch

# Dense bfloat16 FLOP/s by makers' data sheets; the first name that the device's has in it counts.
PEAKS = {
    "B200": 2250e12,
    "H200": 989e12,
    "H100 PCIe": 756e12,
    "H100 NVL": 835e12,
    "H100": 989e12,
    "A100": 312e12,
    "L40S": 362e12,
    "RTX 4090": 165e12,
    "L40": 181e12,
    "L4": 121e12,
    "A10G": 70e12,
    "A10": 125e12,
}


class Clock:
    """Takes the time between marks: by CUDA events on a GPU, else by the wall."""

    def __init__(self, device: str) -> None:
        self.gpu = device == "cuda"
        self._marks: list[Any] = []

    def mark(self) -> None:
        """Take the time when all that was begun before is done."""
        if self.gpu:
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            self._marks.append(event)
        else:
            self._marks.append(time.perf_counter())

    def clear(self) -> None:
        """Forget the marks."""
        self._marks = []

    def seconds(self) -> list[float]:
        """Return the times between the marks since the last call."""
        marks, self._marks = self._marks, []
        pairs = list(pairwise(marks))
        if not self.gpu:
            return [after - before for before, after in pairs]
        torch.cuda.synchronize()
        return [before.elapsed_time(after) / 1e3 for before, after in pairs]


class Way(Protocol):
    """One of the ways that are compared.

    Attributes:
        notes: what else is to be said of the last call.
    """

    notes: dict[str, Any]

    def __call__(self, clock: Clock, seed: int) -> list[int]:
        """Work between marks of the clock, and return how many tokens that was between each."""


Make = Callable[[], Way]


class Record:
    """What was measured of a way."""

    def __init__(self) -> None:
        self.rates: list[float] = []
        self.seconds: list[float] = []
        self.tokens: list[int] = []
        self.peak = 0
        self.notes: dict[str, Any] = {}
        self.failed = ""

    def take(self, tokens: list[int], seconds: list[float], notes: dict[str, Any]) -> None:
        """Take down what one call did."""
        self.tokens += tokens
        self.seconds += seconds
        self.rates += [count / each for count, each in zip(tokens, seconds, strict=True)]
        self.notes = notes

    def fail(self, error: Exception) -> None:
        """Take down why there is nothing more."""
        self.failed = f"{type(error).__name__}: {error}"[:500]

    def row(self, gpu: bool) -> dict[str, Any]:
        """Return it for JSON: medians, and all numbers that they are of."""
        if self.failed:
            return {"failed": self.failed}
        return {
            "tokens_per_s": _short(statistics.median(self.rates)),
            "spread": [_short(min(self.rates)), _short(max(self.rates))],
            "seconds": _short(statistics.median(self.seconds)),
            "all_tokens_per_s": [_short(rate) for rate in self.rates],
            "tokens": statistics.median(self.tokens),
            "peak_gib": _short(self.peak / 2**30) if gpu else None,
            **self.notes,
        }


def measure(
    makers: dict[str, Make], device: str, rounds: int, *, warm_ups: int, alone: bool
) -> dict[str, dict[str, Any]]:
    """Return speed and memory of each way: the ways take turns, and begin with another each round.

    Memory is what a way takes beyond what was taken before it was made. A way that fails is left
    out from there on, and the result says why.

    Args:
        makers: of each way.
        device: where they compute.
        rounds: that are timed.
        warm_ups: calls of a way before the first that is timed.
        alone: make each way anew in each round, with no other beside it.
    """
    clock = Clock(device)
    records = {name: Record() for name in makers}
    ready: dict[str, Way | None] = {}
    names = list(makers)
    if not alone:
        ready = {name: _made(makers[name], clock, records[name], warm_ups) for name in names}
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            record = records[name]
            if record.failed:
                continue
            if alone:
                _made(makers[name], clock, record, warm_ups, seed=warm_ups + turn)
            else:
                _timed(ready[name], clock, record, warm_ups + turn)
    return {name: record.row(clock.gpu) for name, record in records.items()}


def _made(
    make: Make, clock: Clock, record: Record, warm_ups: int, seed: int | None = None
) -> Way | None:
    """Make a way and warm it up, and time it if there is a seed; take down its memory."""
    gc.collect()
    before = 0
    if clock.gpu:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
    way = None
    try:
        way = make()
        for number in range(warm_ups):
            way(clock, number)
        clock.seconds()
    except Exception as error:  # noqa: BLE001 - the others' numbers are not to be lost with it
        record.fail(error)
        clock.clear()
        way = None
    if seed is not None:
        _timed(way, clock, record, seed)
    if clock.gpu:
        torch.cuda.synchronize()
        record.peak = max(record.peak, torch.cuda.max_memory_allocated() - before)
    return way


def _timed(way: Way | None, clock: Clock, record: Record, seed: int) -> None:
    if way is None:
        return
    try:
        tokens = way(clock, seed)
        record.take(tokens, clock.seconds(), way.notes)
    except Exception as error:  # noqa: BLE001 - as above
        record.fail(error)
        clock.clear()


def mfu(tokens_per_s: float, parameters: int, device: str) -> float | None:
    """Return the share of the device's peak that 6 FLOPs a parameter and token are, if known."""
    peak = next((peak for name, peak in PEAKS.items() if name in device), None)
    return None if peak is None else _short(6 * parameters * tokens_per_s / peak)


def gpu_name(device: str) -> str:
    """Return the GPU's name; empty on the CPU."""
    return torch.cuda.get_device_name() if device == "cuda" else ""


def installed(package: str) -> str | None:
    """Return a package's version, or None without it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _short(number: float) -> float:
    return float(f"{number:.4g}")
