"""The sigmoid of reward over compute by which ScaleRL (arXiv 2510.13786) extrapolates runs.

    R(C) = R_0 + (A - R_0) / (1 + (C_mid / C)**B)

A is where reward ends, C_mid the compute at which half of the way is done, B how steep it is. Here
compute is counted in training steps, which all cost about the same while nothing but the weights
changes; supervised steps before them do not count.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rlvr_envs.core.errors import ConfigError

FEWEST = 5  # points: there are four unknowns

_Array = npt.NDArray[np.float64]
_GRID, _ZOOMS, _SHRINK = 41, 12, 0.3
_EXPONENTS = (0.1, 10.0)


@dataclass(frozen=True, slots=True)
class Curve:
    """A fitted sigmoid.

    Attributes:
        start: R_0.
        asymptote: A.
        midpoint: C_mid, in units of compute.
        exponent: B.
        residual: the root mean square of what is left.
        points: how many it was fitted to.
        last: the most compute among them.
    """

    start: float
    asymptote: float
    midpoint: float
    exponent: float
    residual: float
    points: int
    last: float

    def __call__(self, compute: float) -> float:
        """Return the reward after that much compute."""
        rises = _rises(np.array([compute]), np.array(self.midpoint), np.array(self.exponent))
        return self.start + (self.asymptote - self.start) * float(rises[0])

    @property
    def determined(self) -> bool:
        """Whether more than half of the way was seen, and no mere step: else the end is a guess."""
        least, most = _EXPONENTS
        return self.midpoint < self.last and 1.01 * least < self.exponent < 0.99 * most

    def __str__(self) -> str:
        told = (
            f"{self.start:.3g} + ({self.asymptote:.3g} - {self.start:.3g}) / "
            f"(1 + ({self.midpoint:.3g} / step)^{self.exponent:.3g}), "
            f"residual {self.residual:.2g}, {self.points} points"
        )
        if self.determined:
            return told
        return f"{told}; not determined: {self.last:.0f} steps do not show where it ends"


def fit_sigmoid(compute: Sequence[float], reward: Sequence[float], *, most: float = 1.0) -> Curve:
    """Return the sigmoid with the least sum of squares.

    For each midpoint and exponent the best start and asymptote follow by linear regression; these
    two are searched on a logarithmic grid that closes in on the best place.

    Args:
        compute: from 0, in any unit.
        reward: as many.
        most: what no asymptote exceeds.

    Raises:
        ConfigError: there are fewer than `FEWEST` points, or no two of different compute.
    """
    x, y = np.asarray(compute, dtype=np.float64), np.asarray(reward, dtype=np.float64)
    if len(x) < FEWEST or len(x) != len(y) or not (x >= 0).all() or len(np.unique(x)) < 2:
        raise ConfigError(
            f"a curve is fitted to {FEWEST} points or more, of different compute from 0, got "
            f"{len(x)} and {len(y)} numbers"
        )
    low = np.log([x[x > 0].min() / 10, _EXPONENTS[0]])
    high = np.log([x.max() * 10, _EXPONENTS[1]])
    centre, width = (low + high) / 2, (high - low) / 2
    for _ in range(_ZOOMS):
        axes = [
            np.linspace(
                max(low[i], centre[i] - width[i]), min(high[i], centre[i] + width[i]), _GRID
            )
            for i in (0, 1)
        ]
        midpoints, exponents = np.meshgrid(*(np.exp(axis) for axis in axes), indexing="ij")
        errors = _regression(x, y, midpoints, exponents, most)[2]
        i, j = np.unravel_index(int(errors.argmin()), errors.shape)
        centre, width = np.array([axes[0][i], axes[1][j]]), width * _SHRINK
    midpoint, exponent = np.exp(centre)
    start, asymptote, error = _regression(x, y, midpoint, exponent, most)
    return Curve(
        start=float(start),
        asymptote=float(asymptote),
        midpoint=float(midpoint),
        exponent=float(exponent),
        residual=float(np.sqrt(error / len(x))),
        points=len(x),
        last=float(x.max()),
    )


def _rises(x: _Array, midpoint: _Array, exponent: _Array) -> _Array:
    """Return 1 / (1 + (midpoint / x)**exponent), of the shape of the midpoints and then of x."""
    with np.errstate(divide="ignore", over="ignore"):
        powers = (midpoint[..., None] / x) ** exponent[..., None]
    return np.asarray(1 / (1 + powers))


def _regression(
    x: _Array, y: _Array, midpoint: _Array, exponent: _Array, most: float
) -> tuple[_Array, _Array, _Array]:
    """Return the best starts and asymptotes, and the sums of squares that they leave."""
    s = _rises(x, np.asarray(midpoint), np.asarray(exponent))
    spread = s - s.mean(-1, keepdims=True)
    flat = np.maximum((spread**2).sum(-1), 1e-12)
    slope = (spread * (y - y.mean())).sum(-1) / flat
    start = y.mean() - slope * s.mean(-1)
    asymptote = start + slope
    # Where that is too high, it is `most`, and the start the best beside it.
    rest = 1 - s
    beside = (rest * (y - most * s)).sum(-1) / np.maximum((rest**2).sum(-1), 1e-12)
    start = np.where(asymptote > most, beside, start)
    asymptote = np.minimum(asymptote, most)
    fitted = start[..., None] * rest + asymptote[..., None] * s
    return start, asymptote, ((y - fitted) ** 2).sum(-1)


def fit_runs(runs: Sequence[Mapping[int, Mapping[str, float]]], name: str) -> Curve | None:
    """Return the sigmoid of a metric over the steps of all runs, or None if that is too little."""
    points = [
        (step - begun, row[name])
        for run in runs
        for begun in [supervised(run)]
        for step, row in run.items()
        if name in row and step >= begun
    ]
    if len({step for step, _ in points}) < FEWEST:
        return None
    return fit_sigmoid(*zip(*points, strict=True))


def supervised(run: Mapping[int, Mapping[str, float]]) -> int:
    """Return how many supervised steps a run began with."""
    return max((step for step, row in run.items() if "imitation/loss" in row), default=0)
