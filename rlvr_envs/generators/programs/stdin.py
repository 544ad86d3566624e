"""How a program's inputs stand on its standard input.

In the order of the program's inputs: an integer on a line; a string on a line; a list as a line
with its length and a line with its items, single spaces between (an empty line where there are
none). A string is not empty, is printable ASCII and neither begins nor ends with a space.
"""

import re
from collections.abc import Mapping

from rlvr_envs.generators.programs.interpret import IrError
from rlvr_envs.generators.programs.nodes import Program, Value

_LINE = re.compile(r"[!-~]([ -~]*[!-~])?", re.ASCII)


def stdin_text(program: Program, inputs: Mapping[str, Value]) -> str:
    """Return what a program reads for the given inputs."""
    lines: list[str] = []
    for name, kind in program.inputs:
        if name not in inputs:
            raise IrError(f"the input {name!r} is missing; given: {sorted(inputs)}")
        value = inputs[name]
        if isinstance(value, (list, tuple)):
            lines += [str(len(value)), " ".join(map(str, value))]
        else:
            lines.append(str(value))
        if kind == "str" and not _LINE.fullmatch(lines[-1]):
            raise IrError(f"the input {name!r} cannot stand on a line: {value!r:.80}")
    return "".join(f"{line}\n" for line in lines)
