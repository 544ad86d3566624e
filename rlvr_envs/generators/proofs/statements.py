"""A statement with its proof, and the check that the proof is one."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.verifiers.proofs.backend import KernelBackend, Statement
from rlvr_envs.verifiers.proofs.kernel import ProofError


@dataclass(frozen=True, slots=True)
class Proved:
    """A statement and the tactics that prove it, one after the other."""

    statement: Statement
    proof: tuple[str, ...]


def checked(statement: Statement, proof: Sequence[str]) -> Proved | None:
    """Return a statement with its proof if the kernel accepts it, None otherwise."""
    backend = KernelBackend()
    try:
        state = backend.start(statement)
        for tactic in proof:
            state = backend.apply(state, tactic)
    except ProofError:
        return None
    return Proved(statement, tuple(proof)) if state.proved else None
