"""Bargaining: two seats divide items that are worth something else to each, by offers in turn.

The setting is that of Lewis et al., "Deal or No Deal? End-to-End Learning for Negotiation
Dialogues", 2017 (arXiv:1706.05125), with offers in place of talk and one that is refused or
countered in turn, as in Rubinstein, "Perfect Equilibrium in a Bargaining Model", 1982.

An opponent with a stated manner makes beliefs and values exact: see `Stated` and `Bargainer`.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import gcd
from typing import NamedTuple, TypeAlias

from rlvr_envs.core.games import CHANCE, OVER

ACCEPT, REFUSE = "accept", "refuse"
Counts: TypeAlias = tuple[int, ...]  # of each kind

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # of types


class Talks(NamedTuple):
    """The type of each seat that is drawn, as a letter, and the moves so far."""

    types: tuple[str, ...] = ()
    moves: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bargaining:
    """Seats make offers in turn, seat 0 first; ``keep 2 books, 0 hats`` leaves the other all else.

    Who gets an offer accepts it or makes the next one; the last one is accepted or refused, and
    without a deal both seats get 0. The sum of what the seats get is not 0.

    Attributes:
        kinds: the names of the kinds of items, in the singular.
        counts: how many items of each kind there are.
        values: for each seat its types, each with the value of an item of each kind.
        weights: for each seat how likely its types are, in proportion.
        n_offers: how many offers there are at most.
        loss: the per cent of its points that a deal loses with each offer after the first.
    """

    kinds: tuple[str, ...]
    counts: Counts
    values: tuple[tuple[Counts, ...], tuple[Counts, ...]]
    weights: tuple[tuple[int, ...], tuple[int, ...]]
    n_offers: int
    loss: int = 0
    n_seats: int = 2

    def start(self) -> Talks:
        return Talks()

    def mover(self, state: Talks) -> int:
        if len(state.types) < self.n_seats:
            return CHANCE
        return OVER if state.moves[-1:] in ((ACCEPT,), (REFUSE,)) else len(state.moves) % 2

    def actions(self, state: Talks) -> tuple[str, ...]:
        if len(state.moves) == self.n_offers:
            return ACCEPT, REFUSE
        offers = tuple(divisions(self.kinds, self.counts))
        return (ACCEPT, *offers) if state.moves else offers

    def chances(self, state: Talks) -> tuple[tuple[str, Fraction], ...]:
        weights = self.weights[len(state.types)]
        total = sum(weights)
        return tuple(
            (letter, Fraction(weight, total))
            for letter, weight in zip(LETTERS, weights, strict=False)
        )

    def after(self, state: Talks, action: str) -> Talks:
        if len(state.types) < self.n_seats:
            return Talks((*state.types, action))
        return Talks(state.types, (*state.moves, action))

    def returns(self, state: Talks) -> tuple[float, ...]:
        if state.moves[-1] == REFUSE:
            return 0.0, 0.0
        number = len(state.moves) - 1
        kept = self.kept(state.moves[-2])
        rest = self.rest(kept)
        shares = (kept, rest) if number % 2 else (rest, kept)
        return tuple(
            float(worth(self.own(state, seat), share) * self.rate(number))
            for seat, share in enumerate(shares)
        )

    def view(self, state: Talks, seat: int) -> str:
        """Return the items, the seat's values, and all offers so far."""
        values = "not drawn yet"
        if len(state.types) > seat:
            values = listed(zip(self.kinds, self.own(state, seat), strict=True))
        told = [self._told(i, move, seat) for i, move in enumerate(state.moves, 1)]
        n_left = self.n_offers - len(state.moves)
        told.append(
            f"Offers left: {n_left}." if n_left else "That was the last offer: accept or refuse."
        )
        return (
            f"To divide: {items(self.kinds, self.counts)}. Your value of one item: {values}. "
            f"You are player {seat + 1}. {' '.join(told)}"
        )

    def _told(self, number: int, move: str, seat: int) -> str:
        mine = (number - 1) % 2 == seat
        if move in (ACCEPT, REFUSE):
            return f"{'You' if mine else 'The opponent'}: {move}."
        kept = self.kept(move)
        own, other = (kept, self.rest(kept)) if mine else (self.rest(kept), kept)
        whose = "yours" if mine else "the opponent's"
        return (
            f"Offer {number} ({whose}): you get {items(self.kinds, own)}, and the opponent gets "
            f"{items(self.kinds, other)}."
        )

    def own(self, state: Talks, seat: int) -> Counts:
        """Return the values of a seat."""
        return self.values[seat][LETTERS.index(state.types[seat])]

    def kept(self, offer: str) -> Counts:
        """Return what the seat that makes an offer would keep."""
        return divisions(self.kinds, self.counts)[offer]

    def rest(self, kept: Counts) -> Counts:
        """Return what is left for the other."""
        return tuple(n - k for n, k in zip(self.counts, kept, strict=True))

    def rate(self, number: int) -> Fraction:
        """Return the share of its points that a deal on the offer of a number, from 1, pays."""
        return Fraction(100 - self.loss, 100) ** (number - 1)


