"""EdgeDetector: see inputs change."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._edge_detector import FEATURES, KINDS, Detector
from rlvr_envs.generators.hardware.design import Design
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

_WIDEST, _LONGEST_GAP = 8, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeDetectorConfig(DesignConfig):
    """How many inputs there are, and what is done with their edges."""

    width: int = 4  # inputs
    gap: int = 3  # cycles without edges after one, at most, with the feature gap
    features: int = 2  # added in the order each, sync, sticky, mask, count, gap

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 1 <= self.width <= _WIDEST:
            raise ConfigError(f"width is between 1 and {_WIDEST}, got {self.width}")
        if not 1 <= self.gap <= _LONGEST_GAP:
            raise ConfigError(f"gap is between 1 and {_LONGEST_GAP}, got {self.gap}")
        if not 0 <= self.features <= len(FEATURES):
            raise ConfigError(f"features is between 0 and {len(FEATURES)}, got {self.features}")

    @classmethod
    def at(cls, difficulty: int) -> "EdgeDetectorConfig":
        """Every 3 steps bring 2 inputs, up to 8, and, up to 9, 2 features."""
        return cls(
            width=min(1 + (2 * difficulty) // 3, _WIDEST),
            gap=min(1 + difficulty // 3, _LONGEST_GAP),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("EdgeDetector-v0", domain="verilog", answer_format=LANGUAGE)
class EdgeDetectorTask(DesignTask[EdgeDetectorConfig]):
    """Write a detector of edges of inputs, with what is usually built around one.

    Description:
        Rising, falling or all edges of one or more inputs, shown at once or a cycle later. Kinds
        of its own for each input, flip-flops before the inputs, edges that are kept until they
        are cleared, a mask, a count and a time without edges after one are added.

    Observation:
        What the module does in numbered rules or prose, its ports, and the kind of its reset; in
        one problem of three also a run of it, as a table or a waveform.

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
        Inputs get more, and the features and their interactions too.

    References:
        Cummings 2008, Clock domain crossing (CDC) design and verification techniques, for the
        flip-flops before an input; Liu et al. 2023, VerilogEval, arXiv:2309.07544, for the form
        of such problems.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        features = FEATURES[: config.features]
        one = pick(rng, KINDS)
        kinds = tuple(pick(rng, KINDS) if "each" in features else one for _ in range(config.width))
        return Detector(
            kinds=kinds,
            level=integer(rng, 0, 1),
            registered=integer(rng, 0, 1) == 1,
            stages=integer(rng, 1, 3),
            gap=integer(rng, (config.gap + 1) // 2, config.gap),
            set_wins=integer(rng, 0, 1) == 1,
            saturates=integer(rng, 0, 1) == 1,
            line=pick(rng, ("d", "sig", "line", "irq")),
            edges=pick(rng, ("edges", "pulse", "y", "detected")),
            features=features,
        ).design(rng)
