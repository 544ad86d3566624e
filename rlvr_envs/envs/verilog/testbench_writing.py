"""TestbenchWriting: test inputs that distinguish a correct module from faulty ones."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rlvr_envs.core.errors import SandboxError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.hardware.design import TOP, Design
from rlvr_envs.generators.hardware.families import FAMILIES, check_families, draw_design
from rlvr_envs.generators.hardware.faults import Fault, draw_faults, graph_of
from rlvr_envs.generators.hardware.sizes import smaller_first, writing_effort
from rlvr_envs.generators.hardware.wording import LAYOUTS, wording
from rlvr_envs.verifiers.hdl.aig import Aig, NetlistError
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.miter import Schedule
from rlvr_envs.verifiers.hdl.stepping import stepper

Rows = tuple[tuple[int, ...], ...]
MOST_FAULTS = 32
_DULL_ROWS = 16  # of the tables that repeat one row
_FAULTY = (
    "There are hidden faulty versions of this module. Each has one mistake: a wrong operator, "
    "constant, bit, signal, reset or condition, or something missing. Write the inputs of a test "
    "that detects them. A faulty version is detected if, at some time in the test, one of its "
    "outputs differs from the output of the correct module. Do not write expected outputs: the "
    "correct module supplies them."
)


_SCORES = {
    "share": "Your score is the share of the faulty versions that the test detects.",
    "all": "Your score is 1 if the test detects all faulty versions, and 0 otherwise.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TestbenchWritingConfig(TaskConfig):
    """The design to test, the number of faulty versions, and the allowed length of the test."""

    __test__ = False  # pytest must not collect it

    level: int = knob(2, "difficulty of the design within its family", low=0)
    faults: int = knob(6, "number of faulty versions", low=1, high=MOST_FAULTS)
    slack: int = knob(
        200,
        "allowed rows, in percent of the number of rows of a known complete test",
        low=100,
        high=10000,
    )
    reward: str = knob(
        "share",
        '"share" scores the share of faulty versions detected; "all" scores 1 for all, else 0',
        choices=_SCORES,
    )
    families: tuple[str, ...] = knob((), "ids of design families to draw from; empty means all")

    def check(self) -> None:
        check_families(self.families)

    @classmethod
    def at(cls, difficulty: int) -> "TestbenchWritingConfig":
        """The design grows, three levels add two faulty versions, up to 10; rows become scarce.

        From 10 on the design grows by a level every 4 levels.
        """
        return cls(
            level=min(difficulty, (30 + difficulty) // 4),
            faults=min(2 + 2 * difficulty // 3, 10),
            slack=max(400 - 50 * difficulty, 110),
        )


@dataclass(frozen=True, slots=True)
class TestbenchWritingProblem:
    """A correct module, and the faulty ones that inputs should distinguish from it."""

    __test__ = False

    description: str
    golden: str
    ports: tuple[Port, ...]
    clocking: Clocking | None
    rows: int  # how many are allowed
    reward: str
    faulty: tuple[str, ...] = hidden()
    table: str = hidden()

    @property
    def reference(self) -> Reference:
        """The right module."""
        return Reference(self.golden, self.ports, self.clocking, TOP)


@register("TestbenchWriting-v0", domain="verilog", answer_format="fenced:csv")
class TestbenchWritingTask(Task[TestbenchWritingConfig, TestbenchWritingProblem]):
    """Write test inputs that distinguish a correct module from hidden faulty versions.

    Description:
        A design of one of the families has faulty versions, each with one small change such as
        designers make by mistake. The answer is a table of inputs, cycle by cycle, for which
        every faulty version shows a wrong output at some time. The answer has no expected
        outputs: the correct module supplies them.

    Observation:
        What the module does, its source, the columns of the table, and how many rows it may have.
        The faulty versions are not shown, only what kinds of mistakes they have.

    Action:
        The table as one block of CSV: names of the inputs in the first line, then a line of
        numbers (decimal, 0x or 0b) for each cycle.

    Reward:
        The share of the faulty versions that show a wrong output; with ``reward="all"`` 1 for all
        of them, otherwise 0. A table with too many rows, another header, or anything that is not
        a number of the port's width earns 0.

    Verification:
        The correct module and each faulty one are elaborated alone and run on exactly these
        inputs by a built-in simulator. A cycle of reset precedes the first row. Undetermined
        values of a faulty module are tried as 0 and as 1. A known table, joined from shortest
        runs, detects each fault within the allowed rows; tables that repeat one row of zeros or
        ones detect few of them.

    Difficulty:
        The design grows, so does the number of faulty versions, and fewer spare rows are allowed.

    References:
        DeMillo, Lipton and Sayward, "Hints on Test Data Selection", 1978, for judging tests by
        the faulty programs that they detect; Qiu et al., "AutoBench", 2024, for testbenches written
        by language models.
    """

    __test__ = False
    judged_in_sandbox = True

    def generate(self, rng: Rng) -> TestbenchWritingProblem:
        config = self.config
        layout = integer(rng, 0, LAYOUTS - 1)
        drawn = draw_design(rng, config.level, config.families or FAMILIES)
        design, _, _ = smaller_first(drawn)
        gold = _graph(design.golden, design.reference)
        faults = draw_faults(rng, design, config.faults, _Choice(design, gold, config.faults))
        rows, kept = _joined(gold, faults, design.reference)
        return TestbenchWritingProblem(
            description=wording(design, layout, terms=False),
            golden=design.golden,
            ports=design.reference.ports,
            clocking=design.clocking,
            rows=-(-len(rows) * config.slack // 100),
            reward=config.reward,
            faulty=tuple(fault.source for fault in kept),
            table=written(rows, columns(design.reference)),
        )

    def prompt(self, problem: TestbenchWritingProblem) -> str:
        names = ", ".join(f"`{port.name}`" for port in columns(problem.reference))
        parts = [
            "Here is the specification of a module:",
            f"---\n\n{problem.description}\n\n---",
            f"Here is a correct implementation:\n\n```verilog\n{problem.golden.strip()}\n```",
            _FAULTY,
            _SCORES[problem.reward],
            _table(names, problem.rows),
            _cycles(problem.clocking),
        ]
        return "\n\n".join(parts)

    def verify(self, problem: TestbenchWritingProblem, answer: str) -> Verdict:
        reference = problem.reference
        try:
            rows = read_table(answer, columns(reference), problem.rows)
        except Unreadable as error:
            return Verdict.unparsable(str(error))
        try:
            gold = _graph(problem.golden, reference)
            faulty = [_graph(source, reference) for source in problem.faulty]
        except (SandboxError, NetlistError) as error:
            return Verdict.verifier_error(str(error))
        found = sum(told(gold, faulty, reference, rows))
        parts = {"told": float(found), "faulty": float(len(faulty)), "rows": float(len(rows))}
        detail = f"the test detected {found} of {len(faulty)} faulty modules"
        if problem.reward == "all" and found < len(faulty):
            return Verdict.wrong(detail, **parts)
        return Verdict.graded(found / len(faulty), detail, **parts)

    def solve(self, problem: TestbenchWritingProblem) -> str:
        return problem.table

    def effort(self, problem: TestbenchWritingProblem) -> float:
        """Return the effort of the module, once for each fault, and more where rows are scarce.

        It is weighted by the rows of the known test over the rows that are allowed.
        """
        scarce = problem.table.count("\n") / problem.rows
        return writing_effort(problem.golden) * len(problem.faulty) * scarce

    def baseline(self, rng: Rng, problem: TestbenchWritingProblem) -> str:
        """Return a test of a single row of zeros."""
        ports = columns(problem.reference)
        return written((tuple(0 for _ in ports),), ports)


def _table(names: str, most: int) -> str:
    rows = "1 row" if most == 1 else f"{most} rows"
    return (
        "Answer with a table in CSV form. The first line names each of these inputs once, "
        f"separated by commas: {names}. Then follow at least 1 and at most {rows}. Each row gives "
        "one value for every input, in the order of the first line, as an unsigned number: "
        "decimal, hexadecimal (0x...) or binary (0b...). A table with a wrong header, too many "
        "rows, or a value that does not fit its input scores 0."
    )


def _cycles(clocking: Clocking | None) -> str:
    if clocking is None:
        return "The module is combinational, so each row is a test of its own."
    text = (
        f"Each row is one clock cycle; `{clocking.clock}` has no column. The outputs are compared "
        "while the values of the row are applied, just before the rising clock edge that ends the "
        "cycle."
    )
    if clocking.reset:
        text += (
            f" Before the first row, there is one extra cycle in which `{clocking.reset}` is "
            f"{clocking.reset_active} and all other inputs are 0. From the first row on, "
            f"`{clocking.reset}` has the values of the table."
        )
    return text


def _graph(source: str, reference: Reference) -> Aig:
    """Return the graph of a source of the problem.

    Raises:
        SandboxError: it cannot be elaborated, though it could when the problem was made.
    """
    found = graph_of(source, reference)
    if found is None:
        raise SandboxError("a module of the problem cannot be elaborated")
    return found


class _Choice:
    """Takes faults that a run tells, and of those that any dull run tells only a few."""

    def __init__(self, design: Design, gold: Aig, count: int) -> None:
        self._gold, self._reference = gold, design.reference
        ports, clocking = columns(design.reference), design.clocking
        reset = "" if clocking is None else clocking.reset
        off = 0 if clocking is None else 1 - clocking.reset_active
        self._dull = [
            _Test(
                gold,
                design.reference,
                (tuple(off if p.name == reset else ones * ((1 << p.width) - 1) for p in ports),)
                * _DULL_ROWS,
            )
            for ones in (0, 1)
        ]
        self._left = max(1, count // 4)

    def __call__(self, fault: Fault) -> bool:
        rows = _rows(fault, self._reference, skip=True)
        if not _Test(self._gold, self._reference, rows).tells(fault.graph):
            return False
        if any(test.tells(fault.graph) for test in self._dull):
            self._left -= 1
            return self._left >= 0
        return True


def _rows(fault: Fault, reference: Reference, *, skip: bool) -> Rows:
    """Return the run in which a fault shows, with or without its cycle of reset."""
    names = list(fault.graph.inputs)
    place = [names.index(port.name) for port in columns(reference)]
    held = 1 if skip and reference.clocking is not None and reference.clocking.reset else 0
    return tuple(tuple(row[at] for at in place) for row in fault.difference.inputs[held:])


def _joined(
    gold: Aig, faults: tuple[Fault, ...], reference: Reference
) -> tuple[Rows, tuple[Fault, ...]]:
    """Return a table that tells faults, and which it tells; those with long runs come first."""
    rows: Rows = ()
    missed = []
    test = _Test(gold, reference, rows)
    for fault in sorted(faults, key=lambda fault: -fault.difference.cycle):
        if test.tells(fault.graph):
            continue
        for skip in (True, False):  # a run may also begin where the last one ended
            longer = rows + _rows(fault, reference, skip=skip)
            tried = _Test(gold, reference, longer)
            if tried.tells(fault.graph):
                rows, test = longer, tried
                break
        else:
            missed.append(fault)
    return rows, tuple(fault for fault in faults if fault not in missed)


# Inputs of a design as a table of text, and which faulty designs they tell from the right one.


# Two runs at a time: what nothing determines is 0 in one and 1 in the other.
_BOTH, _ONE = 0b11, 0b10
_BETWEEN = re.compile(r"[ \t]*+,[ \t]*+|[ \t]++")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]++|0[bB][01]++|[0-9]++", re.ASCII)
_LONGEST = 300  # characters of a number: binary ones of the widest ports have fewer
_SHOWN = 40


class Unreadable(Exception):
    """A text is not a table of the requested inputs; the argument is a sentence that says why."""


def columns(reference: Reference) -> tuple[Port, ...]:
    """Return the ports that a table has: all inputs but the clock."""
    clock = "" if reference.clocking is None else reference.clocking.clock
    return tuple(p for p in reference.ports if p.direction == "input" and p.name != clock)


def read_table(text: str, ports: Sequence[Port], most: int) -> Rows:
    """Return the rows of a table, each in the order of some ports, whatever order it has.

    Args:
        text: a line of names, then lines of numbers: decimal, 0x or 0b, with commas or white space
            between; from anybody.
        ports: whose values are wanted.
        most: how many rows it may have.

    Raises:
        Unreadable: it is something else.
    """
    lines = [line.strip(" \t\r") for line in text.strip().split("\n", 2 * most + 64)]
    lines = [line for line in lines if line]
    wanted = {port.name: port for port in ports}
    names = _BETWEEN.split(lines[0][: 80 * len(ports) + 80]) if lines else []
    if sorted(names) != sorted(wanted):
        raise Unreadable(
            f"the first line must name each of {', '.join(wanted)} once and nothing else, got "
            f"{', '.join(names)!r:.{_SHOWN}}"
        )
    if not 1 < len(lines) <= most + 1:
        raise Unreadable(f"the table must have between 1 and {most} rows of numbers")
    place = [names.index(port.name) for port in ports]
    rows = []
    for number, line in enumerate(lines[1:], 1):
        words = _BETWEEN.split(line[: (_LONGEST + 8) * len(ports)])
        if len(words) != len(names):
            raise Unreadable(f"row {number} has {len(words)} values, the header {len(names)} names")
        rows.append(
            tuple(_value(words[at], port, number) for at, port in zip(place, ports, strict=True))
        )
    return tuple(rows)


def _value(word: str, port: Port, row: int) -> int:
    if len(word) > _LONGEST or not _NUMBER.fullmatch(word):
        raise Unreadable(
            f"row {row}: {word!r:.{_SHOWN}} is not an unsigned number (decimal, 0x... or 0b...)"
        )
    base = {"x": 16, "b": 2}.get(word[1:2].lower(), 10)
    value = int(word[2:] if base != 10 else word, base)
    if value >> port.width:
        raise Unreadable(
            f"row {row}: {word:.{_SHOWN}} does not fit `{port.name}`, which has {port.size}"
        )
    return value


def written(rows: Rows, ports: Sequence[Port]) -> str:
    """Return a table as text."""
    lines = [",".join(port.name for port in ports)]
    lines += [",".join(map(str, row)) for row in rows]
    return "\n".join(lines)


def told(gold: Aig, faulty: Sequence[Aig], reference: Reference, rows: Rows) -> list[bool]:
    """Return which faulty designs show a wrong output in the run of a table.

    Where there is a reset, a cycle with the reset active and all else 0 goes before the first row.
    An output of a faulty design that nothing determines is wrong if either of its values is; one
    of the right design is not looked at.
    """
    test = _Test(gold, reference, rows)
    return [test.tells(graph) for graph in faulty]


class _Test:
    """A table and what the correct module shows in its rows."""

    def __init__(self, gold: Aig, reference: Reference, rows: Rows) -> None:
        schedule = Schedule.of(reference, clocked=True)
        ports = columns(reference)
        start = tuple(schedule.active if port.name == schedule.reset else 0 for port in ports)
        self._held = schedule.held
        places = {port.name: place for place, port in enumerate(ports)}
        bits = [  # of the table's columns; the clock has none, and stays 0
            (places.get(name, -1), number)
            for name, literals in gold.inputs.items()
            for number in range(len(literals))
        ]
        self._steps = [
            [_BOTH if place >= 0 and row[place] >> number & 1 else 0 for place, number in bits]
            for row in ((start,) if schedule.held else ()) + rows
        ]
        self._right = list(self._run(gold))

    def tells(self, graph: Aig) -> bool:
        """Return whether a module shows a wrong output in some row."""
        for expected, got in zip(self._right, self._run(graph), strict=True):
            if expected != got and any(
                one != other and one in (0, _BOTH) for one, other in zip(expected, got, strict=True)
            ):
                return True
        return False

    def _run(self, graph: Aig) -> Iterator[tuple[int, ...]]:
        """Yield the bits of all outputs in each row."""
        design = stepper(graph)
        free, state = [_ONE] * len(graph.free), design.start
        for number, bits in enumerate(self._steps):
            outputs, state = design.step(bits, free, state, _BOTH)
            if number >= self._held:
                yield outputs
