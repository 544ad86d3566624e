"""BcdConverter: decimal digits from binary numbers, sums of them, and their display."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._bcd_converter import FEATURES, Converter, draw_display
from rlvr_envs.generators.hardware.design import Design
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

_MOST_DIGITS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class BcdConverterConfig(DesignConfig):
    """How many digits there are, and what is done with them."""

    digits: int = 2  # of a number that goes in
    features: int = 2  # offset, segments, operands, blank, subtract, error, lamp: the first ones

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 2 <= self.digits <= _MOST_DIGITS:
            raise ConfigError(f"digits is between 2 and {_MOST_DIGITS}, got {self.digits}")
        if not 0 <= self.features <= len(FEATURES):
            raise ConfigError(f"features is between 0 and {len(FEATURES)}, got {self.features}")

    @classmethod
    def at(cls, difficulty: int) -> "BcdConverterConfig":
        """A digit every 5 steps, up to 5, and, up to difficulty 10, 7 features every 10 steps."""
        return cls(
            digits=min(2 + difficulty // 5, _MOST_DIGITS),
            features=min(7 * difficulty // 10, len(FEATURES)),
        )


@register("BcdConverter-v0", domain="verilog", answer_format=LANGUAGE)
class BcdConverterTask(DesignTask[BcdConverterConfig]):
    """Write a converter to decimal digits, or an adder of them, with a display.

    Description:
        Small problems split a binary number into decimal digits. Larger ones show digits with
        seven segments, whose order, polarity and shapes are drawn, add and subtract numbers of
        four bits a digit, blank leading zeros, and tell inputs that are no decimal numbers.

    Observation:
        What the module does in numbered rules or prose, its ports, and a table of the shapes.

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
        Numbers get longer, converters become adders, and the display gets more rules.

    References:
        Harris and Harris, Digital Design and Computer Architecture, 2.7 and 4.5, for
        seven-segment decoders; Richards 1955, Arithmetic Operations in Digital Computers, for
        decimal addition with a correction by 6.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        digits, features = self.config.digits, FEATURES[: self.config.features]
        width = (10**digits).bit_length() - 1
        room = 10**digits - 2**width  # what can be added without another digit
        return Converter(
            digits=digits,
            width=width,
            offset=integer(rng, 1, room) if "offset" in features else 0,
            invalid=pick(rng, (0, 9)),
            level=integer(rng, 0, 1),
            display=draw_display(rng, features),
            apart=integer(rng, 0, 1) == 1,
            features=features,
            name=pick(rng, ("x", "a", "value", "num")),
        ).design()
