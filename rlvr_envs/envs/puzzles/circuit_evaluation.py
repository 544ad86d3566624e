"""Circuit evaluation: the outputs of gates and registers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

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
_LISTED = 100  # cycles for which values of the inputs are listed
_COMPARED = 24  # circuits of which the one whose registers repeat last is taken


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitEvaluationConfig(TaskConfig):
    """The size of the circuit, and for how many clock cycles it runs."""

    n_inputs: int = knob(5, "inputs of the circuit", low=2, high=1000)
    n_gates: int = 16
    n_outputs: int = knob(4, "outputs of the circuit", low=2)
    n_registers: int = knob(0, "registers", low=0, high=1000)
    n_cycles: int = knob(1, "clock cycles", low=1, high=10**12)
    steady: bool = knob(
        False, "inputs keep their values, and the cycle asked for is drawn up to n_cycles"
    )
    shuffled: bool = knob(True, "list the gates in random order")

    def check(self) -> None:
        if not self.n_outputs <= self.n_gates <= 1000:
            raise ConfigError(f"n_gates must be from n_outputs to 1000, got {self}")
        if self.n_cycles > 1 and (not self.n_registers):
            raise ConfigError(f"n_cycles must be 1 where n_registers is 0, got {self}")
        if self.n_cycles > _LISTED and not self.steady:
            raise ConfigError(f"n_cycles above {_LISTED} needs steady inputs, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "CircuitEvaluationConfig":
        """The circuit grows, gates in random order from 3; registers from 4; far cycles from 6."""
        if difficulty < 6:
            n_registers = max(0, difficulty - 3)
            return cls(
                n_inputs=3 + difficulty // 2,
                n_gates=6 + 2 * difficulty,
                n_outputs=5,
                n_registers=n_registers,
                n_cycles=1 + n_registers,
                shuffled=difficulty >= 3,
            )
        return cls(
            n_inputs=2,
            n_gates=min(2 * difficulty, 1000),
            n_outputs=6,
            n_registers=min(difficulty - 3, 12),
            n_cycles=10 ** min(difficulty - 4, 12),
            steady=True,
        )


@dataclass(frozen=True, slots=True)
class Input:
    """A signal from outside, and its value in each cycle, or one value for all of them."""

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
    """A circuit, the names of the signals that are asked for, and in which cycle."""

    inputs: tuple[Input, ...]
    registers: tuple[Register, ...]
    gates: tuple[Gate, ...]
    outputs: tuple[str, ...]
    n_cycles: int
    bits: str = hidden()


@register("CircuitEvaluation-v0", domain="puzzles")
class CircuitEvaluationTask(Task[CircuitEvaluationConfig, CircuitEvaluationProblem]):
    """Find the outputs of a logic circuit.

    Description:
        A random circuit of gates; the larger ones also have registers, which carry values from
        one clock cycle to the next. A signal is 0 or 1 with equal probability. Where the inputs
        are steady, the cycle asked for is too far away to get there one by one, but the registers
        soon have the values of an earlier cycle; of a few circuits, the one in which that happens
        last is taken.

    Observation:
        The values of the inputs, the registers, the gates as a list, and what each kind does.

    Action:
        The values of the outputs in the last cycle, as a string of bits.

    Reward:
        1 if every bit is right, otherwise 0.

    Verification:
        The circuit is simulated. No known gaps.

    Difficulty:
        First the number of gates grows; then they are no longer listed in order of evaluation;
        then there are registers and a few cycles. From level 6 the cycle asked for is far away, and
        one has to find the period; registers make it longer. Random bits for k outputs are right
        with probability 2**-k.

    References:
        Shannon, "A Symbolic Analysis of Relay and Switching Circuits", 1938.
    """

    def generate(self, rng: Rng) -> CircuitEvaluationProblem:
        if not self.config.steady:
            return self._draw(rng, self.config.n_cycles)
        drawn = [self._draw(rng, self.config.n_cycles) for _ in range(_COMPARED)]
        return max(drawn, key=self.effort)

    def _draw(self, rng: Rng, n_cycles: int) -> CircuitEvaluationProblem:
        config = self.config
        listed = 1 if config.steady else n_cycles
        if config.steady:
            n_cycles = integer(rng, n_cycles // 2 + 1, n_cycles)
        inputs = tuple(
            Input(f"i{k}", "".join(map(str, integers(rng, 0, 1, listed))))
            for k in range(1, config.n_inputs + 1)
        )
        carried = [f"r{k}" for k in range(1, config.n_registers + 1)]
        names = [f"g{k + 1}" for k in range(config.n_gates)]
        if config.shuffled:
            names = [names[k] for k in rng.permutation(config.n_gates).tolist()]
        gates = _gates(rng, [item.name for item in inputs] + carried, names)
        late = names[len(names) // 2 :]
        order = rng.permutation(len(late)).tolist()
        registers = tuple(
            Register(name, integer(rng, 0, 1), late[order[k % len(late)]])
            for k, name in enumerate(carried)
        )
        if config.shuffled:
            gates.sort(key=lambda gate: int(gate.name[1:]))
        outputs = tuple(names[-config.n_outputs :])
        problem = CircuitEvaluationProblem(
            inputs, registers, tuple(gates), outputs, n_cycles, bits=""
        )
        return replace(problem, bits=simulate(problem))

    def prompt(self, problem: CircuitEvaluationProblem) -> str:
        n_cycles = problem.n_cycles
        gates = "\n".join(f"{g.name} = {g.kind}({', '.join(g.sources)})" for g in problem.gates)
        kinds = {gate.kind for gate in problem.gates}
        meanings = "\n".join(f"- {GATES[kind][1]}" for kind in GATES if kind in kinds)
        if problem.registers:
            cycles = "1 clock cycle" if n_cycles == 1 else f"{n_cycles} clock cycles"
            values = (
                "one value for each cycle, in order"
                if len(problem.inputs[0].values) == n_cycles
                else "which keep their values in all cycles"
            )
            intro = f"A logic circuit runs for {cycles}. It has these inputs, {values}:"
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
        bits = simulate(problem)
        return Verdict.correct() if "".join(grid[0]) == bits else Verdict.wrong("a bit is wrong")

    def solve(self, problem: CircuitEvaluationProblem) -> str:
        return problem.bits

    def explain(self, problem: CircuitEvaluationProblem) -> list[str]:
        """Return the value of each gate that the outputs need, cycle by cycle."""
        needed = list(problem.outputs)
        sources = {gate.name: gate.sources for gate in problem.gates}
        sources |= {register.name: (register.source,) for register in problem.registers}
        for name in needed:  # grows while it is read
            needed += [source for source in sources.get(name, ()) if source not in needed]
        order = [gate for gate in _in_order(problem) if gate.name in needed]
        state = [register.name for register in problem.registers if register.name in needed]
        steps = []
        for cycle, values in enumerate(_cycles(problem), 1):
            where = f"Cycle {cycle}: " if problem.registers else ""
            if state:
                steps.append(where + ", ".join(f"{name} = {values[name]}" for name in state))
            for gate in order:
                given = ", ".join(str(values[name]) for name in gate.sources)
                said = f"{gate.kind}({', '.join(gate.sources)}) = {gate.kind}({given})"
                steps.append(f"{where}{gate.name} = {said} = {values[gate.name]}")
        cycles = list(_cycles(problem))
        after, like = len(cycles) + 1, _same_as(problem, problem.n_cycles)
        if after <= problem.n_cycles:
            steps.append(
                f"Cycle {after} starts like cycle {_same_as(problem, after)}, so the cycles repeat "
                f"from there on, and cycle {problem.n_cycles} is like cycle {like}."
            )
            steps += [
                f"Cycle {problem.n_cycles}: {name} = {cycles[like - 1][name]}"
                for name in problem.outputs
            ]
        return steps

    def effort(self, problem: CircuitEvaluationProblem) -> int:
        """Count the gates that are evaluated until the last cycle, or until all repeats."""
        return len(problem.gates) * sum(1 for _ in _cycles(problem))

    def baseline(self, rng: Rng, problem: CircuitEvaluationProblem) -> str:
        """Toss a coin for each bit."""
        return "".join(map(str, integers(rng, 0, 1, len(problem.outputs))))


def _gates(rng: Rng, signals: Sequence[str], names: Sequence[str]) -> list[Gate]:
    """Draw gates, each of which may depend on the signals and on the gates before it."""
    signals, gates = list(signals), []
    for name in names:
        kind = "MUX" if integer(rng, 0, 7) == 0 else "NOT" if integer(rng, 0, 7) == 0 else ""
        kind = kind or pick(rng, _TWO_INPUTS)
        gates.append(Gate(name, kind, _sources(rng, signals, _ARITY.get(kind, 2))))
        signals.append(name)
    return gates


def _sources(rng: Rng, signals: Sequence[str], count: int) -> tuple[str, ...]:
    """Draw different signals, one of them a late one, in random order."""
    late = len(signals) - integer(rng, 1, min(_RECENT, len(signals)))
    others = [k for k in rng.permutation(len(signals))[:count].tolist() if k != late]
    chosen = [late, *others][:count]
    return tuple(signals[chosen[k]] for k in rng.permutation(count).tolist())


def simulate(problem: CircuitEvaluationProblem) -> str:
    """Return the outputs in the last cycle.

    Raises:
        RowError: a gate waits for itself, or for a signal that does not exist.
    """
    cycles = list(_cycles(problem))
    values = cycles[_same_as(problem, problem.n_cycles) - 1]
    return "".join(str(values[name]) for name in problem.outputs)


def _cycles(problem: CircuitEvaluationProblem) -> Iterator[dict[str, int]]:
    """Yield the values of all signals in each cycle, until all cycles to come repeat others."""
    order = _in_order(problem)
    state = {register.name: register.start for register in problem.registers}
    steady = len(problem.inputs[0].values) < problem.n_cycles
    seen = set[tuple[int, ...]]()
    for cycle in range(problem.n_cycles):
        if steady and tuple(state.values()) in seen:
            return
        seen.add(tuple(state.values()))
        given = {item.name: int(item.values[0 if steady else cycle]) for item in problem.inputs}
        values = given | state
        for gate in order:
            values[gate.name] = GATES[gate.kind][0](*(values[name] for name in gate.sources))
        yield values
        state = {register.name: values[register.source] for register in problem.registers}


def _same_as(problem: CircuitEvaluationProblem, cycle: int) -> int:
    """Return the first cycle that is like a given one; cycles count from 1."""
    cycles = list(_cycles(problem))
    if cycle <= len(cycles):
        return cycle
    after = [cycles[-1][register.source] for register in problem.registers]
    starts = [[values[register.name] for register in problem.registers] for values in cycles]
    first = starts.index(after)
    return first + 1 + (cycle - first - 1) % (len(cycles) - first)


def _in_order(problem: CircuitEvaluationProblem) -> list[Gate]:
    """Return the gates so that each comes after the gates that it depends on."""
    gates = problem.gates
    known = {*(i.name for i in problem.inputs), *(r.name for r in problem.registers)}
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
