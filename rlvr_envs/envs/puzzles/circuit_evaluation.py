"""Circuit evaluation: the outputs of gates and registers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.verifiers.grids import read_grid

# Kind of gate: its value, and when it is 1. For each kind there is one that is 0 as often.
GATES: dict[str, tuple[Callable[..., int], str]] = {
    "AND": (lambda a, b: a & b, "AND: both inputs are 1."),
    "NAND": (lambda a, b: 1 - (a & b), "NAND: at least one input is 0."),
    "OR": (lambda a, b: a | b, "OR: at least one input is 1."),
    "NOR": (lambda a, b: 1 - (a | b), "NOR: both inputs are 0."),
    "XOR": (lambda a, b: a ^ b, "XOR: the inputs are different."),
    "XNOR": (lambda a, b: 1 - (a ^ b), "XNOR: the inputs are equal."),
    "NOT": (lambda a: 1 - a, "NOT: the input is 0."),
    "MUX": (
        lambda s, a, b: b if s else a,
        "MUX(s, x, y): s is 0 and x is 1, or s is 1 and y is 1.",
    ),
}
_ARITY = {"NOT": 1, "MUX": 3}
_TWO_INPUTS = ("AND", "NAND", "OR", "NOR", "XOR", "XNOR")
_RECENT = 6  # one input of a gate is among this many latest signals, which makes circuits deep


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitEvaluationConfig(TaskConfig):
    """The size of the circuit, and for how many clock cycles it runs."""

    n_inputs: int = knob(5, "inputs of the circuit", low=2, high=1000)
    n_gates: int = 16
    n_outputs: int = knob(4, "outputs of the circuit", low=2)
    n_registers: int = knob(0, "registers", low=0, high=1000)
    n_cycles: int = knob(1, "clock cycles", low=1, high=100)
    shuffled: bool = knob(True, "list the gates in random order")

    def check(self) -> None:
        if not self.n_outputs <= self.n_gates <= 1000:
            raise ConfigError(f"n_gates must be from n_outputs to 1000, got {self}")
        if self.n_cycles > 1 and (not self.n_registers):
            raise ConfigError(f"n_cycles must be 1 where n_registers is 0, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "CircuitEvaluationConfig":
        """The circuit grows; from level 3 gates are in random order, from 4 there are registers."""
        n_registers = max(0, difficulty // 2 - 1)
        return cls(
            n_inputs=3 + difficulty // 2,
            n_gates=min(4 + 3 * difficulty, 1000),
            n_outputs=3 + difficulty // 2,
            n_registers=n_registers,
            n_cycles=min(difficulty // 2, 100) if n_registers else 1,
            shuffled=difficulty >= 3,
        )


@dataclass(frozen=True, slots=True)
class Input:
    """A signal from outside, and its value in each cycle as 0s and 1s."""

    name: str
    values: str


@dataclass(frozen=True, slots=True)
class Gate:
    """A signal that depends on others at once."""

    name: str
    kind: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Register:
    """A signal that takes a source's value of one cycle in the next one."""

    name: str
    start: int
    source: str


@dataclass(frozen=True, slots=True)
class CircuitEvaluationProblem:
    """A circuit, and the names of the signals that are asked for."""

    inputs: tuple[Input, ...]
    registers: tuple[Register, ...]
    gates: tuple[Gate, ...]
    outputs: tuple[str, ...]
    bits: str = hidden()


