"""StateMachine: machines given by a table or a list of transitions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob


@dataclass(frozen=True, slots=True)
class Branch:
    """What a state does under a condition.

    Attributes:
        guard: inputs by number, and the values that they have; empty where nothing else holds.
        target: the next state, or `BACK`.
        value: of the output of a Mealy machine.
    """

    guard: tuple[tuple[int, int], ...]
    target: int
    value: int


_MOST_STATES, _MOST_INPUTS, _MOST_BRANCHES, _WIDEST = 16, 4, 3, 8
_STATES = (
    tuple("ABCDEFGHIJKLMNOP"),
    (
        "IDLE",
        "LOAD",
        "WAIT",
        "RUN",
        "HALT",
        "SEND",
        "RECV",
        "DONE",
        "FAIL",
        "SYNC",
        "SCAN",
        "HOLD",
        "PUSH",
        "POP",
        "TEST",
        "PARK",
    ),
)
_INPUTS = (("a", "b", "c", "e"), ("go", "ack", "full", "err"), ("x0", "x1", "x2", "x3"))


# In the order in which higher levels add them.
FEATURES = ("enable", "abort", "dwell", "visits", "back")


@dataclass(frozen=True, slots=True, kw_only=True)
class StateMachineConfig(DesignConfig):
    """How large the machine is, and which features are added."""

    states: int = knob(4, "number of states", low=2, high=_MOST_STATES)
    inputs: int = knob(2, "number of inputs that transitions depend on", low=1, high=_MOST_INPUTS)
    branches: int = knob(2, "number of conditions of a state, besides the default")
    outputs: int = knob(2, "width of the output, in bits", low=1, high=_WIDEST)
    features: int = feature_knob(1, FEATURES)

    def check(self) -> None:
        most = min(_MOST_BRANCHES, 2**self.inputs - 1)
        if not 1 <= self.branches <= most:
            raise ConfigError(
                f"branches is between 1 and {most} with inputs={self.inputs}, got {self.branches}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "StateMachineConfig":
        """A state more a level, up to 12; a feature every 2, an input and a branch every 4."""
        more = (difficulty + 1) // 4
        return cls(
            states=min(2 + difficulty, 12),
            inputs=min(1 + more, _MOST_INPUTS),
            branches=min(1 + more, _MOST_BRANCHES),
            outputs=min(1 + difficulty // 3, _WIDEST),
            features=min(difficulty // 2, len(FEATURES)),
        )


@register("StateMachine-v0", domain="verilog", answer_format=LANGUAGE)
class StateMachineTask(DesignTask[StateMachineConfig]):
    """Write a random finite state machine.

    Description:
        A Mealy or Moore machine with conditions that are tried in order, given as a table, as a
        list or in sentences. Later levels add an enable, an abort, a minimum time in a state, a
        count of visits and transitions back to the previous state.

    Observation:
        What the module does in numbered rules or prose, its ports, the transitions, and the kind
        of its reset; in one problem of three also an example run, as a table or a waveform.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). States may be
        encoded in any way.

    Difficulty:
        States, inputs and conditions get more, then the state alone no longer decides.

    References:
        Mealy 1955, A method for synthesizing sequential circuits; Moore 1956,
        Gedanken-experiments on sequential machines; Liu et al. 2023, VerilogEval,
        arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> hw.Design:
        config = self.config
        features = FEATURES[: config.features]
        names = pick(rng, _STATES)
        order = rng.permutation(_MOST_STATES)[: config.states].tolist()
        times = [pick(rng, (1, 1, 2, 3, 4)) for _ in range(config.states)]
        return Machine(
            states=tuple(names[i] for i in order),
            inputs=pick(rng, _INPUTS)[: config.inputs],
            rows=_rows(rng, config, back="back" in features),
            values=_values(rng, config.states, config.outputs),
            outputs=config.outputs,
            mealy=integer(rng, 0, 1) == 1,
            abort=integer(rng, 0, config.states - 1),
            visited=integer(rng, 0, config.states - 1),
            times=tuple(times) if "dwell" in features else (1,) * config.states,
            out=pick(rng, ("out", "y", "z")),
            telling=integer(rng, 0, 2),
            features=features,
        ).design(rng)


