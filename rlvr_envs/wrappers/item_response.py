"""How much of a solution to show: an item-response curve for each problem (SEELE, 2509.06923)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.wrappers.problem_memory import ProblemMemory

Array = npt.NDArray[np.float64]

# Where a fit begins, and what it falls back on where the points say nothing: a floor of 5 %, and
# half of the solution for an accuracy of one half. The weight is that of a residual.
_USUAL = np.array([math.log(0.05 / 0.95), math.log(10.0), -0.5])
_WEIGHT = 1e-4
_LOWEST = np.array([-6.0, 0.0, -1.5])
_HIGHEST = np.array([2.0, math.log(60.0), 0.5])
_STEPS = 60


@dataclass(frozen=True, slots=True)
class Curve:
    """The accuracy at a share p of the solution: b + (1 - b) / (1 + exp(-k * (p + mu))).

    Attributes:
        floor: b, the accuracy of guessing, in (0, 1).
        slope: k, above 0.
        offset: mu; -mu is the share in the middle of the curve.
    """

    floor: float
    slope: float
    offset: float

    def accuracy(self, share: float) -> float:
        """Return the accuracy at a share of the solution."""
        rise = 1.0 / (1.0 + math.exp(-self.slope * (share + self.offset)))
        return self.floor + (1.0 - self.floor) * rise

    def share(self, accuracy: float) -> float:
        """Return the share in [0, 1] with an accuracy, or the nearest to it."""
        if accuracy <= self.floor:
            return 0.0
        if accuracy >= 1.0:
            return 1.0
        odds = (1.0 - self.floor) / (accuracy - self.floor) - 1.0
        return min(1.0, max(0.0, -self.offset - math.log(odds) / self.slope))


def fit(points: Sequence[tuple[float, float]]) -> Curve:
    """Return the curve with the least squares to points of (share, accuracy).

    Levenberg-Marquardt from five beginnings over (logit b, ln k, mu), with a faint pull to a usual
    curve, so that one point is enough to have a curve.
    """
    shares = np.array([point[0] for point in points], dtype=np.float64)
    accuracies = np.array([point[1] for point in points], dtype=np.float64)
    starts = [np.array([_USUAL[0], _USUAL[1], mu]) for mu in (-0.5, -0.9, -0.7, -0.3, -0.1)]
    found = [_descend(start, shares, accuracies) for start in starts]
    floor, slope, offset = min(found, key=lambda end: end[0])[1].tolist()
    return Curve(1.0 / (1.0 + math.exp(-floor)), math.exp(slope), offset)


def _descend(start: Array, shares: Array, accuracies: Array) -> tuple[float, Array]:
    at, damping = start, 1e-2
    residuals, slopes = _residuals(at, shares, accuracies)
    cost = float(residuals @ residuals)
    for _ in range(_STEPS):
        normal = slopes.T @ slopes
        move = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), -slopes.T @ residuals)
        tried = np.clip(at + move, _LOWEST, _HIGHEST)
        next_residuals, next_slopes = _residuals(tried, shares, accuracies)
        next_cost = float(next_residuals @ next_residuals)
        if next_cost >= cost:
            damping *= 4.0
            continue
        gain, cost = cost - next_cost, next_cost
        at, residuals, slopes = tried, next_residuals, next_slopes
        damping = max(damping / 4.0, 1e-9)
        if gain < 1e-14:
            break
    return cost, at


def _residuals(at: Array, shares: Array, accuracies: Array) -> tuple[Array, Array]:
    """Return the residuals and their derivatives, the pull to the usual curve included."""
    floor, slope = 1.0 / (1.0 + np.exp(-at[0])), np.exp(at[1])
    rise = 1.0 / (1.0 + np.exp(-slope * (shares + at[2])))
    steep = (1.0 - floor) * rise * (1.0 - rise) * slope
    slopes = np.stack(
        [(1.0 - rise) * floor * (1.0 - floor), steep * (shares + at[2]), steep], axis=1
    )
    pull = math.sqrt(_WEIGHT)
    residuals = floor + (1.0 - floor) * rise - accuracies
    return (
        np.concatenate([residuals, pull * (at - _USUAL)]),
        np.concatenate([slopes, pull * np.eye(3)]),
    )


class ItemResponse(ProblemMemory):
    """Chooses for each problem how many of its solution's steps to show.

    A problem is played in rounds of ``rollouts`` scored episodes at the same share of the
    solution. It begins with all steps but the last one. After each round the share and its mean
    score are one more point, the curve is fitted to all points, and the next round is played where
    the curve has the target. After ``rounds`` rounds the points are dropped, because the agent has
    learned since, and the next visit of the problem begins with the share that was stored last.

    One object serves all environments of a group, also from several threads. Episodes of an
    earlier share that end late do not count.

    Args:
        rollouts: scored episodes of a round.
        rounds: rounds of a visit.
        target: the accuracy to hold, in (0, 1).

    Raises:
        ConfigError: an argument is out of range.

    Examples:
        >>> from rlvr_envs.wrappers import ItemResponse
        >>> memory = ItemResponse(rollouts=1)
        >>> memory.level("problem 7", steps=4)
        3
        >>> memory.record("problem 7", level=3, steps=4, score=1.0)
        >>> memory.level("problem 7", steps=4)
        1
    """

    kind: ClassVar[str] = "item_response"
    fields: ClassVar[frozenset[str]] = frozenset({"share", "scores", "points"})

    def __init__(self, *, rollouts: int = 8, rounds: int = 4, target: float = 0.5) -> None:
        super().__init__()
        for name, value in (("rollouts", rollouts), ("rounds", rounds)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigError(f"{name} is an integer from 1, got {value!r}")
        if not isinstance(target, (int, float)) or not 0.0 < target < 1.0:
            raise ConfigError(f"target is a number between 0 and 1, got {target!r}")
        self._rollouts = rollouts
        self._rounds = rounds
        self._target = target

    def level(self, problem: str, steps: int) -> int:
        """Return how many of a solution's steps to show now."""
        with self._lock:
            return _level(self._share(problem, steps), steps)

    def record(self, problem: str, level: int, steps: int, score: float) -> None:
        """Take down the score of an episode that was played with so many steps shown."""
        with self._lock:
            share = self._share(problem, steps)
            if level != _level(share, steps):
                return
            state = self._problems.setdefault(problem, {"share": share, "scores": [], "points": []})
            state["scores"].append(float(score))
            if len(state["scores"]) < self._rollouts:
                return
            state["points"].append([level / steps, sum(state["scores"]) / self._rollouts])
            state["scores"] = []
            state["share"] = fit(state["points"]).share(self._target)
            if len(state["points"]) >= self._rounds:
                state["points"] = []

    def _share(self, problem: str, steps: int) -> float:
        known = self._problems.get(problem)
        return float(known["share"]) if known else (steps - 1) / steps


def _level(share: float, steps: int) -> int:
    """Return the whole number of steps next to a share of them, never all."""
    return min(math.floor(share * steps + 0.5), steps - 1)
