"""Verifiers that err at known rates, and what corrects for it (arXiv 2510.00915).

A noisy verifier is a channel from the true outcome R* to the observed R: ``rho0`` is P(R=1 | R*=0),
false positives, and ``rho1`` is P(R=0 | R*=1), false negatives.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.seeding import stream
from rlvr_envs.wrappers.played import EpisodeReward, Played

Rate = float | Callable[[], float]
CORRECTIONS = ("backward", "forward")


def backward_corrected(observed: float, rho0: float, rho1: float) -> float:
    """Return (R - rho0) / (1 - rho0 - rho1), whose mean over the noise is the true outcome.

    Raises:
        ConfigError: the rates add up to 1 or more, where the outcome tells nothing.

    Examples:
        >>> from rlvr_envs.wrappers import backward_corrected
        >>> backward_corrected(1.0, rho0=0.25, rho1=0.25)
        1.5
    """
    informative = 1.0 - rho0 - rho1
    if informative <= 0.0:
        raise ConfigError(f"rho0 + rho1 must be below 1, got {rho0:g} + {rho1:g}")
    return (observed - rho0) / informative


def forward_corrected(observed: float, rho1: float) -> float:
    """Return the weight rho1 of a positive and rho1 - 1 of a negative.

    Its mean over the noise is (1 - rho0 - rho1) * (R* - 1): 0 for a true positive, so the expected
    update is the clean one up to a baseline and a positive factor, and rho0 need not be known.

    Examples:
        >>> from rlvr_envs.wrappers import forward_corrected
        >>> forward_corrected(1.0, rho1=0.25), forward_corrected(0.0, rho1=0.25)
        (0.25, -0.75)
    """
    return observed * rho1 + (1.0 - observed) * (rho1 - 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """The outcome, 1 for full marks and else 0, sent through the channel and then corrected.

    Attributes:
        rho0: how often a wrong answer is taken for right.
        rho1: how often a right answer is taken for wrong.
        correction: ``"backward"``, ``"forward"``, or None for what was observed.
        assumed_rho0: what the correction takes rho0 for, a number or what returns one; None for
            the true rate. With both true rates 0, a correction is for the verifier's own errors.
        assumed_rho1: likewise; an `AppealRate` can stand here.

    Examples:
        >>> from rlvr_envs import Verdict
        >>> from rlvr_envs.wrappers import Noise, Played
        >>> played = Played(verdict=Verdict.correct(), actions=("7",), earned=1.0, seed=0)
        >>> Noise(rho0=0.25, rho1=0.0, correction="backward").parts(played)
        {'noisy_verifier': 1.0}
    """

    rho0: float = 0.0
    rho1: float = 0.0
    correction: str | None = None
    assumed_rho0: Rate | None = None
    assumed_rho1: Rate | None = None

    name: ClassVar[str] = "noisy_verifier"
    adds: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("rho0", "rho1"):
            check_probability(name, getattr(self, name))
        if self.correction not in (None, *CORRECTIONS):
            hint = did_you_mean(str(self.correction), CORRECTIONS)
            raise ConfigError(
                f"correction is 'backward', 'forward' or None, got {self.correction!r}{hint}"
            )
        if self.correction is not None:
            self._corrected(1.0)

    def parts(self, played: Played) -> dict[str, float]:
        """Return the observed outcome, corrected."""
        right = played.verdict.score == 1.0
        rate = self.rho1 if right else self.rho0
        flipped = bool(stream(self.name, played.seed).random() < rate)
        return {self.name: self._corrected(float(right != flipped))}

    def _corrected(self, observed: float) -> float:
        if self.correction is None:
            return observed
        rho1 = _now("assumed_rho1", self.assumed_rho1, self.rho1)
        if self.correction == "forward":
            return forward_corrected(observed, rho1)
        return backward_corrected(
            observed, _now("assumed_rho0", self.assumed_rho0, self.rho0), rho1
        )


class NoisyVerifier(EpisodeReward, RecordConstructorArgs):
    r"""Replaces the reward by the outcome as a verifier with known error rates would see it.

    See `Noise` for the arguments, and the module for the channel. Graded tasks count as right
    only with full marks.

    Where advantages are centred by the mean of a group, the forward weights change nothing, since
    they are the outcome less a constant; where they are also divided by the group's standard
    deviation, neither does the backward correction. Both matter without a baseline, with one that
    was learned, or when rates differ between tasks.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import NoisyVerifier
        >>> env = NoisyVerifier(gymnasium.make("rlvr/Gcd-v0", difficulty=0), rho0=1.0)
        >>> prompt, info = env.reset(seed=0)
        >>> observation, reward, *_, info = env.step(r"\boxed{7}")
        >>> reward, info["verdict"].score
        (1.0, 0.0)
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        rho0: float = 0.0,
        rho1: float = 0.0,
        *,
        correction: str | None = None,
        assumed_rho0: Rate | None = None,
        assumed_rho1: Rate | None = None,
    ) -> None:
        RecordConstructorArgs.__init__(
            self,
            _disable_deepcopy=True,  # an estimator is shared with who feeds it
            rho0=rho0,
            rho1=rho1,
            correction=correction,
            assumed_rho0=assumed_rho0,
            assumed_rho1=assumed_rho1,
        )
        scheme = Noise(
            rho0=rho0,
            rho1=rho1,
            correction=correction,
            assumed_rho0=assumed_rho0,
            assumed_rho1=assumed_rho1,
        )
        super().__init__(env, scheme)


