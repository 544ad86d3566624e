"""Fifo: a queue with flags, and rules for what happens when it is full, empty or both used."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._fifo import FifoSources
from rlvr_envs.generators.hardware.design import Design, draw_clocking
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

# In the order in which they are added along the ladder.
FEATURES = ("count", "almost", "flush", "errors", "pass")
# What a push to the full queue does.
FULL_RULES = ("refuse", "swap", "overwrite")
_DEEPEST, _WIDEST = 16, 16
_NAMES = (("push", "din", "pop", "dout"), ("wr_en", "wdata", "rd_en", "rdata"))


@dataclass(frozen=True, slots=True, kw_only=True)
class FifoConfig(DesignConfig):
    """How large the queue is, and how many flags and controls it has."""

    depth: int = 3  # words that it holds
    width: int = 2  # bits of a word
    features: int = 1  # added in the order count, almost, flush, errors, pass

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 1 <= self.depth <= _DEEPEST:
            raise ConfigError(f"depth is between 1 and {_DEEPEST}, got {self.depth}")
        if not 2 <= self.width <= _WIDEST:
            raise ConfigError(f"width is between 2 and {_WIDEST}, got {self.width}")
        if not 0 <= self.features <= len(FEATURES):
            raise ConfigError(f"features is between 0 and {len(FEATURES)}, got {self.features}")

    @classmethod
    def at(cls, difficulty: int) -> "FifoConfig":
        """A word more every 2 steps, a bit every 4 and, up to difficulty 10, a feature every 2.

        The numbers stop at 16 words of 16 bits.
        """
        return cls(
            depth=min(1 + (difficulty + 1) // 2, _DEEPEST),
            width=min(2 + difficulty // 4, _WIDEST),
            features=min(difficulty // 2, len(FEATURES)),
        )


@register("Fifo-v0", domain="verilog", answer_format=LANGUAGE)
class FifoTask(DesignTask[FifoConfig]):
    """Write a queue whose flags and corner cases are laid down to the last cycle.

    Description:
        Words leave the queue in the order in which they came. The oldest word shows at once, or
        the popped one a cycle later. A push to the full queue is refused, or accepted with a pop,
        or overwrites the oldest word. Counts, thresholds, a flush, flags of what was lost, and a
        way past the empty queue are added.

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
        Equivalence with a reference by simulation and proof (see docs/verilog.md). For deep
        queues the proof may stay open, and a long simulation decides. A reset that is not written
        and a value that is not determined count as wrong.

    Difficulty:
        The queue gets deeper and wider, and the flags and controls that interact more.

    References:
        Cummings, Simulation and Synthesis Techniques for Asynchronous FIFO Design, SNUG 2002, for
        pointers and flags; Liu et al. 2023, VerilogEval, arXiv:2309.07544, for the form.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        depth, width = self.config.depth, self.config.width
        return FifoSources(
            clocking=draw_clocking(rng),
            depth=depth,
            width=width,
            idle=integer(rng, 0, 2**width - 1),
            full_rule=pick(rng, FULL_RULES),
            registered=bool(integer(rng, 0, 1)),
            keeps=bool(integer(rng, 0, 1)),
            high=integer(rng, max(1, depth // 2), depth),
            low=integer(rng, 0, max(0, depth // 2 - 1)),
            flush_keeps=bool(integer(rng, 0, 1)),
            sticky=bool(integer(rng, 0, 1)),
            features=FEATURES[: self.config.features],
            names=pick(rng, _NAMES),
        ).design()
