"""RegisterFile: words that are written and read by number, with ports, lanes and bypasses."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._register_file import RegisterFileSources
from rlvr_envs.generators.hardware.design import Design, draw_clocking
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

# In the order in which they are added along the ladder.
FEATURES = ("fixed", "bypass", "lanes", "registered", "second", "clear")
_MOST_WORDS, _WIDEST, _MOST_READS = 16, 16, 3
_WRITE_NAMES = (("we", "wa", "wd"), ("write", "waddr", "wdata"), ("wr_en", "wr_addr", "wr_data"))
_READ_NAMES = (("ra", "rd"), ("raddr", "rdata"), ("rd_addr", "rd_data"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterFileConfig(DesignConfig):
    """How many registers there are, and how they are reached."""

    words: int = 6  # registers at most; at least three quarters of that are drawn
    width: int = 4  # bits of a register
    reads: int = 1  # read ports
    features: int = 2  # added in the order fixed, bypass, lanes, registered, second, clear

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 2 <= self.words <= _MOST_WORDS:
            raise ConfigError(f"words is between 2 and {_MOST_WORDS}, got {self.words}")
        if not 2 <= self.width <= _WIDEST:
            raise ConfigError(f"width is between 2 and {_WIDEST}, got {self.width}")
        if not 1 <= self.reads <= _MOST_READS:
            raise ConfigError(f"reads is between 1 and {_MOST_READS}, got {self.reads}")
        if not 0 <= self.features <= len(FEATURES):
            raise ConfigError(f"features is between 0 and {len(FEATURES)}, got {self.features}")

    @classmethod
    def at(cls, difficulty: int) -> "RegisterFileConfig":
        """2 registers and, up to 8, 2 features more every 3 steps, a bit every 2, a port every 4.

        The numbers stop at 16 registers, 16 bits and 3 read ports.
        """
        return cls(
            words=min(2 + (2 * difficulty) // 3, _MOST_WORDS),
            width=min(2 + difficulty // 2, _WIDEST),
            reads=min(1 + difficulty // 4, _MOST_READS),
            features=min((2 * difficulty + 2) // 3, len(FEATURES)),
        )


@register("RegisterFile-v0", domain="verilog", answer_format=LANGUAGE)
class RegisterFileTask(DesignTask[RegisterFileConfig]):
    """Write a register file with several ports and rules for what meets in one cycle.

    Description:
        Registers are written and read by number. One of them may be fixed to a constant; reads
        may see the write of the same cycle or come a cycle later; writes may be confined to some
        lanes of a word; a second write port may reach the same register; all may be cleared.

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
        Registers, bits and read ports become more, and the features that interact too.

    References:
        Harris and Harris, Digital Design and Computer Architecture, 5.5, for register files;
        Liu et al. 2023, VerilogEval, arXiv:2309.07544, for the form of such problems.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        words = integer(rng, max(2, config.words - config.words // 4), config.words)
        top = 2**config.width - 1
        size = -(-config.width // integer(rng, 2, 2 if config.width < 6 else 4))
        return RegisterFileSources(
            clocking=draw_clocking(rng),
            words=words,
            width=config.width,
            reads=config.reads,
            size=size,
            start=integer(rng, 0, top),
            fixed=integer(rng, 0, words - 1),
            constant=integer(rng, 0, top),
            beyond=integer(rng, 0, top),
            stronger=integer(rng, 0, 1),
            features=FEATURES[: config.features],
            write=pick(rng, _WRITE_NAMES),
            read=pick(rng, _READ_NAMES),
        ).design()