def _values(rng: Rng, count: int, bits: int) -> tuple[int, ...]:
    """Return outputs, not all of which are the same."""
    while True:
        found = tuple(integer(rng, 0, 2**bits - 1) for _ in range(count))
        if len(set(found)) > 1:
            return found


def _rows(rng: Rng, config: StateMachineConfig, *, back: bool) -> tuple[tuple[Branch, ...], ...]:
    """Return the transitions of each state; every state can be reached and looks at the inputs."""
    slots: list[list[tuple[tuple[int, int], ...]]] = [
        [*_guards(rng, config), ()] for _ in range(config.states)
    ]
    free = [(state, n) for state, guards in enumerate(slots) for n in range(len(guards))]
    targets = {slot: integer(rng, 0, config.states - 1) for slot in free}
    values = dict(zip(free, _values(rng, len(free), config.outputs), strict=True))
    if back:
        for slot in free:
            targets[slot] = BACK if integer(rng, 0, 5) == 0 else targets[slot]
    for state in range(1, config.states):
        slot = pick(rng, [slot for slot in free if slot[0] < state])
        free.remove(slot)
        targets[slot] = state
    for state, guards in enumerate(slots):
        own = [(state, n) for n in range(len(guards))]
        spare = [slot for slot in own if slot in free]
        while len({targets[slot] for slot in own}) == 1:  # the inputs would not matter
            targets[pick(rng, spare)] = integer(rng, 0, config.states - 1)
    return tuple(
        tuple(Branch(guard, targets[state, n], values[state, n]) for n, guard in enumerate(guards))
        for state, guards in enumerate(slots)
    )


def _guards(rng: Rng, config: StateMachineConfig) -> list[tuple[tuple[int, int], ...]]:
    """Return conditions, each of which decides for some inputs when they are tried in order."""
    while True:
        guards = []
        for _ in range(config.branches):
            size = integer(rng, 1, min(2, config.inputs))
            chosen = sorted(rng.permutation(config.inputs)[:size].tolist())
            guards.append(tuple((i, integer(rng, 0, 1)) for i in chosen))
        decides = set()
        for word in range(2**config.inputs):
            held = (all(word >> i & 1 == v for i, v in guard) for guard in guards)
            decides.add(next((n for n, holds in enumerate(held) if holds), config.branches))
        if len(decides) == config.branches + 1:
            return guards


# The machines of StateMachine: states as numbers, and a flip-flop for each.


BACK = -1  # the previous state, as a target
_COUNT_BITS = 4


