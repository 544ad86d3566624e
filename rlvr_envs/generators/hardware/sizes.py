"""How large the two writings of a design are."""

from dataclasses import replace

from rlvr_envs.core.errors import SandboxError
from rlvr_envs.generators.hardware.design import TOP, Design
from rlvr_envs.verifiers.hdl.elaborate import elaborate_once
from rlvr_envs.verifiers.hdl.source import Refusal


def cells_of(source: str) -> int:
    """Return how many simple gates and bits of state a source of ours takes.

    Raises:
        SandboxError: it cannot be elaborated.
    """
    found = elaborate_once(source, TOP)
    if isinstance(found, Refusal):
        raise SandboxError(f"a source cannot be elaborated ({found.stage}): {found.detail}")
    return found.cells


def smaller_first(design: Design) -> tuple[Design, int, int]:
    """Return a design whose golden source is the smaller of the two, and both sizes."""
    golden, alternative = cells_of(design.golden), cells_of(design.alternative)
    if golden <= alternative:
        return design, golden, alternative
    turned = replace(design, golden=design.alternative, alternative=design.golden)
    return turned, alternative, golden