def worth(values: Counts, share: Counts) -> int:
    """Return the points of a share."""
    return sum(v * n for v, n in zip(values, share, strict=True))


def items(kinds: Sequence[str], counts: Counts) -> str:
    """Return items in words: ``2 books, 1 hat, 0 balls``."""
    named = zip(kinds, counts, strict=True)
    return ", ".join(f"{n} {kind}{'' if n == 1 else 's'}" for kind, n in named)


def listed(pairs: Iterable[tuple[str, int]]) -> str:
    """Return values in words: ``book 2, hat 0``."""
    return ", ".join(f"{kind} {value}" for kind, value in pairs)


@lru_cache(maxsize=256)
def divisions(kinds: tuple[str, ...], counts: Counts) -> dict[str, Counts]:
    """Return all offers as text, each with what it keeps of each kind."""
    every = product(*(range(n + 1) for n in counts))
    return {f"keep {items(kinds, kept)}": kept for kept in every}


@lru_cache(maxsize=4096)
def vectors(counts: Counts, total: int) -> tuple[Counts, ...]:
    """Return all values of the kinds at which all items together are worth a total."""
    if not counts:
        return ((),) if total == 0 else ()
    first, rest = counts[0], counts[1:]
    return tuple(
        (value, *more)
        for value in range(total // first + 1)
        for more in vectors(rest, total - first * value)
    )


@dataclass(frozen=True, slots=True)
class Stated:
    """How the opponent plays, known to the agent but for its type.

    It begins with the first of its limits and goes to the next, as long as there is one, whenever
    it refuses an offer that gives it ``respect`` points or more. It accepts what gives it its limit
    or more. To make an offer it picks an item of the kind worth most to it, of the first such kind,
    until what it has is worth its limit.

    Attributes:
        limits: of each type, in points, falling.
        respect: the points below which an offer leaves its limit as it is.
        bluff: the per cent of its offers in which it picks, and adds up, by the values of the type
            after its own, which after the last is the first.
    """

    limits: tuple[tuple[int, ...], ...]
    respect: int = 0
    bluff: int = 0


# Types of the opponent, each with the number of its limit and a weight, which are coprime.
Beliefs: TypeAlias = tuple[tuple[int, int, int], ...]


class Bargainer:
    """The best play of a seat against a stated opponent, by a dynamic program over beliefs.

    Values are whole numbers while they are worked out: points times weights, times powers of 100
    for what is lost with time, and of a base for the chances of a bluff.

    Attributes:
        nodes: offers that were weighed, each against one belief.
    """

    def __init__(self, game: Bargaining, seat: int, stated: Stated) -> None:
        self._game, self._seat, self._stated = game, seat, stated
        self._types = game.values[1 - seat]
        self._offers = divisions(game.kinds, game.counts)
        numbers = range(1, game.n_offers + 1)
        self._unit: int = 100 ** (game.n_offers - 1)
        self._rates = [0, *(int(game.rate(number) * self._unit) for number in numbers)]
        common = gcd(100, stated.bluff)
        self._base, self._bluff = 100 // common, stated.bluff // common
        self._refusals = lru_cache(maxsize=None)(self._refusals_of)
        self._asks = lru_cache(maxsize=None)(self._asks_of)
        self._points = lru_cache(maxsize=None)(self._points_of)
        self._best = lru_cache(maxsize=None)(self._best_of)
        self._values: dict[tuple[Counts, tuple[str, ...]], dict[str, Fraction]] = {}
        self.nodes = 0

    def limit(self, kind: int, step: int) -> int:
        """Return the limit of a type after so many steps."""
        return self._stated.limits[kind][step]

    def step(self, state: Talks, kind: int) -> int:
        """Return how many steps a type has gone down its limits after all refusals of a game."""
        step = 0
        for move in state.moves[self._seat :: 2]:
            after = self._refused(kind, step, self._game.kept(move))
            step = step if after is None else after
        return step

    def answer(self, state: Talks, chance: float = 1.0) -> str:
        """Return the move of the opponent, who bluffs if a number from 0 to 1 is low enough."""
        game = self._game
        kind = LETTERS.index(state.types[1 - self._seat])
        if state.moves:
            before = state._replace(moves=state.moves[:-1])
            step = self.step(before, kind)
            if self._refused(kind, step, game.kept(state.moves[-1])) is None:
                return ACCEPT
        if len(state.moves) == game.n_offers:
            return REFUSE
        asks = self._asks(kind, self.step(state, kind))
        asked, _ = asks[chance < self._stated.bluff / 100]
        return f"keep {items(game.kinds, asked)}"

    def beliefs(self, state: Talks) -> Beliefs:
        """Return what the seat knows of the opponent's type when it is to move."""
        found = self._prior()
        for i, move in enumerate(state.moves):
            kept = self._game.kept(move)
            if i % 2 != self._seat:
                found = self._heard(found)[kept]
                continue
            after = ((kind, self._refused(kind, step, kept), w) for kind, step, w in found)
            found = tuple((kind, step, w) for kind, step, w in after if step is not None)
        return found

    def move_values(self, state: Talks) -> dict[str, Fraction]:
        """Return what each legal move is worth for the seat, given what it has seen."""
        own = self._game.own(state, self._seat)
        key = own, state.moves
        if key not in self._values:
            self._values[key] = self._values_of(own, state)
        return self._values[key]

    def worth(self, own: Counts) -> Fraction:
        """Return what the seat gets on average, given its values, from the start of a game."""
        prior = self._prior()
        total = sum(weight for *_, weight in prior)
        if self._seat == 0:
            return Fraction(self._valued(own, 0, prior), total * self._scale(0))
        heard = self._heard(prior).items()
        value = sum(self._answered(own, 1, asked, beliefs) for asked, beliefs in heard)
        return Fraction(value, total * self._base * self._scale(1))

    def _values_of(self, own: Counts, state: Talks) -> dict[str, Fraction]:
        game, n_made, found = self._game, len(state.moves), dict[str, Fraction]()
        if n_made:
            share = game.rest(game.kept(state.moves[-1]))
            found[ACCEPT] = Fraction(worth(own, share) * self._rates[n_made], self._unit)
        if n_made == game.n_offers:
            return found | {REFUSE: Fraction(0)}
        beliefs, later = self.beliefs(state), dict[tuple[int | None, ...], int]()
        whole = sum(weight for *_, weight in beliefs) * self._scale(n_made)
        offers = zip(self._offers, self._split(beliefs), self._points(own), strict=True)
        for move, after, points in offers:
            if after not in later:
                later[after] = self._later(own, n_made, beliefs, after)
            value = self._now(n_made, beliefs, after) * points + later[after]
            found[move] = Fraction(value, whole)
        return found

    def _scale(self, n_made: int) -> int:
        """Return what values are multiplied by, after so many offers and before the seat's next."""
        return self._unit * int(self._base ** ((self._game.n_offers - n_made) // 2))

    def _prior(self) -> Beliefs:
        weights = self._game.weights[1 - self._seat]
        return tuple((kind, 0, weight) for kind, weight in enumerate(weights))

    def _refused(self, kind: int, step: int, kept: Counts) -> int | None:
        """Return the step of a type after an offer of the seat; None if it accepts."""
        points = worth(self._types[kind], self._game.rest(kept))
        if points >= self.limit(kind, step):
            return None
        down = points >= self._stated.respect
        return min(step + down, len(self._stated.limits[kind]) - 1)

    def _refusals_of(self, kind: int, step: int) -> list[int | None]:
        return [self._refused(kind, step, kept) for kept in self._offers.values()]

    def _split(self, beliefs: Beliefs) -> Iterable[tuple[int | None, ...]]:
        """Return for each offer the steps of the types after it."""
        return zip(*(self._refusals(kind, step) for kind, step, _ in beliefs), strict=True)

    def _asks_of(self, kind: int, step: int) -> list[tuple[Counts, int]]:
        """Return what a type may ask for, honestly and as a bluff, with chances over the base."""
        limit, counts = self.limit(kind, step), self._game.counts
        other = self._types[(kind + 1) % len(self._types)]
        honest = picked(counts, self._types[kind], limit), self._base - self._bluff
        return [honest, (picked(counts, other, limit), self._bluff)]

    def _points_of(self, own: Counts) -> list[int]:
        return [worth(own, kept) for kept in self._offers.values()]

    def _heard(self, beliefs: Iterable[tuple[int, int, int]]) -> dict[Counts, Beliefs]:
        """Return the beliefs after each offer that the opponent may make, with larger weights."""
        found = defaultdict[Counts, dict[tuple[int, int], int]](dict)
        for kind, step, weight in beliefs:
            for asked, chance in self._asks(kind, step):
                if chance:
                    at = found[asked]
                    at[kind, step] = at.get((kind, step), 0) + weight * chance
        return {
            asked: tuple((kind, step, weight) for (kind, step), weight in at.items())
            for asked, at in found.items()
        }

    def _now(self, n_made: int, beliefs: Beliefs, after: tuple[int | None, ...]) -> int:
        """Return the value of each point of an offer that some types accept."""
        weights = zip(beliefs, after, strict=True)
        gains = sum(weight for (*_, weight), step in weights if step is None)
        return gains * self._rates[n_made + 1] * (self._scale(n_made) // self._unit)

    def _later(
        self, own: Counts, n_made: int, beliefs: Beliefs, after: tuple[int | None, ...]
    ) -> int:
        """Return the value of what follows if an offer is refused."""
        left = [
            (kind, step, weight)
            for (kind, _, weight), step in zip(beliefs, after, strict=True)
            if step is not None
        ]
        if n_made + 1 == self._game.n_offers:
            return 0
        heard = self._heard(left).items()
        return sum(self._answered(own, n_made + 2, asked, each) for asked, each in heard)

    def _answered(self, own: Counts, n_made: int, asked: Counts, beliefs: Beliefs) -> int:
        """Return the value of an offer of the opponent."""
        game, weight = self._game, sum(weight for *_, weight in beliefs)
        points = worth(own, game.rest(asked))
        accepted = weight * points * self._rates[n_made] * (self._scale(n_made) // self._unit)
        if n_made == game.n_offers:
            return accepted
        return max(accepted, self._valued(own, n_made, beliefs))

    def _valued(self, own: Counts, n_made: int, beliefs: Beliefs) -> int:
        """Return the value of the best offer."""
        common = gcd(*(weight for *_, weight in beliefs))
        small = tuple((kind, step, weight // common) for kind, step, weight in beliefs)
        return common * self._best(own, n_made, small)

    def _best_of(self, own: Counts, n_made: int, beliefs: Beliefs) -> int:
        self.nodes += len(self._offers)
        best = dict[tuple[int | None, ...], int]()
        for after, points in zip(self._split(beliefs), self._points(own), strict=True):
            if points > best.get(after, -1):
                best[after] = points
        return max(
            self._now(n_made, beliefs, after) * points + self._later(own, n_made, beliefs, after)
            for after, points in best.items()
        )


def picked(counts: Counts, values: Counts, limit: int) -> Counts:
    """Return the items that are picked, each time one of the kind worth most, up to a limit."""
    order = sorted(range(len(counts)), key=lambda i: -values[i])
    share, points = [0] * len(counts), 0
    for i in order:
        while share[i] < counts[i] and points < limit:
            share[i] += 1
            points += values[i]
    return tuple(share)
