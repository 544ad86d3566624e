"""ElementaryAutomaton: rows of cells that follow a rule by number."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._elementary_automaton import BORDERS, FEATURES, Row
from rlvr_envs.generators.hardware.design import Design
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

_WIDEST = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementaryAutomatonConfig(DesignConfig):
    """How many cells there are, and what else they obey."""

    width: int = 8  # cells
    features: int = 1  # added in the order enable, alternate, stable, fast, frozen, memory

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 3 <= self.width <= _WIDEST:
            raise ConfigError(f"width is between 3 and {_WIDEST}, got {self.width}")
        if not 0 <= self.features <= len(FEATURES):
            raise ConfigError(f"features is between 0 and {len(FEATURES)}, got {self.features}")

    @classmethod
    def at(cls, difficulty: int) -> "ElementaryAutomatonConfig":
        """Two cells more a step, up to 48, and, up to 9, 2 features every 3 steps."""
        features = min((2 * difficulty) // 3, len(FEATURES))
        return cls(width=min(4 + 2 * difficulty, _WIDEST), features=features)


@register("ElementaryAutomaton-v0", domain="verilog", answer_format=LANGUAGE)
class ElementaryAutomatonTask(DesignTask[ElementaryAutomatonConfig]):
    """Write a row of cells in which each follows its neighbours by a rule.

    Description:
        An elementary cellular automaton with a load: any rule, told by its number, as a table or
        as a list, and any border. An enable, a second rule, a flag of rest, two steps at once,
        cells that stay, and a rule that looks back two steps are added.

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
        Equivalence with a reference by simulation and proof (see docs/verilog.md).

    Difficulty:
        Cells get more, and the controls and their interactions too.

    References:
        Wolfram 1983, Statistical mechanics of cellular automata; Fredkin's reversible rules of
        second order in Margolus 1984, Physics-like models of computation.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        width = self.config.width
        rules = [_rule(rng), _rule(rng)]
        while rules[0] == rules[1]:
            rules[1] = _rule(rng)
        return Row(
            width=width,
            rules=(rules[0], rules[1]),
            border=pick(rng, BORDERS),
            start=integer(rng, 1, 2**width - 1),
            telling=integer(rng, 0, 2),
            cells=pick(rng, ("q", "cells", "row")),
            features=FEATURES[: self.config.features],
        ).design(rng)


def _rule(rng: Rng) -> int:
    """Draw a rule that depends on all three cells."""
    while True:
        rule = integer(rng, 1, 254)
        if all(any((rule >> i ^ rule >> (i ^ bit)) & 1 for i in range(8)) for bit in (1, 2, 4)):
            return rule
