"""StateMachine: machines given by a table or a list of transitions."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.envs.verilog._state_machine import BACK, FEATURES, Branch, Machine
from rlvr_envs.generators.hardware.design import Design
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

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


@dataclass(frozen=True, slots=True, kw_only=True)
class StateMachineConfig(DesignConfig):
    """How large the machine is, and what moves it besides."""

    states: int = 4
    inputs: int = 2  # that transitions depend on
    branches: int = 2  # conditions of a state, besides what happens otherwise
    outputs: int = 2  # bits of the output
    features: int = 1  # added in the order enable, abort, dwell, visits, back

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if not 2 <= self.states <= _MOST_STATES:
            raise ConfigError(f"states is between 2 and {_MOST_STATES}, got {self.states}")
        if not 1 <= self.inputs <= _MOST_INPUTS:
            raise ConfigError(f"inputs is between 1 and {_MOST_INPUTS}, got {self.inputs}")
        most = min(_MOST_BRANCHES, 2**self.inputs - 1)
        if not 1 <= self.branches <= most:
            raise ConfigError(
                f"branches is between 1 and {most} with inputs={self.inputs}, got {self.branches}"
            )
        if not 1 <= self.outputs <= _WIDEST:
            raise ConfigError(f"outputs is between 1 and {_WIDEST}, got {self.outputs}")
        if not 0 <= self.features <= len(FEATURES):
            raise ConfigError(f"features is between 0 and {len(FEATURES)}, got {self.features}")

    @classmethod
    def at(cls, difficulty: int) -> "StateMachineConfig":
        """A state more a step, up to 16; a feature every 2, an input and a branch every 3."""
        return cls(
            states=min(2 + difficulty, _MOST_STATES),
            inputs=min(1 + difficulty // 3, _MOST_INPUTS),
            branches=min(1 + difficulty // 3, _MOST_BRANCHES),
            outputs=min(1 + difficulty // 3, _WIDEST),
            features=min(difficulty // 2, len(FEATURES)),
        )


@register("StateMachine-v0", domain="verilog", answer_format=LANGUAGE)
class StateMachineTask(DesignTask[StateMachineConfig]):
    """Write a finite state machine that was drawn.

    Description:
        A Mealy or Moore machine with conditions that are tried in order, told as a table, as a
        list or in sentences. An enable, an abort, a least time in a state, a count of visits and
        transitions back to where the machine came from are added.

    Observation:
        What the module does in numbered rules or prose, its ports, the transitions, and the kind
        of its reset; in one problem of three also a run of it, as a table or a waveform.

    Action:
        The module as one block of Verilog or SystemVerilog.

    Reward:
        1 if the module behaves as the reference for all inputs at all times, otherwise 0; with
        ``reward="graded"`` up to half for compiling, for the right ports and for outputs that
        never differed in simulation.

    Episode End:
        After one step.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). States may be
        encoded in any way.

    Difficulty:
        States, inputs and conditions get more, then the state alone no longer decides.

    References:
        Mealy 1955, A method for synthesizing sequential circuits; Moore 1956,
        Gedanken-experiments on sequential machines; Liu et al. 2023, VerilogEval,
        arXiv:2309.07544, for the form of such problems.

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
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
    """Return the transitions of each state; every state can be reached."""
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
