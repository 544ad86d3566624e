"""PipelinedMultiplier: products that come some cycles after their factors."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._pipelined_multiplier import MultiplierSources
from rlvr_envs.generators.hardware.design import Design, draw_clocking
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

# In the order in which they are added along the ladder.
FEATURES = ("valid", "stall", "modes", "add", "flush", "narrow")
_WIDEST, _LONGEST = 10, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelinedMultiplierConfig(DesignConfig):
    """How wide the factors are, how long a product takes, and what else happens on the way."""

    width: int = 3  # bits of the first factor; the second has as many or one more
    latency: int = 2  # cycles from factors to product
    features: int = 2  # added in the order valid, stall, modes, add, flush, narrow

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 2 <= self.width <= _WIDEST:
            raise ConfigError(f"width is between 2 and {_WIDEST}, got {self.width}")
        if not 1 <= self.latency <= _LONGEST:
            raise ConfigError(f"latency is between 1 and {_LONGEST}, got {self.latency}")
        if not 0 <= self.features <= len(FEATURES):
            raise ConfigError(f"features is between 0 and {len(FEATURES)}, got {self.features}")

    @classmethod
    def at(cls, difficulty: int) -> "PipelinedMultiplierConfig":
        """A bit more every 4 steps, a cycle every 2 and, up to difficulty 9, 2 features every 3.

        The numbers stop at 10 bits and 8 cycles.
        """
        return cls(
            width=min(2 + difficulty // 4, _WIDEST),
            latency=min(1 + difficulty // 2, _LONGEST),
            features=min((2 * difficulty + 1) // 3, len(FEATURES)),
        )


@register("PipelinedMultiplier-v0", domain="verilog", answer_format=LANGUAGE)
class PipelinedMultiplierTask(DesignTask[PipelinedMultiplierConfig]):
    """Write a multiplier with a pipeline that can be stalled and flushed.

    Description:
        The product of two factors comes after a number of cycles. Factors are signed or not, by
        choice or by inputs of their own; a third number may be added and the sum be cut to fewer
        bits with saturation. A mark of valid products, a stall and a flush are added.

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
        Equivalence with a reference by simulation and proof (see docs/verilog.md). For wide
        factors the proof may stay open, and a long simulation decides. A reset that is not written
        and a value that is not determined count as wrong.

    Difficulty:
        The factors get wider, the pipeline longer, and what happens on the way more.

    References:
        Baugh and Wooley 1973, A Two's Complement Parallel Array Multiplication Algorithm, IEEE
        Trans. Computers C-22(12); Liu et al. 2023, VerilogEval, arXiv:2309.07544, for the form.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        config, features = self.config, FEATURES[: self.config.features]
        other = config.width + integer(rng, 0, 1)
        total = config.width + other
        size = integer(rng, total - 3, total - 1) if "narrow" in features else total
        return MultiplierSources(
            clocking=draw_clocking(rng),
            widths=(config.width, other),
            size=size,
            latency=config.latency,
            signed=(bool(integer(rng, 0, 1)), bool(integer(rng, 0, 1))),
            idle=integer(rng, 0, 2**size - 1),
            moving=integer(rng, 0, 1),
            hard_flush=bool(integer(rng, 0, 1)),
            features=features,
            names=pick(rng, (("a", "b", "p"), ("x", "y", "z"), ("lhs", "rhs", "result"))),
            addend=pick(rng, ("c", "addend")),
        ).design()
