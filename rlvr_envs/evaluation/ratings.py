"""Ratings: the strengths of players on one scale, from who beat whom.

The model is that of Bradley and Terry ("Rank Analysis of Incomplete Block Designs", 1952) on Elo's
scale: against a player who is rated 400 points lower, a player gets ten points for one. A draw is
half a point for each. Nothing here knows of tasks or files.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlvr_envs.core.errors import UsageError
from rlvr_envs.core.seeding import stream
from rlvr_envs.evaluation.metrics import clustered_mean, is_comparable, t_quantile

ELO = 400 / math.log(10)  # points of a natural unit of log-odds

# As if every two players that met had also played a draw: who wins everything stays finite.
_PRIOR = 0.5

_RESAMPLES = 1000
_CONFIDENCE = 0.95
_CELLS_AT_ONCE = 2_000_000  # of resamples times positions
_STEPS = 200
_STEP = 1.0  # of Newton's method at most, in natural units
_CLOSE = 1e-9

Floats = NDArray[np.float64]


class Game(NamedTuple):
    """What one player got against an opponent.

    Attributes:
        player: who; a policy's label, or an opponent's name.
        opponent: the name of a built-in player.
        position: where the game began: games from one position are alike.
        first: whether the player moved first.
        points: 1 for a win, 0.5 for a draw, 0 for a loss; None where the game is not scored.
        task: the game's task; ``difficulty`` likewise.
        anchor: whether the player is itself a built-in one.
    """

    player: str
    opponent: str
    position: str
    first: bool
    points: float | None
    task: str | None = None
    difficulty: int | None = None
    anchor: bool = False

    def reversed(self) -> "Game":
        """Return the same game of two built-in players as the other one sees it."""
        points = None if self.points is None else 1 - self.points
        return self._replace(
            player=self.opponent, opponent=self.player, first=not self.first, points=points
        )


@dataclass(frozen=True, slots=True)
class Rated:
    """A player's rating and record.

    Attributes:
        player: the policy's label, or the built-in player's name.
        anchor: whether it is a built-in player.
        rating: points above the reference player; None where no game counts.
        low: the lower end of the 95 % interval; None where nothing bounds it from below.
        high: the upper end, likewise.
        games: how many games count: those of a built-in player are against the others of them.
        positions: from how many positions.
        points: the mean of 1 for a win, 0.5 for a draw and 0 for a loss.
        won: games won; ``drawn`` and ``lost`` likewise.
        against: opponent → mean points against it.
        note: why the interval says nothing, empty where it does.

    Examples:
        >>> from rlvr_envs.evaluation import evaluate
        >>> run = evaluate("rlvr/Nim-v0", "oracle", episodes=4, opponents=["optimal"])
        >>> for rated in run.ratings.groups["overall"][0].players:
        ...     print(rated.player, rated.anchor, rated.rating, rated.points)
        optimal True 0.0 None
        oracle False 0.0 0.5
    """

    player: str
    anchor: bool
    rating: float | None = None
    low: float | None = None
    high: float | None = None
    games: int = 0
    positions: int = 0
    points: float | None = None
    won: int = 0
    drawn: int = 0
    lost: int = 0
    against: dict[str, float] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True)
class RatingGroup:
    """The ratings from the games of some tasks and levels; the best player is first.

    Attributes:
        by: what the games have in common, such as ``{"task": …}``; empty for all.
        players: the players.
        left_out: games of policies that do not count: they are not scored, or the one with sides
            changed is not.

    Examples:
        >>> from rlvr_envs.evaluation import evaluate
        >>> run = evaluate("rlvr/Nim-v0", "oracle", episodes=2, opponents=["optimal"])
        >>> [group] = run.ratings.groups["task"]
        >>> group.by, len(group.players), group.left_out
        ({'task': 'rlvr/Nim-v0'}, 2, 0)
    """

    by: dict[str, Any]
    players: list[Rated]
    left_out: int


@dataclass(frozen=True, slots=True)
class Ratings:
    """Ratings of the whole, by task and by difficulty.

    Attributes:
        reference: the built-in player whose rating is 0 in every group.
        groups: ``overall``, ``task`` and ``difficulty``, each with its groups. Every group has a
            scale of its own: only ratings of one group can be compared.
        notes: what a reader has to know beside the numbers.

    Examples:
        >>> from rlvr_envs.evaluation import evaluate
        >>> run = evaluate("rlvr/Nim-v0", "oracle", episodes=2, opponents=["random", "optimal"])
        >>> run.ratings.reference, list(run.ratings.groups)
        ('random', ['overall', 'task', 'difficulty'])
    """

    reference: str
    groups: dict[str, list[RatingGroup]]
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the ratings as JSON data."""
        return asdict(self)


