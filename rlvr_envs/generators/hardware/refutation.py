"""Whether a changed source behaves otherwise, decided by simulation: the same on every machine."""

from dataclasses import dataclass

from rlvr_envs.core.errors import SandboxError
from rlvr_envs.verifiers.hdl.elaborate import Refusal, passing
from rlvr_envs.verifiers.hdl.equivalence import Pair, pair
from rlvr_envs.verifiers.hdl.interface import Reference
from rlvr_envs.verifiers.hdl.simulate import QUICK, Difference, compare
from rlvr_envs.verifiers.hdl.waveform import waveform


@dataclass(frozen=True, slots=True)
class Refutation:
    """A source that compiles and, in some run, differs from a reference."""

    pair: Pair
    difference: Difference

    def trace(self) -> str:
        """Return the run as text."""
        return waveform(self.pair.gold, self.pair.gate, self.pair.reference, self.difference)

    def differs_from(self, other: "Refutation") -> bool:
        """Return whether a simulation tells two sources apart, both refuted before."""
        one, two = self.pair, other.pair
        if one.clocked != two.clocked:  # one of them has a clock of its own
            return True
        found = compare(
            two.gate, one.gate, one.reference, clocked=one.clocked, effort=QUICK, seed=1
        )
        return found is not None


def refuted(source: str, reference: Reference) -> Refutation | None:
    """Return how a source differs, None if it does not compile or no short simulation tells.

    A proof would tell more, and could end sooner on a slower machine: problems would not be the
    same everywhere.

    Raises:
        SandboxError: the machine could not elaborate the source, or not in time, so that nothing
            is known.
    """
    found = pair(source, reference)
    if isinstance(found, Refusal):
        if passing(found):
            raise SandboxError(found.detail)
        return None
    difference = compare(found.gold, found.gate, reference, clocked=found.clocked, effort=QUICK)
    return None if difference is None else Refutation(found, difference)
