"""ErrorCode: parity bits, and codes that correct one wrong bit and tell two."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._error_code import KINDS, Code, draw_columns, shuffled
from rlvr_envs.generators.hardware.design import Design
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

_WIDEST = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCodeConfig(DesignConfig):
    """How long the data are, and what is done with the code."""

    size: int = 5  # bits of data
    kind: str = "encode"  # parity, check, encode, syndrome, correct, double, or rewrite

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 3 <= self.size <= _WIDEST:
            raise ConfigError(f"size is between 3 and {_WIDEST}, got {self.size}")
        if self.kind not in KINDS:
            raise ConfigError(f"kind is one of {', '.join(KINDS)}, got {self.kind!r}")

    @classmethod
    def at(cls, difficulty: int) -> "ErrorCodeConfig":
        """A bit of data a step, up to 16, and the next kind of module every 5 steps of 3."""
        return cls(
            size=min(3 + difficulty, _WIDEST),
            kind=KINDS[min(3 * difficulty // 5, len(KINDS) - 1)],
        )


@register("ErrorCode-v0", domain="verilog", answer_format=LANGUAGE)
class ErrorCodeTask(DesignTask[ErrorCodeConfig]):
    """Write an encoder, a checker or a decoder of a code that was drawn.

    Description:
        Small problems make or check a parity bit over some bits of a word. Larger ones have
        several check bits, each over bits that were drawn, some of them inverted, and a code word
        whose bits are in an order that was drawn; they encode, find the failing checks, correct
        a wrong bit, tell two wrong bits with an overall parity, and write the word anew.

    Observation:
        What the module does in numbered rules or prose, its ports, and a table of the checks.

    Action:
        The module as one block of Verilog or SystemVerilog.

    Reward:
        1 if the module behaves as the reference for all inputs, otherwise 0; with
        ``reward="graded"`` up to half for compiling, for the right ports and for outputs that
        never differed in simulation.

    Episode End:
        After one step.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). What happens
        to words with more wrong bits than the code can correct is part of the rules.

    Difficulty:
        Words get longer, and encoders become decoders with more outputs.

    References:
        Hamming 1950, Error detecting and error correcting codes; Hsiao 1970, A class of optimal
        minimum odd-weight-column SEC-DED codes.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        size, kind = self.config.size, self.config.kind
        plain = kind in ("parity", "check")
        checks = 1 if plain else 3
        while not plain and 2**checks - checks - 1 < size:
            checks += 1
        if plain:
            covered = 0
            while covered.bit_count() < 2:
                covered = integer(rng, 1, 2**size - 1)
            columns = tuple(covered >> i & 1 for i in range(size))
        else:
            columns = draw_columns(rng, size, checks)
        length = size + checks + (kind in ("double", "rewrite"))
        turned = shuffled(rng, length)
        return Code(
            kind=kind,
            size=size,
            columns=columns,
            checks=checks,
            odd=integer(rng, 0, 2**checks - 1),
            overall_odd=integer(rng, 0, 1),
            order=turned if not plain else tuple(range(length)),
            telling=integer(rng, 0, 1),
            names=(pick(rng, ("x", "din", "word")), pick(rng, ("y", "dout", "out"))),
        ).design()