class AppealRate:
    """Estimates rho1 from appeals: negatives that a second, better judge looks at again.

    The share of false negatives among true positives, as false negatives / (false negatives +
    positives), averaged over batches with exponential decay. It takes observed positives for true
    ones, so it is too low where false positives are many. Called, it returns `rate`.

    Args:
        decay: what the average keeps of its value at each batch, in [0, 1).

    Examples:
        >>> from rlvr_envs.wrappers import AppealRate
        >>> rate = AppealRate()
        >>> rate.update(positives=40, negatives=60, appealed=12, overturned=2)
        0.2
    """

    def __init__(self, decay: float = 0.9) -> None:
        if not 0.0 <= decay < 1.0:
            raise ConfigError(f"decay is a number from 0 and below 1, got {decay!r}")
        self._decay = decay
        self.rate = 0.0
        self.batches = 0

    def update(self, *, positives: int, negatives: int, appealed: int, overturned: int) -> float:
        """Take in a batch and return the new estimate.

        Args:
            positives: answers that the verifier took for right.
            negatives: answers that it took for wrong.
            appealed: how many of the negatives were looked at again; chosen at random, they stand
                for all.
            overturned: how many of those the second judge found right.
        """
        if not 0 <= overturned <= appealed <= negatives or positives < 0:
            raise ConfigError(
                "need 0 <= overturned <= appealed <= negatives and positives >= 0, got "
                f"{overturned}, {appealed}, {negatives} and {positives}"
            )
        missed = overturned * negatives / appealed if appealed else 0.0
        if (negatives and not appealed) or missed + positives == 0:
            return self.rate  # the batch tells nothing of the rate
        seen = missed / (missed + positives)
        keep = self._decay if self.batches else 0.0
        self.rate = keep * self.rate + (1.0 - keep) * seen
        self.batches += 1
        return self.rate

    def __call__(self) -> float:
        return self.rate


def check_probability(name: str, value: object) -> float:
    """Return a probability; raise `ConfigError` for anything else."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0.0 <= value <= 1.0:  # type: ignore[operator]  # checked before
        raise ConfigError(f"{name} is a number from 0 to 1, got {value!r}")
    return float(value)  # type: ignore[arg-type]


def _now(name: str, assumed: Rate | None, true: float) -> float:
    rate = true if assumed is None else assumed() if callable(assumed) else assumed
    return check_probability(name, rate)
