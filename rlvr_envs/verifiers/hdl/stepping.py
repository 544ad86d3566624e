"""A step of a design as a Python function: one whole number a signal, one lane of it a run.

Most wrong designs show it within a few steps, which are done gate by gate. From then on the
function is compiled from text. The text is made here from the graph, and whatever of the graph
enters it is a whole number that was parsed and checked: there is no name, no string and no other
text of a design in it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from types import CodeType, FunctionType
from weakref import WeakKeyDictionary

from rlvr_envs.verifiers.hdl.aig import Aig

State = tuple[int, ...]
# Inputs, free inputs, state, and all lanes at 1; gives outputs and the next state.
Step = Callable[[Sequence[int], Sequence[int], State, int], tuple[State, State]]

# Steps that are done gate by gate: about as many take the time of compiling.
PLAIN_STEPS = 16

# An expression is written into the one that uses it, up to this length.
_LONGEST = 160


class Stepper:
    """Runs a design step by step.

    Attributes:
        start: the state before the first step.
        cost: of a step, in gates; a latch or free input counts as one.
    """

    def __init__(self, design: Aig) -> None:
        used = design.used()
        latches = [row for row in design.latches if row[0] in used]
        gates = [row for row in design.gates if row[0] in used]
        rows = (*design.outputs.values(), *(design.unknown[name] for name in design.unknown))
        self._gates = gates
        self._inputs = [bit for bits in design.inputs.values() for bit in bits]
        self._free = design.free
        self._latches = [number for number, _ in latches]
        self._outputs = [literal for row in rows for literal in row]
        self._next = [after for _, after in latches]
        self._variables = 1 + max([0, *self._inputs, *self._free, *used])
        self._plain_steps = 0
        self._compiled: Step | None = None
        self.start: State = (0,) * len(latches)
        self.cost = len(gates) + len(latches) + len(design.free)

    def step(
        self, inputs: Sequence[int], free: Sequence[int], state: State, full: int
    ) -> tuple[State, State]:
        """Return the outputs and whether each is x, and the next state.

        Args:
            inputs: of the ports in their order, the lowest bit first, as are the outputs.
            free: the free inputs.
            state: before the step.
            full: the number all of whose lanes are 1.
        """
        if self._compiled is None and self._plain_steps >= PLAIN_STEPS:
            self._compiled = self._compile()
        if self._compiled is not None:
            return self._compiled(inputs, free, state, full)
        self._plain_steps += 1
        values = [0, full] * self._variables  # by literal
        given = (self._inputs, inputs), (self._free, free), (self._latches, state)
        for variables, bits in given:
            for variable, bit in zip(variables, bits, strict=True):
                values[2 * variable : 2 * variable + 2] = bit, full ^ bit
        for gate, left, right in self._gates:
            bit = values[left] & values[right]
            values[2 * gate] = bit
            values[2 * gate + 1] = full ^ bit
        outputs = tuple([values[literal] for literal in self._outputs])
        return outputs, tuple([values[literal] for literal in self._next])

    def _compile(self) -> Step:
        """Return the same as a function."""
        text = _Text(self._gates, [*self._outputs, *self._next])
        lines = [
            "def step(inputs, free, state, full):",
            _unpack(self._inputs, "inputs"),
            _unpack(self._free, "free"),
            _unpack(self._latches, "state"),
            *text.lines,
            f" outputs={_pack(map(text.literal, self._outputs))}",
            f" return outputs, {_pack(map(text.literal, self._next))}",
        ]
        module = compile("\n".join(lines), "<design>", "exec")
        code = next(part for part in module.co_consts if isinstance(part, CodeType))
        return FunctionType(code, {"__builtins__": {}})


_made: WeakKeyDictionary[Aig, Stepper] = WeakKeyDictionary()


def stepper(design: Aig) -> Stepper:
    """Return the stepper of a design, made once for as long as the design is kept."""
    found = _made.get(design)
    if found is None:
        found = _made[design] = Stepper(design)
    return found


def _unpack(variables: Sequence[int], source: str) -> str:
    return f" {''.join(f'v{number},' for number in variables)}={source}" if variables else " pass"


def _pack(expressions: Iterable[str]) -> str:
    return f"({''.join(f'{expression},' for expression in expressions)})"


class _Text:
    """The gates as assignments.

    Exclusive or takes three gates, and one operation here. A gate that one other reads is written
    into it.
    """

    def __init__(self, gates: Sequence[tuple[int, int, int]], roots: Sequence[int]) -> None:
        self.lines: list[str] = []
        self._expressions: dict[int, str] = {0: "0"}
        read = {gate: (left, right) for gate, left, right in gates}
        exclusive = {gate: pair for gate in read if (pair := _exclusive(gate, read))}
        uses = Counter(literal >> 1 for literal in roots)
        for gate, pair in reversed(read.items()):
            if uses[gate]:
                uses.update(literal >> 1 for literal in exclusive.get(gate, pair))
        for gate, pair in read.items():
            if not uses[gate]:
                continue
            if gate in exclusive:
                left, right = exclusive[gate]
                flip = (left ^ right) & 1
                text = f"{self.literal(left & ~1)}^{self.literal(right & ~1)}{'^full' * flip}"
            else:
                text = f"{self.literal(pair[0])}&{self.literal(pair[1])}"
            if uses[gate] == 1 and len(text) < _LONGEST:
                self._expressions[gate] = f"({text})"
            else:
                self.lines.append(f" v{gate}={text}")

    def literal(self, literal: int) -> str:
        number = literal >> 1
        if number == 0:
            return "full" if literal & 1 else "0"
        plain = self._expressions.get(number, f"v{number}")
        return f"(full^{plain})" if literal & 1 else plain


def _exclusive(gate: int, read: dict[int, tuple[int, int]]) -> tuple[int, int] | None:
    """Return two literals whose exclusive or a gate is, if it is that of three gates."""
    left, right = read[gate]
    if not (left & 1 and right & 1 and left >> 1 in read and right >> 1 in read):
        return None
    one, other = read[left >> 1], read[right >> 1]
    # Neither both of one pair nor both of their complements: exactly one of a pair.
    return one if {one[0] ^ 1, one[1] ^ 1} == set(other) else None
