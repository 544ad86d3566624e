"""Arbiter: who of several may have what only one can have."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.envs.verilog._arbiter import ArbiterSources
from rlvr_envs.generators.hardware.design import Design, draw_clocking
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

# In the order in which they are added along the ladder.
FEATURES = ("rotate", "index", "lock", "weights", "urgent", "limit")
_MOST_REQUESTS, _HEAVIEST = 12, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ArbiterConfig(DesignConfig):
    """How many ask, and how it is settled who gets it."""

    requests: int = 4  # requesters
    weight: int = 2  # grants in a row that a requester has at most, where there are weights
    features: int = 1  # added in the order rotate, index, lock, weights, urgent, limit

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 2 <= self.requests <= _MOST_REQUESTS:
            raise ConfigError(f"requests is between 2 and {_MOST_REQUESTS}, got {self.requests}")
        if not 2 <= self.weight <= _HEAVIEST:
            raise ConfigError(f"weight is between 2 and {_HEAVIEST}, got {self.weight}")
        if not 0 <= self.features <= len(FEATURES):
            raise ConfigError(f"features is between 0 and {len(FEATURES)}, got {self.features}")

    @classmethod
    def at(cls, difficulty: int) -> "ArbiterConfig":
        """A requester more every 2 steps, a weight every 4, and 2 features every 3 up to 9.

        The numbers stop at 12 requesters with weights up to 8.
        """
        return cls(
            requests=min(3 + difficulty // 2, _MOST_REQUESTS),
            weight=min(2 + difficulty // 4, _HEAVIEST),
            features=min((2 * difficulty + 1) // 3, len(FEATURES)),
        )


@register("Arbiter-v0", domain="verilog", answer_format=LANGUAGE)
class ArbiterTask(DesignTask[ArbiterConfig]):
    """Write an arbiter with turns, weights, a lock and urgent requests.

    Description:
        At every clock edge at most one requester is granted: the first in a line of fixed order,
        or the next after the one granted last. A requester may keep its grant for some cycles,
        or lock it, and urgent requests go before others.

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
        Requesters become more, and so do the rules for who goes first and who may stay.

    References:
        Dally and Towles, Principles and Practices of Interconnection Networks, chapter 18, for
        arbiters; Liu et al. 2023, VerilogEval, arXiv:2309.07544, for the form of such problems.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        count, features = self.config.requests, FEATURES[: self.config.features]
        bits = (count - 1).bit_length()
        weights = integers(rng, 1, self.config.weight, count)
        return ArbiterSources(
            clocking=draw_clocking(rng),
            line=tuple(int(i) for i in rng.permutation(count)),
            weights=weights if "weights" in features else (1,) * count,
            limit=integer(rng, max(2, *weights), self.config.weight + 2),
            idle=integer(rng, 0, 2**bits - 1),
            features=features,
            request=pick(rng, ("req", "request", "want")),
            grant=pick(rng, ("grant", "gnt", "ack")),
        ).design()
