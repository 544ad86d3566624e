"""GrayCode: conversions, sums and counters in the reflected binary code."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._gray_code import FEATURES, Converter, Counter
from rlvr_envs.generators.hardware.design import Design, draw_clocking
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

_WIDEST = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class GrayCodeConfig(DesignConfig):
    """How wide the words are, and what is done with them."""

    width: int = 5  # bits of a word
    features: int = 4  # the first ones of offset, choice, sum, counter, down, load, range, toggle

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 3 <= self.width <= _WIDEST:
            raise ConfigError(f"width is between 3 and {_WIDEST}, got {self.width}")
        if not 0 <= self.features <= len(FEATURES):
            raise ConfigError(f"features is between 0 and {len(FEATURES)}, got {self.features}")

    @classmethod
    def at(cls, difficulty: int) -> "GrayCodeConfig":
        """A bit every 2 steps, up to 12, and, up to difficulty 10, 4 features every 5 steps."""
        return cls(
            width=min(3 + difficulty // 2, _WIDEST),
            features=min(4 * difficulty // 5, len(FEATURES)),
        )


@register("GrayCode-v0", domain="verilog", answer_format=LANGUAGE)
class GrayCodeTask(DesignTask[GrayCodeConfig]):
    """Write a converter, an adder or a counter in Gray code.

    Description:
        Small problems convert binary numbers to Gray code or back, with a constant added or the
        direction chosen by an input; then come sums of numbers in Gray code. Large ones are
        counters with an enable, a direction, a load, a range that is no power of two and yet
        changes one bit at a time, and an output of the bits that are about to change.

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
        Words get wider, converters become counters, and counters get more controls.

    References:
        Gray 1953, Pulse code communication, US patent 2632058; Cummings 2002, Simulation and
        synthesis techniques for asynchronous FIFO design, for counters in this code.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        width, features = self.config.width, FEATURES[: self.config.features]
        if "counter" in features:
            half = 2 ** (width - 1)
            reach = integer(rng, 2, half - 1) if "range" in features else half
            counter = Counter(
                width=width,
                low=half - reach,
                high=half + reach - 1,
                start=integer(rng, half - reach, half + reach - 1),
                features=features,
                name=pick(rng, ("q", "gray", "code")),
            )
            return counter.design(draw_clocking(rng))
        return Converter(
            width=width,
            offset=integer(rng, 1, 2**width - 1) if "offset" in features else 0,
            to_gray=integer(rng, 0, 1) == 1,
            level=integer(rng, 0, 1),
            features=features,
            names=(pick(rng, ("x", "a", "din")), pick(rng, ("y", "z", "dout"))),
        ).design()