@register("CircuitEvaluation-v0", domain="puzzles")
class CircuitEvaluationTask(Task[CircuitEvaluationConfig, CircuitEvaluationProblem]):
    """Find the outputs of a logic circuit.

    Description:
        A random circuit of gates; the larger ones also have registers, which carry values from
        one clock cycle to the next. A signal is 0 or 1 with equal probability.

    Observation:
        The values of the inputs, the registers, the gates as a list, and what each kind does.

    Action:
        The values of the outputs in the last cycle, as a string of bits.

    Reward:
        1 if every bit is right, otherwise 0.

    Verification:
        The circuit is simulated. No known gaps.

    Difficulty:
        Gates, inputs and outputs are added; then the list is no longer in order of evaluation, and
        there are registers and more cycles. Random bits for k outputs are right with probability
        2**-k.

    References:
        Shannon, "A Symbolic Analysis of Relay and Switching Circuits", 1938.
    """

    def generate(self, rng: Rng) -> CircuitEvaluationProblem:
        config = self.config
        inputs = tuple(
            Input(f"i{k}", "".join(map(str, integers(rng, 0, 1, config.n_cycles))))
            for k in range(1, config.n_inputs + 1)
        )
        carried = [f"r{k}" for k in range(1, config.n_registers + 1)]
        names = [f"g{k + 1}" for k in range(config.n_gates)]
        if config.shuffled:
            names = [names[k] for k in rng.permutation(config.n_gates).tolist()]
        signals = [item.name for item in inputs] + carried
        gates = []
        for name in names:
            kind = "MUX" if integer(rng, 0, 7) == 0 else "NOT" if integer(rng, 0, 7) == 0 else ""
            kind = kind or pick(rng, _TWO_INPUTS)
            gates.append(Gate(name, kind, _sources(rng, signals, _ARITY.get(kind, 2))))
            signals.append(name)
        registers = tuple(
            Register(name, integer(rng, 0, 1), pick(rng, names[len(names) // 2 :]))
            for name in carried
        )
        if config.shuffled:
            gates.sort(key=lambda gate: int(gate.name[1:]))
        outputs = tuple(names[-config.n_outputs :])
        return CircuitEvaluationProblem(
            inputs, registers, tuple(gates), outputs, simulate(inputs, registers, gates, outputs)
        )

    def prompt(self, problem: CircuitEvaluationProblem) -> str:
        n_cycles = len(problem.inputs[0].values)
        gates = "\n".join(f"{g.name} = {g.kind}({', '.join(g.sources)})" for g in problem.gates)
        kinds = {gate.kind for gate in problem.gates}
        meanings = "\n".join(f"- {GATES[kind][1]}" for kind in GATES if kind in kinds)
        if problem.registers:
            cycles = "1 clock cycle" if n_cycles == 1 else f"{n_cycles} clock cycles"
            intro = (
                f"A logic circuit runs for {cycles}. It has these inputs, with one value for each "
                "cycle, in order:"
            )
            inputs = "\n".join(f"{i.name}: {' '.join(i.values)}" for i in problem.inputs)
            lines = [
                f"{r.name}: {r.start} in the first cycle; in every later cycle, the value of "
                f"{r.source} in the previous cycle"
                for r in problem.registers
            ]
            state = "\n\nRegisters:\n\n" + "\n".join(lines)
            when = f" in cycle {n_cycles}"
        else:
            intro = "A logic circuit has these inputs:"
            inputs = "\n".join(f"{i.name} = {i.values}" for i in problem.inputs)
            state = when = ""
        asked = ", ".join(problem.outputs)
        return (
            f"{intro}\n\n{inputs}{state}\n\nGates:\n\n{gates}\n\nA gate outputs 1 in the "
            f"case listed here, and 0 otherwise:\n{meanings}\n\n"
            f"What are the values of {asked}{when}? Answer with these {len(problem.outputs)} bits, "
            "in this order."
        )

    def verify(self, problem: CircuitEvaluationProblem, answer: str) -> Verdict:
        grid = read_grid(answer, 1, len(problem.outputs), "01")
        if grid is None:
            return Verdict.unparsable(f"expected {len(problem.outputs)} bits")
        bits = simulate(problem.inputs, problem.registers, problem.gates, problem.outputs)
        return Verdict.correct() if "".join(grid[0]) == bits else Verdict.wrong("a bit is wrong")

    def solve(self, problem: CircuitEvaluationProblem) -> str:
        return problem.bits

    def explain(self, problem: CircuitEvaluationProblem) -> list[str]:
        """Return the value of each gate that the outputs need, cycle by cycle."""
        known = {*(i.name for i in problem.inputs), *(r.name for r in problem.registers)}
        order = _in_order(problem.gates, known)
        needed = list(problem.outputs)
        sources = {gate.name: gate.sources for gate in problem.gates}
        sources |= {register.name: (register.source,) for register in problem.registers}
        for name in needed:  # grows while it is read
            needed += [source for source in sources.get(name, ()) if source not in needed]
        state = {r.name: r.start for r in problem.registers if r.name in needed}
        cycles = list(zip(*(item.values for item in problem.inputs), strict=True))
        steps = []
        for cycle, bits in enumerate(cycles, 1):
            values = state | {i.name: int(b) for i, b in zip(problem.inputs, bits, strict=True)}
            where = f"Cycle {cycle}: " if problem.registers else ""
            if state:
                steps.append(
                    where + ", ".join(f"{name} = {value}" for name, value in state.items())
                )
            for gate in order:
                if gate.name not in needed:
                    continue
                given = [values[name] for name in gate.sources]
                values[gate.name] = GATES[gate.kind][0](*given)
                said = f"{gate.kind}({', '.join(gate.sources)}) = {gate.kind}"
                steps.append(
                    f"{where}{gate.name} = {said}({', '.join(map(str, given))}) = "
                    f"{values[gate.name]}"
                )
            state = {r.name: values[r.source] for r in problem.registers if r.name in needed}
        return steps

    def effort(self, problem: CircuitEvaluationProblem) -> int:
        """Count the gates that are evaluated over all cycles."""
        return len(problem.gates) * len(problem.inputs[0].values)

    def baseline(self, rng: Rng, problem: CircuitEvaluationProblem) -> str:
        """Toss a coin for each bit."""
        return "".join(map(str, integers(rng, 0, 1, len(problem.outputs))))


def _sources(rng: Rng, signals: Sequence[str], count: int) -> tuple[str, ...]:
    """Draw different signals, one of them a late one, in random order."""
    late = len(signals) - integer(rng, 1, min(_RECENT, len(signals)))
    others = [k for k in rng.permutation(len(signals))[:count].tolist() if k != late]
    chosen = [late, *others][:count]
    return tuple(signals[chosen[k]] for k in rng.permutation(count).tolist())


def simulate(
    inputs: Sequence[Input],
    registers: Sequence[Register],
    gates: Sequence[Gate],
    outputs: Sequence[str],
) -> str:
    """Return the outputs in the last cycle.

    Raises:
        RowError: a gate waits for itself, or for a signal that does not exist.
    """
    state = {register.name: register.start for register in registers}
    order = _in_order(gates, {*state, *(item.name for item in inputs)})
    values: dict[str, int] = {}
    for bits in zip(*(item.values for item in inputs), strict=True):
        values = dict(state)
        values |= {item.name: int(bit) for item, bit in zip(inputs, bits, strict=True)}
        for gate in order:
            values[gate.name] = GATES[gate.kind][0](*(values[name] for name in gate.sources))
        state = {register.name: values[register.source] for register in registers}
    return "".join(str(values[name]) for name in outputs)


def _in_order(gates: Sequence[Gate], known: set[str]) -> list[Gate]:
    """Return the gates so that each comes after the gates that it depends on."""
    readers: dict[str, list[Gate]] = {}
    missing = {}
    for gate in gates:
        waits = [name for name in gate.sources if name not in known]
        missing[gate.name] = len(waits)
        for name in waits:
            readers.setdefault(name, []).append(gate)
    order = [gate for gate in gates if missing[gate.name] == 0]
    for gate in order:  # grows while it is read
        for reader in readers.get(gate.name, ()):
            missing[reader.name] -= 1
            if missing[reader.name] == 0:
                order.append(reader)
    if len(order) < len(gates):
        raise RowError("a gate waits for itself, or for a signal that does not exist")
    return order
