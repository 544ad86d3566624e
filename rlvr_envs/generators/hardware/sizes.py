"""How large the two writings of a design are, and how much effort a writing takes."""

import math
import re
from dataclasses import replace

from rlvr_envs.core.errors import SandboxError
from rlvr_envs.generators.hardware.design import TOP, Design
from rlvr_envs.generators.hardware.keywords import LATER, VERILOG
from rlvr_envs.generators.hardware.syntax import read_code
from rlvr_envs.verifiers.hdl.elaborate import elaborate_once
from rlvr_envs.verifiers.hdl.source import Refusal

_RANGE = re.compile(r"\[(\d+):0\]")


def writing_effort(source: str) -> float:
    """Return Halstead's effort of a source in thousands, weighted by its bits.

    The effort is the volume N log2(n) of N tokens, n of them distinct, times the difficulty: half
    of the distinct operators times the mean number of uses of an operand. Closing brackets do not
    count. The weight is the logarithm of how many bits are declared, so that width counts little.
    """
    code = read_code(source)
    operators, operands = list[str](), list[str]()
    for token in code.tokens:
        if token.kind == "number" or (token.kind == "word" and token.text not in VERILOG | LATER):
            operands.append(token.text)
        elif token.text not in (")", "]", "}", "end", "endcase", "endmodule", ","):
            operators.append(token.text)
    kinds, names = len(set(operators)), max(1, len(set(operands)))
    volume = (len(operators) + len(operands)) * math.log2(kinds + names)
    bits = sum(map(_bits, code.widths.values()))
    return volume * kinds / 2 * len(operands) / names * math.log2(2 + bits) / 1000


def _bits(declared: str) -> int:
    """Return how many bits a range such as [3:0] has, 1 where it has no plain number."""
    found = _RANGE.match(declared)
    return int(found[1]) + 1 if found else 1


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
