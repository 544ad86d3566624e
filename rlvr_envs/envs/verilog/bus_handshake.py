"""BusHandshake: words that go through stages by valid and ready."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._bus_handshake import KEEPING, HandshakeSources, Stage
from rlvr_envs.generators.hardware.design import Design, draw_clocking
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

# In the order in which they come in along the ladder.
KINDS = ("register", "half", "skid", "map", "join", "split", "filter", "gap", "sum")
_WIDEST, _MOST_STAGES = 8, 6
_WIDEST_INSIDE = 24  # bits of a word between stages


@dataclass(frozen=True, slots=True, kw_only=True)
class BusHandshakeConfig(DesignConfig):
    """How many stages there are, and of which kinds."""

    width: int = 3  # bits of a word at the input
    stages: int = 2  # in a row
    kinds: int = 4  # of KINDS, from which stages are drawn
    last: bool = False  # whether words come in packets whose end is marked

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 2 <= self.width <= _WIDEST:
            raise ConfigError(f"width is between 2 and {_WIDEST}, got {self.width}")
        if not 1 <= self.stages <= _MOST_STAGES:
            raise ConfigError(f"stages is between 1 and {_MOST_STAGES}, got {self.stages}")
        if not 2 <= self.kinds <= len(KINDS):
            raise ConfigError(f"kinds is between 2 and {len(KINDS)}, got {self.kinds}")

    @classmethod
    def at(cls, difficulty: int) -> "BusHandshakeConfig":
        """A kind more a step up to 7, a stage and a bit every 3, marks of packets from 5 on.

        The numbers stop at 6 stages for words of 8 bits.
        """
        return cls(
            width=min(2 + difficulty // 3, _WIDEST),
            stages=min(1 + difficulty // 3, _MOST_STAGES),
            kinds=min(2 + difficulty, len(KINDS)),
            last=difficulty >= 5,
        )


@register("BusHandshake-v0", domain="verilog", answer_format=LANGUAGE)
class BusHandshakeTask(DesignTask[BusHandshakeConfig]):
    """Write a chain of stages that pass words on by valid and ready.

    Description:
        Words come in and go out where valid and ready are both 1. Between that are registers,
        skid buffers, stages that join words to wider ones or split them, that change, drop or sum
        them up, or that pause. Packets may close a join early and begin a new sum.

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
        chains the proof may stay open, and a long simulation decides. A reset that is not written
        and a value that is not determined count as wrong.

    Difficulty:
        The chain gets longer, its words wider, and the kinds of its stages more.

    References:
        Arm, AMBA AXI and ACE Protocol Specification, A3.2, for the handshake; Liu et al. 2023,
        VerilogEval, arXiv:2309.07544, for the form of such problems.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        kinds = KINDS[: self.config.kinds]
        width, stages = self.config.width, []
        kept = integer(rng, 0, self.config.stages - 1)  # the stage that surely keeps words
        for number in range(self.config.stages):
            fitting = [kind for kind in kinds if kind in KEEPING or number != kept]
            stages.append(_draw(rng, fitting, width))
            width = stages[-1].after
        return HandshakeSources(
            clocking=draw_clocking(rng),
            stages=tuple(stages),
            last=self.config.last,
            idle=integer(rng, 0, 2**width - 1),
            sides=pick(rng, (("in", "out"), ("s", "m"), ("up", "down"), ("src", "dst"))),
        ).design()


def _draw(rng: Rng, kinds: list[str], width: int) -> Stage:
    """Draw a stage that fits words of a width."""
    parts = [k for k in (2, 3, 4) if width % k == 0]
    wider = [k for k in (2, 3, 4) if width * k <= _WIDEST_INSIDE]
    fitting = [kind for kind in kinds if (kind != "split" or parts) and (kind != "join" or wider)]
    kind = pick(rng, fitting)
    factor = pick(rng, parts) if kind == "split" else pick(rng, wider) if kind == "join" else 1
    after = {"split": width // factor, "join": width * factor}.get(kind, width)
    return Stage(
        kind=kind,
        before=width,
        after=after,
        factor=integer(rng, 1, 3) if kind == "gap" else factor,
        value=integer(rng, 1, 2**width - 1) if width > 1 else 1,
        place=integer(rng, 0, width - 1),
        way=integer(rng, 0, 1),
    )
