"""Crc: cyclic redundancy checks with any polynomial, a word at a time."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._crc import FEATURES, Crc
from rlvr_envs.generators.hardware.design import Design, draw_clocking
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

_HIGHEST, _WIDEST = 16, 7


@dataclass(frozen=True, slots=True, kw_only=True)
class CrcConfig(DesignConfig):
    """The degree of the polynomial, the size of a word, and what stands around the register."""

    degree: int = 6  # of the polynomial
    size: int = 4  # bits of a word
    features: int = 2  # the first ones of order, register, final, restart, length, words

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        for name, low, high in (
            ("degree", 3, _HIGHEST),
            ("size", 1, _WIDEST),
            ("features", 0, len(FEATURES)),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ConfigError(f"{name} is between {low} and {high}, got {value}")

    @classmethod
    def at(cls, difficulty: int) -> "CrcConfig":
        """A degree and a bit every 2 steps, up to 16 and 7; up to 10, 3 features every 5."""
        return cls(
            degree=min(3 + difficulty // 2, _HIGHEST),
            size=min(1 + difficulty // 2, _WIDEST),
            features=min(3 * difficulty // 5, len(FEATURES)),
        )


@register("Crc-v0", domain="verilog", answer_format=LANGUAGE)
class CrcTask(DesignTask[CrcConfig]):
    """Write a cyclic redundancy check that takes a word in each cycle.

    Description:
        Small problems are one step of a register with feedback, for a word of a few bits. Larger
        ones have the register, which takes words in either order of bits and shifts in either
        direction, with a start value, a final inversion and reversal, restarts, words of which
        only the first bits count, and a count of words. A step is told as an algorithm or as a
        remainder of polynomials.

    Observation:
        What the module does in numbered rules or prose, its ports, and the kind of its reset.

    Action:
        The module as one block of Verilog or SystemVerilog.

    Reward:
        1 if the module behaves as the reference for all inputs at all times, otherwise 0; with
        ``reward="graded"`` up to half for compiling, for the right ports and for outputs that
        never differed in simulation.

    Episode End:
        After one step.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). A reset that
        is not written and a value that is not determined count as wrong.

    Difficulty:
        Polynomials and words get longer, and the register gets more rules.

    References:
        Peterson and Brown 1961, Cyclic codes for error detection; Williams 1993, A painless guide
        to CRC error detection algorithms, for start values, reflection and final inversion.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        features = FEATURES[: config.features]
        drawn = "order" in features
        ones = 2**config.degree - 1
        return Crc(
            degree=config.degree,
            size=config.size,
            polynomial=integer(rng, 1, ones // 2) << 1 | 1,
            low_first=drawn and integer(rng, 0, 1) == 1,
            mirrored=drawn and integer(rng, 0, 1) == 1,
            as_polynomial=integer(rng, 0, 1) == 1,
            start=pick(rng, (ones, integer(rng, 1, ones))),
            final=pick(rng, (ones, integer(rng, 1, ones))),
            turned=integer(rng, 0, 1) == 1,
            features=features,
            names=(pick(rng, ("data", "din", "d")), pick(rng, ("crc", "check", "code"))),
        ).design(draw_clocking(rng) if "register" in features else None)