@dataclass(frozen=True, slots=True)
class Machine:
    """States and transitions, and the two ways to write them; the first state is the start."""

    states: tuple[str, ...]
    inputs: tuple[str, ...]
    rows: tuple[tuple[Branch, ...], ...]  # of each state, tried in order
    values: tuple[int, ...]  # of the output of a Moore machine, for each state
    outputs: int  # bits
    mealy: bool
    abort: int  # the state that an abort leads to
    visited: int  # the state whose visits are counted
    times: tuple[int, ...]  # rising edges after which each state can be left
    out: str
    telling: int  # a table, a list, sentences
    features: tuple[str, ...]

    @property
    def _bits(self) -> int:
        return (len(self.states) - 1).bit_length()

    @property
    def _time_bits(self) -> int:
        return max(self.times).bit_length()

    def design(self, rng: Rng) -> hw.Design:
        """Return the design; ``rng`` draws the clock and the reset."""
        clocking = hw.draw_clocking(rng)
        has = self.features.__contains__
        signals = hw.clock_signals(clocking)
        signals += hw.inputs(*((name, 1, "input of the machine") for name in self.inputs))
        if has("enable"):
            signals += hw.inputs(("enable", 1, "transition enable"))
        if has("abort"):
            signals += hw.inputs(("abort", 1, "1 aborts the current activity"))
        signals += hw.outputs((self.out, self.outputs, "output of the machine"))
        registers = [self.out]
        if has("visits"):
            signals += hw.outputs(
                ("visits", _COUNT_BITS, "number of times that a state was entered")
            )
            registers.append("visits")
        text, reset, moves = self._golden()
        golden = text + hw.clocked(clocking, reset, moves)
        text, reset, moves = self._alternative()
        other = text + hw.clocked(clocking, reset, moves, keyword="always_ff")
        kind = "Mealy" if self.mealy else "Moore"
        return hw.Design(
            title=f"a {kind} finite state machine with {len(self.states)} states",
            signals=signals,
            rules=self._rules(),
            golden=hw.module(signals, golden, registers=registers),
            alternative=hw.sv_module(signals, other),
            clocking=clocking,
            figure=self._figure(),
            behaviour=partial(machine, self),
        )

    def _where(self, target: int) -> str:
        return "the previous state" if target == BACK else self.states[target]

    def _when(self, branch: Branch) -> str:
        return " and ".join(f"`{self.inputs[i]}` is {value}" for i, value in branch.guard)

    def _figure(self) -> str:
        if self.telling == 2:
            return ""
        if self.telling == 1:
            return "\n".join(f"- {self._sentence(state)}" for state in range(len(self.states)))
        head = ["state", "condition", "next state"]
        rows = []
        for state, row in enumerate(self.rows):
            for branch in row:
                cells = [self.states[state], self._when(branch) or "otherwise"]
                cells.append(self._where(branch.target))
                value = branch.value if self.mealy else self.values[state]
                rows.append([*cells, hw.literal(self.outputs, value)])
        lines = [[*head, f"`{self.out}`"], ["---"] * 4, *rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def _sentence(self, state: int) -> str:
        parts = []
        for branch in self.rows[state]:
            value = f" (output {hw.literal(self.outputs, branch.value)})" if self.mealy else ""
            when = self._when(branch)
            parts.append(
                f"{f'if {when}' if when else 'otherwise'}, go to "
                f"{self._where(branch.target)}{value}"
            )
        moore = "" if self.mealy else f" (output {hw.literal(self.outputs, self.values[state])})"
        return f"In {self.states[state]}{moore}: {'; '.join(parts)}."

    def _rules(self) -> tuple[str, ...]:
        has, out = self.features.__contains__, f"`{self.out}`"
        where = ("the table", "the list", "this description")[self.telling]
        order = "the first row of the current state whose condition holds decides"
        if self.telling:
            order = "the first condition of the current state that holds decides"
        rules = [
            (
                f"The states are {', '.join(self.states)}. You may encode them in any way. Reset "
                f"puts the machine into state {self.states[0]}."
            ),
            (
                "At every rising clock edge where reset is inactive, the machine takes the "
                f"transition that {where} gives: {order}. A transition may lead to the same state."
            ),
        ]
        if self.mealy:
            rules.append(
                f"{out} is combinational (Mealy output): it has the value that {where} gives for "
                "the current state and the current inputs."
            )
        else:
            rules.append(
                f"{out} is a Moore output: it depends on the current state only, as {where} gives "
                "it."
            )
        rules += [self._sentence(n) for n in range(len(self.states)) if self.telling == 2]
        if has("enable"):
            rules.append(f"While `enable` is 0, the machine stays in its state{self._but()}.")
        if has("abort"):
            name = self.states[self.abort]
            rules.append(
                f"At a rising clock edge where `abort` is 1, the machine goes to {name} from any "
                "state, regardless of `enable` and all other inputs."
            )
        return (*rules, *self._more_rules())

    def _but(self) -> str:
        out = f". `enable` does not affect `{self.out}`" if self.mealy else ""
        return f" unless it is aborted{out}" if "abort" in self.features else out

    def _more_rules(self) -> tuple[str, ...]:
        has = self.features.__contains__
        rules = []
        if has("dwell"):
            slow = [f"{n} for {s}" for s, n in zip(self.states, self.times, strict=True) if n > 1]
            which = f"{', '.join(slow)}, and 1 for all other states" if slow else "1 for all states"
            rules.append(
                f"Each state has a minimum time n: {which}. After the machine enters a state (from "
                "another state, by reset, or by an abort, even from the same state), it stays "
                "there and takes no transition at the first n-1 rising clock edges where `enable` "
                "is 1. Only an abort ends this time early. "
                + (f"The minimum time does not affect `{self.out}`." if self.mealy else "")
            )
        if has("visits"):
            name = self.states[self.visited]
            rules.append(
                f"`visits` is registered: it increases by 1, modulo {2**_COUNT_BITS}, at each "
                f"rising clock edge at which the machine goes to {name} from another state. Reset "
                "sets it to 0."
            )
        if has("back"):
            rules.append(
                "The previous state is the state from which the machine entered the current state, "
                "by a transition or an abort; staying in a state, or going to it from itself, does "
                f"not change it. After reset, the previous state is {self.states[0]}."
            )
        return tuple(rule.strip() for rule in rules)

    def _guard(self, branch: Branch) -> str:
        return " && ".join(f"{'' if v else '!'}{self.inputs[i]}" for i, v in branch.guard)

    def _golden(self) -> tuple[str, str, str]:
        """Return states as numbers, a choice by the state, and a count of the time in it."""
        has, top = self.features.__contains__, self._bits - 1
        text = "".join(
            f"localparam [{top}:0] S_{name} = {hw.literal(self._bits, n)};\n"
            for n, name in enumerate(self.states)
        )
        text += f"reg [{top}:0] state, next{', prev' * has('back')};\n"
        cases = "\n".join(self._case(n) for n in range(len(self.states)))
        rest = f"default: next = S_{self.states[0]};"
        text += (
            f"always @(*) begin\n    next = state;\n    {self.out} = 0;\n    case (state)\n"
            f"{hw.indented(cases, 8)}\n        {rest}\n    endcase\nend\n"
        )
        target, stops = "next", ["!enable"] if has("enable") else []
        reset = f"state <= S_{self.states[0]};\n"
        moves = "state <= target;\n"
        if has("dwell"):
            stops.append("held")
            bits = self._time_bits
            needs = " || ".join(
                f"(state == S_{name} && stay < {hw.literal(bits, time - 1)})"
                for name, time in zip(self.states, self.times, strict=True)
                if time > 1
            )
            text += f"reg [{bits - 1}:0] stay;\nwire held = {needs or 0};\n"
            reset += "stay <= 0;\n"
            enabled = "enable && held"
            moves += "if (abort || target != state) stay <= 0;\n"
            moves += f"else if ({enabled}) stay <= stay + 1'b1;\n"
        if stops:
            target = f"({' || '.join(stops)}) ? state : next"
        if has("abort"):
            target = f"abort ? S_{self.states[self.abort]} : {target}"
        text += f"wire [{top}:0] target = {target};\n"
        if has("visits"):
            reset += "visits <= 0;\n"
            name = f"S_{self.states[self.visited]}"
            moves += f"if (target == {name} && state != {name}) visits <= visits + 1'b1;\n"
        if has("back"):
            reset += f"prev <= S_{self.states[0]};\n"
            moves += "if (target != state) prev <= state;\n"
        return text, reset, moves

    def _case(self, state: int) -> str:
        lines = []
        for branch in self.rows[state]:
            goes = "prev" if branch.target == BACK else f"S_{self.states[branch.target]}"
            value = f"{self.out} = {hw.literal(self.outputs, branch.value)}; " if self.mealy else ""
            guard = self._guard(branch)
            lines.append(f"{f'if ({guard}) ' if guard else ''}begin {value}next = {goes}; end")
        moore = f"{self.out} = {hw.literal(self.outputs, self.values[state])};\n"
        body = ("" if self.mealy else moore) + "\nelse ".join(lines)
        return f"S_{self.states[state]}: begin\n{hw.indented(body, 4)}\nend"

    def _alternative(self) -> tuple[str, str, str]:
        """Return a flip-flop for each state, sums of products, and what is left of the time."""
        has, count = self.features.__contains__, len(self.states)
        first = hw.literal(count, 1)
        text = f"logic [{count - 1}:0] at, to, aim{', came' * has('back')};\n"
        text += self._sums()
        goes = ["enable"] if has("enable") else []
        reset, moves = f"at <= {first};\n", "at <= aim;\n"
        if has("dwell"):
            goes.append("left == 0")
            bits = self._time_bits
            pairs = enumerate(hw.literal(bits, time - 1) for time in self.times)
            loads = " | ".join(f"({{{bits}{{aim[{n}]}}}} & {load})" for n, load in pairs)
            text += f"logic [{bits - 1}:0] left;\n"
            reset += f"left <= {hw.literal(bits, self.times[0] - 1)};\n"
            moves += f"if (abort || aim != at) left <= {loads};\n"
            moves += "else if (enable && left != 0) left <= left - 1'b1;\n"
        aim = f"({' && '.join(goes)}) ? to : at" if goes else "to"
        if has("abort"):
            aim = f"abort ? {hw.literal(count, 1 << self.abort)} : {aim}"
        text += f"assign aim = {aim};\n"
        if has("visits"):
            reset += "visits <= '0;\n"
            moves += (
                f"visits <= visits + {_COUNT_BITS}'(aim[{self.visited}] & ~at[{self.visited}]);\n"
            )
        if has("back"):
            reset += f"came <= {first};\n"
            moves += "came <= aim == at ? came : at;\n"
        return text, reset, moves

    def _sums(self) -> str:
        """Return which transitions set each next state and each bit of the output."""
        count = len(self.states)
        into: list[list[str]] = [[] for _ in self.states]
        ones: list[list[str]] = [[] for _ in range(self.outputs)]
        for state, row in enumerate(self.rows):
            denied = ""
            for branch in row:
                guard = self._guard(branch)
                term = f"(at[{state}]{denied}{f' && {guard}' if guard else ''})"
                denied += f" && !({guard})"
                if branch.target == BACK:
                    for target in range(count):
                        into[target].append(f"({term} && came[{target}])")
                else:
                    into[branch.target].append(term)
                value = branch.value if self.mealy else self.values[state]
                for place in range(self.outputs):
                    ones[place] += [term] * (value >> place & 1)
        lines = [f"assign to[{n}] = {' || '.join(terms) or 0};\n" for n, terms in enumerate(into)]
        for n, terms in enumerate(ones):
            bit = f"[{n}]" if self.outputs > 1 else ""
            lines.append(f"assign {self.out}{bit} = {' || '.join(terms) or 0};\n")
        return "".join(lines)


def machine(made: Machine, rows: hw.Inputs) -> hw.Shown:
    """Return what a state machine shows."""
    has = made.features.__contains__
    state, came, stayed, visits, shown = 0, 0, 0, 0, []
    for row in rows:
        branch = next(b for b in made.rows[state] if _holds(b, made, row))
        shown.append({made.out: branch.value if made.mealy else made.values[state]})
        shown[-1] |= {"visits": visits % 16} if has("visits") else {}
        target, enabled = state, row.get("enable", 1)
        aborted = row.get("abort", 0)
        stayed += bool(enabled)
        if aborted:
            target = made.abort
        elif enabled and stayed >= (made.times[state] if has("dwell") else 1):
            target = came if branch.target < 0 else branch.target
        if target != state:
            came, state = state, target
            visits += state == made.visited
            stayed = 0
        elif aborted:
            stayed = 0
    return shown


def _holds(branch: Branch, made: Machine, row: Mapping[str, int]) -> bool:
    return all(row[made.inputs[i]] == value for i, value in branch.guard)
