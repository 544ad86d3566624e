"""AssertionWriting: properties that hold for a module and fail for its faulty versions."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from rlvr_envs.core.errors import SandboxError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.faults import Fault, draw_faults
from rlvr_envs.generators.hardware.monitors import (
    MONITOR,
    finds_fault,
    judged,
    monitor_ports,
    read_monitor,
)
from rlvr_envs.generators.hardware.sizes import writing_effort
from rlvr_envs.generators.hardware.task import LANGUAGE
from rlvr_envs.generators.hardware.wording import LAYOUTS, wording
from rlvr_envs.verifiers.hdl.aig import NetlistError
from rlvr_envs.verifiers.hdl.assertions import (
    LONGEST_DELAY,
    LONGEST_SPAN,
    MOST_ASSERTIONS,
    AssertionRefused,
    monitor_of,
)
from rlvr_envs.verifiers.hdl.equivalence import ReferenceRefused
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.judge import refused
from rlvr_envs.verifiers.hdl.source import Refusal

MOST_FAULTS = 32
_CYCLES = re.compile(r"(?:##|\[\*)(\d+)")
_SCORES = {
    "share": "If any assertion ever fails for the correct module, your score is 0. Otherwise it is "
    "the share of the faulty versions for which an assertion fails.",
    "all": "Your score is 1 if no assertion ever fails for the correct module and one fails for "
    "every faulty version. Otherwise it is 0.",
}
_WANTED = (
    "Do not write this module. Write SystemVerilog assertions about its ports: they must hold for "
    "a module that follows the specification, for all inputs, and are tested with hidden faulty "
    "versions, each of which has one mistake."
)
_LANGUAGE = (
    "Write only assertions, each of one of these forms, with any number of spaces and lines:\n\n"
    "- `assert property (A |-> B);` if A matches, B must match from the cycle in which A ends\n"
    "- `assert property (A |=> B);` if A matches, B must match from the cycle after that\n"
    "- `assert property (B);` B must match from every cycle on\n\n"
    "A and B are sequences: a condition; `S ##n T` (T begins n cycles after the end of S); "
    "`S[*n]` (S n times, one after the other, each in the cycle after the end of the one before); "
    f"or a sequence in brackets. n is a number of at most {LONGEST_DELAY}, and an assertion spans "
    f"at most {LONGEST_SPAN} cycles. A condition is an expression of ports, constants, the "
    "operators `+ - & | ^ ~ ! && || == != < <= > >= << >> ?:`, bit selects, concatenations, and "
    "the functions `$past(e)`, `$past(e, n)`, `$stable(e)`, `$changed(e)`, `$rose(e)`, `$fell(e)`, "
    "`$countones(e)`, `$onehot(e)`, `$onehot0(e)`. Nothing else is allowed: no variables, modules, "
    "ranges such as `##[1:3]`, or operators such as `throughout`."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionWritingConfig(TaskConfig):
    """How many parts the module has, of which kinds, and the number of faulty versions."""

    parts: int = knob(2, "number of parts of the module", low=1, high=10)
    tier: int = knob(1, "0: next-cycle parts; 1: also delays; 2: also hidden counts", low=0, high=2)
    longest: int = knob(2, "longest time of a part, in cycles", low=2, high=12)
    hold: bool = knob(False, "whether an input holds all visible registers")
    faults: int = knob(6, "number of faulty versions", low=1, high=MOST_FAULTS)
    reward: str = knob(
        "share",
        '"share" scores the share of faulty versions detected; "all" scores 1 for all, else 0',
        choices=_SCORES,
    )

    @classmethod
    def at(cls, difficulty: int) -> "AssertionWritingConfig":
        """Odd levels add a part, up to 10, even ones a cycle, up to 12, and a fault, up to 10.

        Parts that take several cycles come at level 2, parts with hidden counts at level 5, and
        an input that holds registers at level 7.
        """
        return cls(
            parts=min(1 + (difficulty + 1) // 2, 10),
            tier=(difficulty >= 2) + (difficulty >= 5),
            longest=min(2 + difficulty // 2, 12),
            hold=difficulty >= 7,
            faults=min(3 + difficulty // 2, 10),
        )


@dataclass(frozen=True, slots=True)
class AssertionWritingProblem:
    """What a correct module does, and the faulty ones that assertions should detect."""

    description: str
    ports: tuple[Port, ...]
    clocking: Clocking
    reward: str
    golden: str = hidden()
    faulty: tuple[str, ...] = hidden()
    assertions: tuple[str, ...] = hidden()

    @property
    def reference(self) -> Reference:
        """The right module."""
        return Reference(self.golden, self.ports, self.clocking, hw.TOP)


@register("AssertionWriting-v0", domain="verilog", answer_format=LANGUAGE)
class AssertionWritingTask(Task[AssertionWritingConfig, AssertionWritingProblem]):
    """Write SystemVerilog assertions that hold for a module and fail for faulty versions of it.

    Description:
        A module of several parts is described: registers, counters, delays, timers. The answer
        is a list of concurrent assertions on its ports. They must never fail for the correct
        module, and should fail for hidden versions with one small mistake each.

    Observation:
        What the module does, its ports, and the part of the language that may be used.

    Action:
        The assertions as one block of SystemVerilog.

    Reward:
        0 if an assertion ever fails for the correct module. Otherwise the share of the hidden
        faulty versions for which one fails; with ``reward="all"`` 1 for all of them and 0 for
        less. Assertions that always hold, such as ``1 |-> 1``, detect none.

    Verification:
        Assertions are read by a parser of our own and written as a monitor in plain Verilog, so
        that no text of an answer reaches a tool. Attempts begin in each cycle and are dropped
        under reset, as by ``disable iff``. That no assertion fails for the correct module is
        decided by simulation and proof (see docs/verilog.md), for all inputs; faulty versions are
        simulated. Each fault is one that a complete set of assertions is known to detect.

    Difficulty:
        More parts, longer times, and states that have to be inferred from the past.

    References:
        IEEE 1800-2017, section 16, for assertions; Boule and Zilic, Generating Hardware Assertion
        Checkers, 2008, for monitors of them; Orenes-Vera et al. 2023, Using LLMs to Facilitate
        Formal Verification of RTL, arXiv:2309.09437, for such tasks.
    """

    judged_in_sandbox = True

    def generate(self, rng: Rng) -> AssertionWritingProblem:
        layout = integer(rng, 0, LAYOUTS - 1)
        clocking = hw.draw_clocking(rng)
        design, assertions = draw_module(rng, clocking, self.config)
        reference = design.reference
        monitor = read_monitor(
            monitor_of("\n".join(assertions), _header(reference), reference.ports, clocking),
            reference,
        )
        if isinstance(monitor, Refusal):
            raise SandboxError(f"assertions of {design.title} cannot be elaborated: {monitor}")

        def found(fault: Fault) -> bool:
            return finds_fault(fault.graph, monitor, reference)

        faults = draw_faults(rng, design, self.config.faults, found)
        return AssertionWritingProblem(
            description=wording(design, layout, terms=False),
            ports=reference.ports,
            clocking=clocking,
            reward=self.config.reward,
            golden=design.golden,
            faulty=tuple(fault.source for fault in faults),
            assertions=assertions,
        )

    def prompt(self, problem: AssertionWritingProblem) -> str:
        return "\n\n".join(
            [
                "Here is the specification of a module:",
                f"---\n\n{problem.description}\n\n---",
                _WANTED,
                _LANGUAGE,
                _meaning(problem.clocking),
                _SCORES[problem.reward],
            ]
        )

    def verify(self, problem: AssertionWritingProblem, answer: str) -> Verdict:
        reference = problem.reference
        try:
            source = monitor_of(answer, _header(reference), problem.ports, problem.clocking)
        except AssertionRefused as error:
            return Verdict.unparsable(str(error))
        try:
            monitor = read_monitor(source, reference)
            if isinstance(monitor, Refusal):
                return refused(monitor)
            verdict = judged(monitor, reference, problem.faulty, everything=problem.reward == "all")
        except (ReferenceRefused, NetlistError, SandboxError) as error:
            return Verdict.verifier_error(str(error))
        return replace(verdict, detail=_told(verdict.detail))

    def solve(self, problem: AssertionWritingProblem) -> str:
        return "\n".join(problem.assertions)

    def effort(self, problem: AssertionWritingProblem) -> float:
        """Return the effort of writing the module, times the logarithm of the cycles to look at.

        They are those of all assertions that tell the whole module.
        """
        text = " ".join(problem.assertions)
        cycles = len(problem.assertions) + sum(map(int, _CYCLES.findall(text)))
        return writing_effort(problem.golden) * math.log2(1 + cycles)

    def baseline(self, rng: Rng, problem: AssertionWritingProblem) -> str:
        """Return an assertion that always holds."""
        return f"assert property (@(posedge {problem.clocking.clock}) 1 |-> 1);"


def _header(reference: Reference) -> str:
    ports = ",\n".join(f"    {port.declaration()}" for port in monitor_ports(reference))
    return f"module {MONITOR} (\n{ports}\n);"


def _meaning(clocking: Clocking) -> str:
    """Return what the assertions of an answer mean."""
    reset = clocking.reset if clocking.reset_active else f"!{clocking.reset}"
    return (
        "In each cycle, ports have the values that they have just before the rising edge of "
        f"`{clocking.clock}` that ends the cycle. An attempt to match an assertion begins in each "
        f"cycle. It is dropped if `{clocking.reset}` is {clocking.reset_active} in any cycle from "
        f"the one in which it begins to the one in which it fails, as with `disable iff ({reset})`."
        f" You may write `@(posedge {clocking.clock})`, `disable iff ({reset})`, labels, and `else "
        "$error(...)`; they change nothing. Functions of the past see the values of all cycles, "
        "also those under reset; a condition that looks back beyond the first cycle is false. "
        "Examples: `assert "
        "property (a && !b |=> c == $past(d) + 1);` and `assert property (a ##1 b[*2] |-> ##3 "
        f"c);`. At most {MOST_ASSERTIONS} assertions are read."
    )


def _told(detail: str) -> str:
    """Return what is said of a monitor, said of assertions."""
    for old, new in (
        (
            "`ok` is 1 for the correct module, and the monitor detects",
            "the assertions hold for the correct module, and detect",
        ),
        (
            "`ok` is 0 for the correct module",
            "an assertion fails for the correct module, where `ok` is 0",
        ),
        ("`ok` is always 1", "the assertions always hold"),
        ("the monitor has", "they have"),
    ):
        detail = detail.replace(old, new)
    return detail


# Modules of parts, each with its rules, its Verilog and assertions that tell all of it.


@dataclass(slots=True)
class _Part:
    """A part of a module."""

    inputs: list[tuple[str, int, str]]
    outputs: list[tuple[str, int, str]]
    rule: str
    reset: list[str]
    body: str  # statements at a clock edge
    assertions: list[tuple[str, str]]  # sides of an implication in the next cycle
    initial: list[str] = field(default_factory=list)  # from the first cycle after a reset
    always: list[str] = field(default_factory=list)  # other properties
    declared: str = ""  # what stands before the clocked block
    visible: bool = True  # whether all its state is in its outputs
    registers: list[str] = field(default_factory=list)


def _register(rng: Rng, _longest: int) -> _Part:
    name, load, data = pick(rng, (("q", "en", "d"), ("kept", "take", "given"), ("r", "wr", "w")))
    width = integer(rng, 2, 4)
    start = hw.literal(width, integer(rng, 0, 2**width - 1))
    return _Part(
        inputs=[(load, 1, f"1 stores `{data}`"), (data, width, f"what is stored in `{name}`")],
        outputs=[(name, width, "a register")],
        rule=(
            f"At a rising clock edge where `{load}` is 1, `{name}` takes `{data}`; otherwise it "
            f"keeps its value. Reset sets it to {start}."
        ),
        reset=[f"{name} <= {start};"],
        body=f"if ({load}) {name} <= {data};",
        assertions=[(load, f"{name} == $past({data})"), (f"!{load}", f"$stable({name})")],
        initial=[f"{name} == {start}"],
        registers=[name],
    )


def _toggle(rng: Rng, _longest: int) -> _Part:
    name, flip = pick(rng, (("state", "flip"), ("lamp", "button"), ("phase", "turn")))
    start, level = integer(rng, 0, 1), integer(rng, 0, 1)
    active, idle = (flip, f"!{flip}") if level else (f"!{flip}", flip)
    return _Part(
        inputs=[(flip, 1, f"{level} inverts `{name}`")],
        outputs=[(name, 1, "a flip-flop")],
        rule=(
            f"`{name}` is inverted at each rising clock edge where `{flip}` is {level}, and keeps "
            f"its value at all others. Reset sets it to {start}."
        ),
        reset=[f"{name} <= 1'd{start};"],
        body=f"if ({active}) {name} <= !{name};",
        assertions=[(active, f"$changed({name})"), (idle, f"$stable({name})")],
        initial=[f"{name} == {start}"],
        registers=[name],
    )


def _counter(rng: Rng, _longest: int) -> _Part:
    name, up, clear = pick(
        rng, (("count", "up", "clear"), ("total", "inc", "zero"), ("n", "step", "restart"))
    )
    width = integer(rng, 2, 4)
    top = integer(rng, 2 ** (width - 1), 2**width - 1)
    saturates, clears = bool(integer(rng, 0, 1)), bool(integer(rng, 0, 1))
    end = f"stays at {top} once it is there" if saturates else f"goes from {top} to 0"
    cleared = f"where `{clear}` is 1, it becomes 0; otherwise, " if clears else ""
    last = f"{name} <= 0;" if not saturates else ";"
    moved = f"if ({name} == {top}) {last}\nelse {name} <= {name} + 1;"
    if saturates:
        moved = f"if ({name} != {top}) {name} <= {name} + 1;"
    body = f"if ({up}) begin\n{hw.indented(moved, 4)}\nend"
    body = f"if ({clear}) {name} <= 0;\nelse {body}" if clears else body
    not_clear = f"!{clear} && " if clears else ""
    return _Part(
        inputs=[
            (up, 1, f"1 counts up `{name}`"),
            *([(clear, 1, f"1 clears `{name}`")] if clears else []),
        ],
        outputs=[(name, width, "a counter")],
        rule=(
            f"`{name}` is a counter. At a rising clock edge, {cleared}where `{up}` is 1, it goes "
            f"up by 1, or {end}. At all other edges it keeps its value. Reset sets it to 0."
        ),
        reset=[f"{name} <= 0;"],
        body=body,
        assertions=[
            *([(clear, f"{name} == 0")] if clears else []),
            (f"{not_clear}{up} && {name} != {top}", f"{name} == $past({name}) + 1"),
            (f"{not_clear}{up} && {name} == {top}", f"{name} == {top if saturates else 0}"),
            (f"{not_clear}!{up}", f"$stable({name})"),
        ],
        initial=[f"{name} == 0"],
        registers=[name],
    )


def _peak(rng: Rng, _longest: int) -> _Part:
    width, low = integer(rng, 2, 4), bool(integer(rng, 0, 1))
    names = (("peak", "level"), ("highest", "value"), ("best", "score"))
    if low:
        names = (("floor", "level"), ("lowest", "value"), ("cheapest", "price"))
    name, data = pick(rng, names)
    more, rest, word = ("<", ">=", "less") if low else (">", "<=", "greater")
    start = 2**width - 1 if low else 0
    return _Part(
        inputs=[(data, width, f"what `{name}` is compared with")],
        outputs=[(name, width, "an extreme value")],
        rule=(
            f"At a rising clock edge where `{data}` is {word} than `{name}`, `{name}` takes "
            f"`{data}`; otherwise it keeps its value. Reset sets it to {start}."
        ),
        reset=[f"{name} <= {start};"],
        body=f"if ({data} {more} {name}) {name} <= {data};",
        assertions=[
            (f"{data} {more} {name}", f"{name} == $past({data})"),
            (f"{data} {rest} {name}", f"$stable({name})"),
        ],
        initial=[f"{name} == {start}"],
        registers=[name],
    )


def _grant(rng: Rng, _longest: int) -> _Part:
    name, asks = pick(rng, (("grant", "request"), ("chosen", "wish"), ("sel", "want")))
    width, low = integer(rng, 2, 4), bool(integer(rng, 0, 1))
    order = list(range(width)) if low else list(range(width))[::-1]
    arms, tests = [], []
    for rank, bit in enumerate(order):
        above = "".join(f"!{asks}[{k}] && " for k in order[:rank])
        arms.append(f"{asks}[{bit}] ? {hw.literal(width, 1 << bit)} :")
        tests.append(f"{above}{asks}[{bit}] |-> {name} == {1 << bit}")
    which = "lowest" if low else "highest"
    return _Part(
        inputs=[(asks, width, "requests")],
        outputs=[(name, width, "which request is granted")],
        rule=(
            f"`{name}` depends on `{asks}` in the same cycle: if bits of `{asks}` are 1, the same "
            f"bit of `{name}` as the {which} of them is 1. All other bits of `{name}` are 0."
        ),
        reset=[],
        body="",
        assertions=[],
        always=[*tests, f"{asks} == 0 |-> {name} == 0"],
        declared=f"assign {name} = {' '.join(arms)} 0;",
    )


def _edge(rng: Rng, _longest: int) -> _Part:
    name, line = pick(rng, (("pulse", "line"), ("event_seen", "pin"), ("tick", "level_in")))
    rises = bool(integer(rng, 0, 1))
    now, before = (line, f"!{line}") if rises else (f"!{line}", line)
    rest = int(not rises)  # what the line counts as in reset
    prior = f"was_{line}"
    return _Part(
        inputs=[(line, 1, "a signal")],
        outputs=[(name, 1, f"1 after an edge of `{line}`")],
        rule=(
            f"`{name}` is 1 in a cycle if `{line}` was {int(rises)} in the cycle before and "
            f"{rest} in the cycle before that one, and 0 otherwise. In cycles under reset, "
            f"`{line}` counts as {rest}."
        ),
        reset=[f"{name} <= 0;", f"{prior} <= {rest};"],
        body=f"{prior} <= {line};\n{name} <= {now} && {prior} == {rest};",
        assertions=[
            (f"{before} ##1 {now}", name),
            (f"{now} ##1 {now}", f"!{name}"),
            (before, f"!{name}"),
        ],
        initial=[f"!{name}", f"{now} |=> {name}"],
        declared=f"reg {prior};",
        visible=False,
        registers=[name],
    )


def _delay(rng: Rng, longest: int) -> _Part:
    name, line = pick(rng, (("late", "early"), ("out_valid", "in_valid"), ("echo", "call")))
    n = integer(rng, max(2, longest - 1), longest)
    pipe = f"pipe_{name}"
    return _Part(
        inputs=[(line, 1, "a signal")],
        outputs=[(name, 1, f"`{line}`, delayed")],
        rule=(
            f"`{name}` is what `{line}` was {n} cycles before. In cycles under reset `{line}` "
            f"counts as 0, and so it does in all cycles before."
        ),
        reset=[f"{pipe} <= 0;"],
        body=f"{pipe} <= {{{pipe}[{n - 2}:0], {line}}};",
        assertions=[],
        always=[f"{line} |-> ##{n} {name}", f"!{line} |-> ##{n} !{name}"],
        initial=[f"!{name}[*{n}]"],
        declared=f"reg [{n - 1}:0] {pipe};\nassign {name} = {pipe}[{n - 1}];",
        visible=False,
    )


def _stretch(rng: Rng, longest: int) -> _Part:
    name, line = pick(rng, (("active", "trigger"), ("lit", "motion"), ("awake", "touch")))
    n = integer(rng, max(2, longest - 1), longest)
    left, bits = f"left_{name}", n.bit_length()
    return _Part(
        inputs=[(line, 1, f"1 makes `{name}` 1")],
        outputs=[(name, 1, f"1 for some time after `{line}`")],
        rule=(
            f"`{name}` is 1 in a cycle if `{line}` was 1 in at least one of the {n} cycles before "
            "it, and 0 otherwise. Cycles up to the last one under reset do not count."
        ),
        reset=[f"{left} <= 0;"],
        body=f"if ({line}) {left} <= {n};\nelse if ({left} != 0) {left} <= {left} - 1;",
        assertions=[
            (line, f"{name}[*{n}]"),
            (f"!{line}[*{n}]", f"!{name}"),
            (f"!{name} && !{line}", f"!{name}"),
        ],
        initial=[f"!{name}"],
        declared=f"reg [{bits - 1}:0] {left};\nassign {name} = {left} != 0;",
        visible=False,
    )


def _timer(rng: Rng, longest: int) -> _Part:
    name, line = pick(rng, (("busy", "start"), ("running", "go"), ("open", "unlock")))
    n = integer(rng, max(2, longest - 1), longest)
    left, bits = f"more_{name}", n.bit_length()
    return _Part(
        inputs=[(line, 1, f"1 starts `{name}`")],
        outputs=[(name, 1, "1 for a fixed time")],
        rule=(
            f"If `{line}` is 1 in a cycle in which `{name}` is 0, `{name}` is 1 in exactly the "
            f"next {n} cycles, and 0 in the cycle after them. `{line}` is ignored while `{name}` "
            f"is 1. `{name}` is 0 in all other cycles. Reset sets it to 0."
        ),
        reset=[f"{left} <= 0;"],
        body=f"if ({left} != 0) {left} <= {left} - 1;\nelse if ({line}) {left} <= {n};",
        assertions=[
            (f"{line} && !{name}", f"{name}[*{n}] ##1 !{name}"),
            (f"!{line} && !{name}", f"!{name}"),
        ],
        initial=[f"!{name}"],
        declared=f"reg [{bits - 1}:0] {left};\nassign {name} = {left} != 0;",
        visible=False,
    )


def _watch(rng: Rng, longest: int) -> _Part:
    name, line = pick(rng, (("alarm", "hot"), ("stuck", "wait_in"), ("fault", "low_power")))
    n = integer(rng, max(2, longest - 1), longest)
    run, bits = f"run_{name}", n.bit_length()
    past = " && ".join(f"$past({line}, {k})" for k in range(1, n + 1))
    return _Part(
        inputs=[(line, 1, "what is watched")],
        outputs=[(name, 1, f"1 after `{line}` was 1 for a while")],
        rule=(
            f"`{name}` becomes 1 as soon as `{line}` was 1 in {n} consecutive cycles: it is 1 in "
            "the cycle after them. It then stays 1 until reset, which sets it to 0. Cycles up to "
            "the last one under reset do not count."
        ),
        reset=[f"{name} <= 0;", f"{run} <= 0;"],
        body=(
            f"if ({line}) begin\n    if ({run} == {n - 1}) {name} <= 1;\n"
            f"    else {run} <= {run} + 1;\nend else {run} <= 0;"
        ),
        assertions=[(f"{line}[*{n}]", name), (name, name)],
        always=[f"$rose({name}) |-> {past}"],
        initial=[f"!{name}[*{n}]"],
        declared=f"reg [{bits - 1}:0] {run};",
        visible=False,
        registers=[name],
    )


_TIERS: tuple[tuple[Callable[[Rng, int], _Part], ...], ...] = (
    (_register, _toggle, _counter, _grant, _peak),
    (_edge, _delay),
    (_stretch, _timer, _watch),
)


def draw_module(
    rng: Rng, clocking: Clocking, config: AssertionWritingConfig
) -> tuple[hw.Design, tuple[str, ...]]:
    """Draw a module, and assertions that tell all that its ports show."""
    newest = list(_TIERS[config.tier])
    others = [kind for kinds in _TIERS[: config.tier] for kind in kinds]
    rng.shuffle(newest)
    rng.shuffle(others)
    # The newest kinds alternate with the others, so that a module always has one of them.
    mixed = [kind for pair in zip(newest, others, strict=False) for kind in pair]
    kinds = [*mixed, *(kind for kind in [*newest, *others] if kind not in mixed)]
    parts = [kind(rng, config.longest) for kind in kinds[: config.parts]]
    held = config.hold and any(part.visible and part.body for part in parts)
    signals = hw.clock_signals(clocking)
    signals += hw.inputs(*([("hold", 1, "1 holds registers")] if held else []))
    for part in parts:
        signals += hw.inputs(*part.inputs)
    for part in parts:
        signals += hw.outputs(*part.outputs)
    resets, bodies, assertions = list[str](), list[str](), list[str]()
    first = f"$fell({clocking.reset})" if clocking.reset_active else f"$rose({clocking.reset})"
    for part in parts:
        gated = held and part.visible and part.body
        resets += part.reset
        bodies.append(f"if (!hold) begin\n{hw.indented(part.body, 4)}\nend" if gated else part.body)
        assertions += [f"{first} |-> {text}" for text in part.initial if "|=>" not in text]
        assertions += [f"{first} && {text}" for text in part.initial if "|=>" in text]
        assertions += part.always
        for before, after in part.assertions:
            assertions.append(f"{before}{' && !hold' if gated else ''} |=> {after}")
        if gated:
            assertions.append(f"hold |=> $stable({part.outputs[0][0]})")
    held_names = [part.outputs[0][0] for part in parts if held and part.visible and part.body]
    rules = [part.rule for part in parts]
    if held_names:
        names = " and ".join(f"`{name}`" for name in held_names[-2:])
        names = ", ".join([*(f"`{name}`" for name in held_names[:-2]), names])
        rules.append(
            f"At a rising clock edge where `hold` is 1, {names} "
            f"keep{'s' * (len(held_names) == 1)} the value, whatever else is said above (but reset "
            "has priority)."
        )
    declared = "\n".join(part.declared for part in parts if part.declared)
    block = hw.clocked(clocking, "\n".join(resets), "\n".join(b for b in bodies if b))
    golden = f"{declared}\n{block}" if resets else declared
    design = hw.Design(
        title="a module of " + ("one part" if len(parts) == 1 else f"{len(parts)} parts"),
        signals=signals,
        rules=tuple(rules),
        golden=hw.module(signals, golden, registers=[n for part in parts for n in part.registers]),
        alternative="",
        clocking=clocking,
    )
    return design, tuple(f"assert property ({text});" for text in assertions)
