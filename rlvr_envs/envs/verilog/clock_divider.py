"""ClockDivider: ticks and slower square waves out of a clock."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._clock_divider import DividerSources
from rlvr_envs.generators.hardware.design import Design, draw_clocking
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

# In the order in which they are added along the ladder.
FEATURES = ("enable", "square", "ratio", "restart", "cascade", "fraction")
_WIDEST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockDividerConfig(DesignConfig):
    """How long periods are, and what governs them."""

    width: int = 3  # bits of the length of a period
    features: int = 2  # added in the order enable, square, ratio, restart, cascade, fraction

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 2 <= self.width <= _WIDEST:
            raise ConfigError(f"width is between 2 and {_WIDEST}, got {self.width}")
        if not 0 <= self.features <= len(FEATURES):
            raise ConfigError(f"features is between 0 and {len(FEATURES)}, got {self.features}")

    @classmethod
    def at(cls, difficulty: int) -> "ClockDividerConfig":
        """A bit more every 2 steps and, up to difficulty 9, 2 features every 3.

        The numbers stop at periods of 10 bits.
        """
        return cls(
            width=min(2 + difficulty // 2, _WIDEST),
            features=min((2 * difficulty + 1) // 3, len(FEATURES)),
        )


@register("ClockDivider-v0", domain="verilog", answer_format=LANGUAGE)
class ClockDividerTask(DesignTask[ClockDividerConfig]):
    """Write a divider with ticks, square waves, programmable and broken ratios.

    Description:
        A tick comes once in a period of some cycles, and a wave is high for half of it. The
        period may be an input that is taken when a period begins; an enable and a restart, a
        second divider behind the first one, and periods that are longer now and then are added.

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
        Equivalence with a reference by simulation and proof (see docs/verilog.md). For long
        periods the proof may stay open, and a long simulation decides. A reset that is not written
        and a value that is not determined count as wrong.

    Difficulty:
        Periods get longer, and what governs them more.

    References:
        Arora, The Art of Hardware Architecture, chapter 4, for dividers of clocks; Liu et al.
        2023, VerilogEval, arXiv:2309.07544, for the form of such problems.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        top = 2**config.width - 1
        parts = integer(rng, 3, 7)
        return DividerSources(
            clocking=draw_clocking(rng),
            width=config.width,
            period=integer(rng, max(2, top // 2), top),
            first=bool(integer(rng, 0, 1)),
            high_first=bool(integer(rng, 0, 1)),
            rounds_up=bool(integer(rng, 0, 1)),
            zero=pick(rng, (1, top + 1)),
            gated=bool(integer(rng, 0, 1)),
            second=integer(rng, 2, 5),
            parts=parts,
            longer=integer(rng, 1, parts - 1),
            features=FEATURES[: config.features],
            tick=pick(rng, ("tick", "pulse", "strobe")),
            wave=pick(rng, ("wave", "clk_out", "square")),
            enable=pick(rng, ("enable", "run", "ce")),
        ).design()
