"""Nim and its relatives: leave the opponent a position that is lost."""

import math
from dataclasses import dataclass
from functools import cache, lru_cache

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.games import (
    AIM,
    OVER,
    TURNS_AT_MOST,
    GameProblem,
    read_move,
)
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.games.heaps import HeapGame, HeapRules, HeapValues
from rlvr_envs.generators.games.solving import move_values
from rlvr_envs.generators.games.tasks import ValuedConfig, ValuedTask, draw_seed
from rlvr_envs.generators.moves.scoring import listing

_DRAWS = 60
_FEW = 0.3  # of the first moves win, where such heaps are drawn in time

# Family, heaps, smallest and largest heap.
_LEVELS = (
    ("subtraction", 2, 10, 60), ("nim", 2, 18, 34), ("nim", 3, 4, 12), ("misere", 3, 5, 14),
    ("sparse", 3, 9, 18), ("nim", 5, 10, 17), ("kayles", 3, 7, 12), ("kayles", 3, 9, 14),
    ("dawson", 3, 10, 16), ("octal", 3, 13, 18), ("octal", 5, 12, 18),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class NimConfig(ValuedConfig):
    """The family of rules, and the heaps."""

    family: str = knob(
        "nim",
        "the rules: what a move may take, whether it may split a heap, who wins",
        choices=("nim", "misere", "subtraction", "sparse", "kayles", "dawson", "octal"),
    )
    n_heaps: int = knob(3, "heaps", low=1, high=8)
    smallest: int = knob(3, "the smallest heap", low=1, high=100)
    largest: int = knob(12, "the largest heap", low=2, high=120)

    def check(self) -> None:
        ValuedConfig.check(self)
        if self.smallest >= self.largest:
            raise ConfigError(f"need smallest < largest, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "NimConfig":
        """Rules whose theory goes further: nim-sums, last counter loses, Grundy values, splits.

        Beyond level 10 heaps are more and larger.
        """
        family, n_heaps, smallest, largest = _LEVELS[min(difficulty, len(_LEVELS) - 1)]
        beyond = max(0, difficulty - len(_LEVELS) + 1)
        return cls(
            family=family,
            n_heaps=min(8, n_heaps + beyond // 5),
            smallest=smallest,
            largest=min(120, largest + 3 * beyond),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NimProblem(GameProblem):
    """The rules and the heaps; ``takes`` is empty where any number may be taken."""

    sizes: tuple[int, ...]
    takes: tuple[int, ...]
    splits: bool
    misere: bool


@register("Nim-v0", domain="puzzles", max_turns=TURNS_AT_MOST)
class NimTask(ValuedTask[NimConfig, NimProblem]):
    r"""Win a game of heaps against an opponent who plays perfectly.

    Description:
        Players take counters from heaps in turn. The families are Nim, Nim in which the last
        counter loses, games in which only certain numbers may be taken, and Kayles, Dawson's Kayles
        and other octal games, in which a move may also divide what is left of a heap into two.
        The agent is to move in a position that is won, whichever seat it has.

    Observation:
        The rules and the heaps; after each move, both moves and the heaps.

    Action:
        A message in `\boxed{}` with the number of a heap, a colon and what the heap becomes: one
        size, or two where a heap may be split.

    Reward:
        1 for a win, otherwise 0. Under ``judge="value"`` 1 if no move lost value.

    Verification:
        The game is played. The opponent knows the Grundy values, so only moves that keep the win
        lead to one; ``opponent="random"`` or ``"mcts:N"`` may forgive mistakes. No known gaps.

    Difficulty:
        Each family needs a further idea: remainders, nim-sums, the end of a misère game, Grundy
        values of single heaps, and values of heaps that may split. The baseline moves at random.

    References:
        Berlekamp, Conway and Guy, "Winning Ways for your Mathematical Plays", chapters 3, 4
        and 13. Sprague, "Über mathematische Kampfspiele", 1935.
    """

    def generate(self, rng: Rng) -> NimProblem:
        config = self.config
        takes = _takes(rng, config.family)
        splits = config.family in ("kayles", "dawson", "octal")
        rules = HeapRules(takes, splits, config.family == "misere")
        seat = self.first_seat(rng)
        values, best, fewest = _values(rules), None, 2.0
        for _ in range(_DRAWS):
            sizes = tuple(
                integer(rng, config.smallest, config.largest) for _ in range(config.n_heaps)
            )
            game = HeapGame(rules, sizes)
            if game.mover(game.start()) == OVER or values.value(game.start()) != 1:
                continue
            if self.in_match and _ends_at_once(game):
                continue
            worth = move_values(game, values, game.start())
            share = sum(value > 0 for value in worth.values()) / len(worth)
            if share < fewest:
                best, fewest = sizes, share
            if share <= _FEW:
                break
        if best is None:
            raise ConfigError(f"no position was drawn that can be won: {config}")
        problem = NimProblem(
            seat=seat,
            seed=draw_seed(rng),
            sizes=best,
            takes=takes,
            splits=splits,
            misere=rules.misere,
        )
        return self.seated(problem)

    def game(self, problem: NimProblem) -> HeapGame:
        rules = HeapRules(problem.takes, problem.splits, problem.misere)
        first = (problem.seat + len(problem.opening)) % 2
        return HeapGame(rules, problem.sizes, first)

    def values(self, problem: NimProblem) -> HeapValues:
        return _values(self.game(problem).rules)

    def effort(self, problem: NimProblem) -> float:
        """Return how many positions minimax meets at most: the product over the heaps."""
        return math.prod(_positions(size, problem.splits) for size in problem.sizes)

    def rules(self, problem: NimProblem) -> str:
        aim = (
            "You move first, and you can force a win, against any play. Only a win earns full "
            "marks."
        )
        if self.in_match:
            aim = "A win earns 1, a loss 0."
        return f"{self._heap_rules(problem)} {aim}"

    def seat_rules(self, problem: NimProblem, seat: int) -> str:
        return f"{self._heap_rules(problem)} {AIM}"

    def _heap_rules(self, problem: NimProblem) -> str:
        takes = "any number of counters, at least 1,"
        if problem.takes:
            takes = f"exactly {listing([str(n) for n in problem.takes]).replace(' and ', ' or ')}"
            takes += " counters"
        splits = ""
        if problem.splits:
            splits = (
                " If at least 2 counters of that heap are left, the player may then also divide "
                "them into two heaps of any sizes, with at least 1 counter in each."
            )
        ends = (
            "The player who takes the last counter loses."
            if problem.misere
            else "A player who cannot move loses."
        )
        return f"Two players take turns. A move takes {takes} from one heap.{splits} {ends}"

    def move_help(self, problem: NimProblem) -> str:
        split = r", or \boxed{h: n m} to divide it into heaps of n and m" if problem.splits else ""
        return rf"\boxed{{h: n}} to leave n counters in heap h, 0 for none{split}"

    def read(self, text: str, legal: tuple[str, ...]) -> str | None:
        """Read a move; the two heaps of a split may stand in either order."""
        head, colon, tail = text.partition(":")
        parts = tail.replace(",", " ").split()
        swapped = f"{head}{colon} {' '.join(reversed(parts))}"
        return read_move(text, legal) or (read_move(swapped, legal) if len(parts) == 2 else None)


def _ends_at_once(game: HeapGame) -> bool:
    """Return whether some first move is the last one."""
    start = game.start()
    return any(game.mover(game.after(start, move)) == OVER for move in game.actions(start))


@lru_cache(maxsize=64)
def _values(rules: HeapRules) -> HeapValues:
    return HeapValues(rules)


@cache
def _positions(size: int, splits: bool) -> int:
    """Return what a heap can become at most: smaller heaps, or partitions of smaller numbers."""
    if not splits:
        return size + 1
    ways = [1, *[0] * size]  # partitions, by Euler's recurrence over the parts
    for part in range(1, size + 1):
        for total in range(part, size + 1):
            ways[total] += ways[total - part]
    return sum(ways)


def _takes(rng: Rng, family: str) -> tuple[int, ...]:
    """Draw how many counters a move may take; none for any number."""
    if family == "subtraction":
        return tuple(range(1, integer(rng, 3, 5) + 1))
    if family == "sparse":
        return tuple(sorted(1 + i for i in rng.permutation(9)[:3].tolist()))
    if family == "octal":
        return pick(rng, ((1, 2, 3), (1, 2, 4), (1, 2, 5), (2, 3), (2, 3, 4)))
    return {"kayles": (1, 2), "dawson": (2,)}.get(family, ())
