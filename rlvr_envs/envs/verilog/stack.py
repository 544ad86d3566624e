"""Stack: words of which the youngest leaves first, moved by operations with codes."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._stack import OPERATIONS, StackSources
from rlvr_envs.generators.hardware.design import Design, draw_clocking
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

# In the order in which they are added along the ladder.
FEATURES = ("flags", "error", "count", "second")
_DEEPEST, _WIDEST = 12, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class StackConfig(DesignConfig):
    """How large the stack is, and what can be done with it."""

    depth: int = 3  # words that it holds
    width: int = 3  # bits of a word
    operations: int = 3  # push and pop, and some that are drawn
    features: int = 1  # added in the order flags, error, count, second

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 2 <= self.depth <= _DEEPEST:
            raise ConfigError(f"depth is between 2 and {_DEEPEST}, got {self.depth}")
        if not 2 <= self.width <= _WIDEST:
            raise ConfigError(f"width is between 2 and {_WIDEST}, got {self.width}")
        most = len(OPERATIONS)
        if not 2 <= self.operations <= most:
            raise ConfigError(f"operations is between 2 and {most}, got {self.operations}")
        if not 0 <= self.features <= len(FEATURES):
            raise ConfigError(f"features is between 0 and {len(FEATURES)}, got {self.features}")

    @classmethod
    def at(cls, difficulty: int) -> "StackConfig":
        """An operation more a step to 9, an output every 2 to 8, a word every 3, a bit every 4.

        The numbers stop at 12 words of 12 bits.
        """
        return cls(
            depth=min(2 + (difficulty + 1) // 3, _DEEPEST),
            width=min(2 + difficulty // 4, _WIDEST),
            operations=min(2 + difficulty, len(OPERATIONS)),
            features=min(difficulty // 2, len(FEATURES)),
        )


@register("Stack-v0", domain="verilog", answer_format=LANGUAGE)
class StackTask(DesignTask[StackConfig]):
    """Write a stack with operations on its upper words, as stack machines have.

    Description:
        A code says what happens at each clock edge: push, pop, and operations on the upper two or
        three words. What cannot be done is ignored, or costs the lowest word. Flags, a count, a
        memory of errors and the second word are further outputs.

    Observation:
        What the module does in numbered rules or prose, a table of codes, its ports, and the kind
        of its reset.

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
        stacks the proof may stay open, and a long simulation decides. A reset that is not written
        and a value that is not determined count as wrong.

    Difficulty:
        The stack gets deeper and wider, the operations and outputs more.

    References:
        Koopman, Stack Computers: The New Wave, 1989, for the operations; Liu et al. 2023,
        VerilogEval, arXiv:2309.07544, for the form of such problems.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        others = [str(name) for name in rng.permutation(list(OPERATIONS)[2:])]
        names = ["push", "pop", *others[: config.operations - 2]]
        bits = len(names).bit_length()
        codes = [int(code) for code in rng.permutation(2**bits)[: len(names)]]
        return StackSources(
            clocking=draw_clocking(rng),
            depth=config.depth,
            width=config.width,
            codes=tuple(zip(codes, names, strict=True)),
            bits=bits,
            idle=integer(rng, 0, 2**config.width - 1),
            slides=bool(integer(rng, 0, 1)),
            sticky=bool(integer(rng, 0, 1)),
            features=FEATURES[: config.features],
            op=pick(rng, ("op", "code", "cmd")),
            word=pick(rng, ("din", "data", "word")),
        ).design()
