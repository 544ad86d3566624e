"""A mixture that does not change: the baseline of every curriculum."""

from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula._seeded import Seeded, draw
from rlvr_envs.curricula.base import Proposal


class Fixed(Seeded):
    """Draws each proposal from the same list, with the same weights, for ever.

    Proposal i comes with probability w_i / sum of w.

    Args:
        proposals: what to draw from, at least one.
        weights: a positive number for each; None for equal ones.
        seed: of the draws.

    Raises:
        ConfigError: there is nothing to propose, or the weights do not fit.

    Examples:
        >>> from rlvr_envs.curricula import Fixed, Proposal
        >>> proposals = [Proposal(task="rlvr/Gcd-v0"), Proposal(task="rlvr/Totient-v0")]
        >>> curriculum = Fixed(proposals, weights=[3, 1])
        >>> curriculum.propose().task
        'rlvr/Gcd-v0'
    """

    def __init__(
        self, proposals: Sequence[Proposal], weights: Sequence[float] | None = None, seed: int = 0
    ) -> None:
        self.proposals = tuple(proposals)
        self.weights = (1.0,) * len(self.proposals) if weights is None else tuple(weights)
        if not self.proposals or len(self.weights) != len(self.proposals):
            raise ConfigError(
                f"need proposals and as many weights, got {len(self.proposals)} proposals and "
                f"{len(self.weights)} weights"
            )
        if not all(isfinite(weight) and weight > 0 for weight in self.weights):
            raise ConfigError(f"weights are positive numbers, got {self.weights}")
        rows = [asdict(proposal) for proposal in self.proposals]
        super().__init__(seed, {"proposals": rows, "weights": self.weights})

    def propose(self) -> Proposal:
        """Return a proposal drawn by the weights."""
        return self.proposals[draw(self._rng(), self.weights)]
