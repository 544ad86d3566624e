"""BitCount: counts of bits, of runs and of changes in a word, and what follows from them."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._bit_count import KINDS, Counts, draw_outputs
from rlvr_envs.generators.hardware.design import Design
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

_WIDEST = 12
# In the order in which they are added along the ladder.
PREPARATIONS = ("mask", "invert", "turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class BitCountConfig(DesignConfig):
    """How long the word is, what is done with it first, and how much is counted in it."""

    width: int = 6  # bits of the word
    counts: int = 2  # outputs
    preparations: int = 1  # the first ones of mask, invert, turn

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        for name, low, high in (
            ("width", 3, _WIDEST),
            ("counts", 1, len(KINDS)),
            ("preparations", 0, len(PREPARATIONS)),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ConfigError(f"{name} is between {low} and {high}, got {value}")

    @classmethod
    def at(cls, difficulty: int) -> "BitCountConfig":
        """A bit a step, up to 12, an output every 2, up to 11, a preparation every 3, up to 3."""
        return cls(
            width=min(3 + difficulty, _WIDEST),
            counts=min(1 + difficulty // 2, len(KINDS)),
            preparations=min(difficulty // 3, len(PREPARATIONS)),
        )


@register("BitCount-v0", domain="verilog", answer_format=LANGUAGE)
class BitCountTask(DesignTask[BitCountConfig]):
    """Write a circuit that counts bits, runs and changes in a word.

    Description:
        Outputs count ones or zeros, the bits before the first or behind the last one, changes
        and runs, the longest run, the sum of weights, or the difference of even and odd places;
        or they tell whether a count has a majority, reaches a number or is a multiple of one. The
        word may first be masked, XORed with a constant and turned round.

    Observation:
        What the module does in numbered rules or prose, and its ports.

    Action:
        The module as one block of Verilog or SystemVerilog.

    Reward:
        1 if the module behaves as the reference for all inputs, otherwise 0; with
        ``reward="graded"`` up to half for compiling, for the right ports and for outputs that
        never differed in simulation.

    Episode End:
        After one step.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). A value that
        is not determined counts as wrong.

    Difficulty:
        Words get longer, and outputs and the preparation of the word more.

    References:
        Warren 2012, Hacker's Delight, chapters 5 and 6, for counts of bits and runs; Liu et al.
        2023, VerilogEval, arXiv:2309.07544, for the form of such problems.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        return Counts(
            size=config.width,
            outputs=draw_outputs(rng, config.width, config.counts),
            preparations=PREPARATIONS[: config.preparations],
            level=integer(rng, 0, 1),
            inverted=integer(rng, 1, 2**config.width - 1),
            name=pick(rng, ("x", "a", "data", "din")),
        ).design()
