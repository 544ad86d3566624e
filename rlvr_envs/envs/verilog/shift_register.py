"""ShiftRegister: registers that shift, rotate, load and more, as a mode says."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._shift_register import FEATURES, Operation, Register, operation_names
from rlvr_envs.generators.hardware.design import Design
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

_WIDEST, _MOST = 18, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftRegisterConfig(DesignConfig):
    """How long the register is, and what it can do."""

    width: int = 6  # bits of the register
    operations: int = 4  # things it can do; with one, there is no mode
    features: int = 1  # added in the order enable, out, done, keep

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 4 <= self.width <= _WIDEST:
            raise ConfigError(f"width is between 4 and {_WIDEST}, got {self.width}")
        if not 1 <= self.operations <= _MOST:
            raise ConfigError(f"operations is between 1 and {_MOST}, got {self.operations}")
        if not 0 <= self.features <= len(FEATURES):
            raise ConfigError(f"features is between 0 and {len(FEATURES)}, got {self.features}")

    @classmethod
    def at(cls, difficulty: int) -> "ShiftRegisterConfig":
        """The register gets a bit and an operation a step, up to 18 and 12; a feature every 2."""
        return cls(
            width=min(4 + difficulty, _WIDEST),
            operations=min(1 + difficulty, _MOST),
            features=min(difficulty // 2, len(FEATURES)),
        )


@register("ShiftRegister-v0", domain="verilog", answer_format=LANGUAGE)
class ShiftRegisterTask(DesignTask[ShiftRegisterConfig]):
    """Write a universal shift register whose modes have codes that were drawn.

    Description:
        From a serial input that is shifted in, up to a dozen modes: shifts with a serial bit,
        with zeros and with the sign, rotations, load, clear, inversion and permutations. An
        enable, the bit that left, a flag of a complete word and a mask are added.

    Observation:
        What the module does in numbered rules or prose, its ports, a table of the modes, and the
        kind of its reset; in one problem of three also a run of it, as a table or a waveform.

    Action:
        The module as one block of Verilog or SystemVerilog.

    Reward:
        1 if the module behaves as the reference for all inputs at all times, otherwise 0; with
        ``reward="graded"`` up to half for compiling, for the right ports and for outputs that
        never differed in simulation.

    Episode End:
        After one step.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md).

    Difficulty:
        The register gets longer and its modes more, then outputs follow from several of them.

    References:
        Texas Instruments, SN74LS194A, the universal shift register; Liu et al. 2023, VerilogEval,
        arXiv:2309.07544, for the form of such problems.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        serial = "left" if integer(rng, 0, 1) else "right"
        others = [name for name in operation_names(config.width) if name != serial]
        chosen = rng.permutation(len(others))[: config.operations - 1].tolist()
        amounts = [integer(rng, 1, 3) for _ in range(config.operations)]
        names = [serial, *(others[i] for i in chosen)]
        codes = rng.permutation(2 ** (config.operations - 1).bit_length()).tolist()
        operations = sorted(
            (code, name, amount) for code, name, amount in zip(codes, names, amounts, strict=False)
        )
        return Register(
            width=config.width,
            operations=tuple(
                Operation(name, config.width, amount, code) for code, name, amount in operations
            ),
            start=integer(rng, 0, 2**config.width - 1),
            q=pick(rng, ("q", "word", "r")),
            serial=pick(rng, ("sin", "si", "din")),
            features=FEATURES[: config.features],
        ).design(rng)