def rate(games: Iterable[Game], anchors: Sequence[str], notes: Sequence[str] = ()) -> Ratings:
    """Return the ratings of all players.

    The anchors are rated from the games between them, the first one with 0. Then each policy is
    rated on its own against them, so it never matters which other policies are rated.

    Args:
        games: of policies, and of anchors, each of the latter once.
        anchors: the built-in players.
        notes: what to say beside.

    Raises:
        UsageError: no games connect an anchor with the first one.
    """
    found = list(games)
    whole = _group({}, found, anchors)
    groups = {"overall": [whole]}
    for name in ("task", "difficulty"):
        parts: dict[Any, list[Game]] = {}
        for game in found:
            parts.setdefault(getattr(game, name), []).append(game)
        groups[name] = [
            replace(whole, by={name: value})
            if len(parts) == 1
            else _group({name: value}, parts[value], anchors)
            for value in sorted(parts, key=lambda v: (v is not None, v))
        ]
    told = list(notes)
    for rated in whole.players:
        if rated.player == anchors[0] and rated.anchor and rated.points in (0.0, 1.0):
            ended = "lost" if rated.points == 0.0 else "won"
            told.append(
                f"{anchors[0]} {ended} every game against the other built-in players, so all "
                "distances to it rest on the prior"
            )
    return Ratings(anchors[0], groups, told)


def bradley_terry(points: Floats, games: Floats, start: Floats, free: Sequence[int]) -> Floats:
    """Return the ratings of greatest likelihood, in natural units, by Newton's method.

    Args:
        points: ``[..., i, j]`` is what i got against j.
        games: how many games they played; symmetric.
        start: ratings ``[..., i]``, of which those that are not free stay as they are.
        free: the players to be rated.
    """
    ratings, at = start.copy(), np.array(free, dtype=int)
    if not len(at):
        return ratings
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(ratings[..., None, :] - ratings[..., :, None]))
        slope = (points - games * chance).sum(-1)[..., at]
        weight = games * chance * (1 - chance)
        bend = -weight[..., at[:, None], at]
        bend[..., np.arange(len(at)), np.arange(len(at))] += weight.sum(-1)[..., at]
        step = np.linalg.solve(bend, slope[..., None])[..., 0]
        step *= np.minimum(1, _STEP / np.maximum(np.abs(step).max(-1, keepdims=True), _CLOSE))
        ratings[..., at] += step
        if np.abs(step).max() < _CLOSE:
            break
    return ratings


class _Table:
    """The games that count, as arrays over positions and pairs of players.

    Anchors come first among the players. A policy's games count from both sides, but do not tell
    on the anchors.
    """

    def __init__(self, games: Sequence[Game], anchors: Sequence[str]) -> None:
        self.anchors = list(anchors)
        policies = {game.player: None for game in games if not game.anchor}
        self.players = [*anchors, *policies]
        self.n_anchors = len(self.anchors)
        places = {(name, False): i for i, name in enumerate(policies, self.n_anchors)}
        places |= {(name, True): i for i, name in enumerate(self.anchors)}
        cells: dict[tuple[int, int, str], tuple[list[float], list[float]]] = {}
        self.left_out = 0
        for game in games:
            pair = places[game.player, game.anchor], places[game.opponent, True]
            if game.points is None:
                self.left_out += not game.anchor
                continue
            sides = cells.setdefault((*pair, game.position), ([], []))
            sides[not game.first].append(game.points)
        counts = {cell: min(map(len, sides)) for cell, sides in cells.items()}
        positions = {
            each: i for i, each in enumerate(sorted({c[2] for c, n in counts.items() if n}))
        }
        # player → opponent → position → points of games that have one with sides changed
        self.kept: dict[int, dict[int, dict[int, list[float]]]] = {}
        for (player, opponent, position), (first, second) in cells.items():
            count = counts[player, opponent, position]
            if player >= self.n_anchors:
                self.left_out += len(first) + len(second) - 2 * count
            if count:
                both = [*first[:count], *second[:count]]
                found = self.kept.setdefault(player, {}).setdefault(opponent, {})
                found[positions[position]] = both
        size = len(self.players)
        self.points = np.zeros((len(positions), size, size))
        self.games = np.zeros_like(self.points)
        for player, opponents in self.kept.items():
            for opponent, found in opponents.items():
                for at, got in found.items():
                    self.points[at, player, opponent] = sum(got)
                    self.games[at, player, opponent] = len(got)

    def fit(self, weights: Floats) -> Floats:
        """Return ratings ``[sample, player]`` from positions counted ``[sample, position]``."""
        size, k = len(self.players), self.n_anchors
        met = self.games.any(0)
        total = [
            (weights @ each.reshape(len(each), -1)).reshape(-1, size, size)
            for each in (self.points, self.games)
        ]
        points, games = total[0] + _PRIOR * met, total[1] + 2 * _PRIOR * met
        ratings = np.zeros((len(weights), size))
        among = (..., slice(k), slice(k))
        ratings[:, :k] = bradley_terry(points[among], games[among], ratings[:, :k], range(1, k))
        rated = [i for i in range(k, size) if i in self.kept]
        return bradley_terry(points, games, ratings, rated)

    def resampled(self) -> Floats:
        """Return ratings of bootstrap samples of the positions."""
        n = len(self.points)
        rng = stream("ratings", "bootstrap", n)
        at_once = max(1, _CELLS_AT_ONCE // n)
        found = []
        for begin in range(0, _RESAMPLES, at_once):
            size = min(at_once, _RESAMPLES - begin)
            drawn = rng.multinomial(n, np.full(n, 1 / n), size=size)
            found.append(self.fit(drawn.astype(float)))
        return np.concatenate(found)

    def check_connected(self) -> None:
        """Check that the games between the anchors put them on one scale."""
        linked, left = {0}, [0]
        while left:
            at = left.pop()
            near = {j for j in self.kept.get(at, {}) if j not in linked}
            linked |= near
            left += near
        for at, name in enumerate(self.anchors):
            met = any(at in opponents for opponents in self.kept.values())
            if met and at not in linked:
                raise UsageError(
                    f"no games connect {name} with {self.anchors[0]}, so they have no common "
                    "scale: evaluate with both in one --opponents"
                )


def _group(by: dict[str, Any], games: Sequence[Game], anchors: Sequence[str]) -> RatingGroup:
    among = [each for game in games if game.anchor for each in (game, game.reversed())]
    table = _Table([*(game for game in games if not game.anchor), *among], anchors)
    table.check_connected()
    if not len(table.points):
        players = [Rated(name, i < table.n_anchors) for i, name in enumerate(table.players)]
        return RatingGroup(by, players, table.left_out)
    ratings = table.fit(np.ones((1, len(table.points))))[0]
    samples = table.resampled()
    players = [_rated(table, at, ratings, samples[:, at]) for at in range(len(table.players))]
    players.sort(key=lambda each: -math.inf if each.rating is None else each.rating, reverse=True)
    return RatingGroup(by, players, table.left_out)


def _rated(table: _Table, at: int, ratings: Floats, samples: Floats) -> Rated:
    name, anchor, opponents = table.players[at], at < table.n_anchors, table.kept.get(at, {})
    by_position: dict[int, list[float]] = {}
    for found in opponents.values():
        for position, got in found.items():
            by_position.setdefault(position, []).extend(got)
    every = [point for got in by_position.values() for point in got]
    if not every:
        return Rated(name, anchor, 0.0 if at == 0 else None)
    score = clustered_mean(list(by_position.values()))
    note, low, high = "", None, None
    if at == 0:
        low = high = 0.0
    elif is_comparable(score):
        low, high = _interval(table, at, ratings, samples, len(by_position))
    else:
        count = "1 position" if len(by_position) == 1 else f"{len(by_position)} positions"
        note = f"{count}: too few to compare"
    return Rated(
        player=name,
        anchor=anchor,
        rating=float(ratings[at]) * ELO,
        low=low,
        high=high,
        games=len(every),
        positions=len(by_position),
        points=math.fsum(every) / len(every),
        won=every.count(1.0),
        drawn=every.count(0.5),
        lost=every.count(0.0),
        against={
            table.players[j]: math.fsum(all_got) / len(all_got)
            for j, found in sorted(opponents.items())
            for all_got in [[point for got in found.values() for point in got]]
        },
        note=note,
    )


def _interval(
    table: _Table, at: int, ratings: Floats, samples: Floats, positions: int
) -> tuple[float | None, float | None]:
    """Return the hull of the bootstrap's percentiles and of what exceptions could do.

    The percentiles are the expanded ones of Hesterberg ("What Teachers Should Know About the
    Bootstrap", 2015), which know that few positions spread less in a sample than in truth.
    After a win of every game each resample is one too, but a share of exceptions may have gone
    unseen: that share is bounded as in `metrics.bounded_interval`. Nothing bounds from above the
    rating of a player that won everything, nor from below that of one that lost everything.
    """
    tail = (1 - _CONFIDENCE) / 2
    reach = math.sqrt(positions / (positions - 1)) * t_quantile(1 - tail, positions - 1)
    outer = NormalDist().cdf(-reach)
    low, high = (float(each) for each in np.quantile(samples, (outer, 1 - outer)))
    played, got = table.games[:, at].sum(0), table.points[:, at].sum(0)
    mean = got.sum() / played.sum()
    unseen = 1 - tail ** (1 / positions)
    worst, best = mean * (1 - unseen), mean * (1 - unseen) + unseen
    low = min(low, _inverse(worst, played, ratings, at))
    high = max(high, _inverse(best, played, ratings, at))
    return (low * ELO if mean > 0 else None), (high * ELO if mean < 1 else None)


def _inverse(mean: float, played: Floats, ratings: Floats, at: int) -> float:
    """Return the rating of a player with these mean points against others of given ratings."""
    met = played > 0
    size = len(played)
    games, points = np.zeros((size, size)), np.zeros((size, size))
    games[at] = played + 2 * _PRIOR * met
    points[at] = mean * played + _PRIOR * met
    return float(bradley_terry(points, games, ratings, [at])[at])
