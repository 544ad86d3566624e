"""SpecificationChange: a module, and a new version of what it should do."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.knobs import knob, knobs_of
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick, stream
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.hardware.design import TOP, Design, Signal
from rlvr_envs.generators.hardware.families import family
from rlvr_envs.generators.hardware.refutation import refuted
from rlvr_envs.generators.hardware.sizes import writing_effort
from rlvr_envs.generators.hardware.syntax import tokens
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig
from rlvr_envs.generators.hardware.wording import ALLOWED, wording
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.judge import judge

# Families whose designs have a number of features, and draw the rest alike for every number.
# Frozen: a family that is added goes into a list of its own.
FAMILIES = (
    *("AdderSubtractor-v0", "Alu-v0", "ApbSlave-v0", "Arbiter-v0", "BarrelShifter-v0"),
    *("BcdConverter-v0", "ClockDivider-v0", "Comparator-v0", "Crc-v0", "Debouncer-v0"),
    *("Decoder-v0", "EdgeDetector-v0", "ElementaryAutomaton-v0", "Fifo-v0", "Lfsr-v0"),
    *("Multiplexer-v0", "PipelinedMultiplier-v0", "PriorityEncoder-v0", "Pwm-v0"),
    *("RegisterFile-v0", "ShiftRegister-v0", "SpiController-v0"),
    *("Stack-v0", "StateMachine-v0", "TrafficLight-v0", "UartReceiver-v0"),
    *("UartTransmitter-v0", "UpDownCounter-v0"),
)
_MOST_STEPS = 4
_DRAWS = 60  # of pairs of designs; about two in three will do
_SAME = 0.5  # the share of rules that has to stay


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecificationChangeConfig(DesignConfig):
    """The design to change, and how much of it changes."""

    level: int = knob(2, "difficulty of the design within its family", low=0)
    steps: int = knob(1, "number of features that are added", low=1, high=_MOST_STEPS)
    terse: bool = knob(False, "the module is written in the less usual of two ways")
    families: tuple[str, ...] = knob((), "ids of design families to draw from; empty means all")

    def check(self) -> None:
        for name in self.families:
            if name not in FAMILIES:
                hint = did_you_mean(name, FAMILIES)
                raise ConfigError(f"families are among {', '.join(FAMILIES)}, got {name!r}{hint}")

    @classmethod
    def at(cls, difficulty: int) -> "SpecificationChangeConfig":
        """The design grows; 2, 3 and 4 features are added from 4, 8 and 12; from 6 it is terse."""
        return cls(
            level=difficulty,
            steps=min(1 + difficulty // 4, _MOST_STEPS),
            terse=difficulty >= 6,
        )


@dataclass(frozen=True, slots=True)
class SpecificationChangeProblem:
    """A specification, a module that meets it, and what changes."""

    description: str
    source: str
    changes: tuple[str, ...]
    ports: tuple[Port, ...]  # after the change
    clocking: Clocking | None
    steps: int
    reward: str
    golden: str = hidden()
    alternative: str = hidden()
    accept_bounded: bool = hidden(True)


@register("SpecificationChange-v0", domain="verilog", answer_format=LANGUAGE)
class SpecificationChangeTask(Task[SpecificationChangeConfig, SpecificationChangeProblem]):
    """Change a working module so that it meets a changed specification.

    Description:
        A design of one of the families is given with its specification and a module that meets
        it. Then ports and rules come, go or change, as features are added.

    Observation:
        The old specification in full with numbered rules, the module, and the list of changes:
        ports, rules by number, and tables.

    Action:
        The whole changed module, or another one that does the same, as one block of Verilog or
        SystemVerilog.

    Reward:
        1 if the module behaves as a reference for the changed specification for all inputs at all
        times, otherwise 0; with ``reward="graded"`` up to half for compiling, for the right ports
        and for outputs that never differed in simulation. The unchanged module earns 0 in any
        case.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). The old module
        has other ports than the new one, or a simulation tells them apart.

    Difficulty:
        The design grows, more features are added at once, and the module is harder to read.

    References:
        Lehman, Programs, Life Cycles, and Laws of Software Evolution, Proc. IEEE 1980, for
        programs that have to follow changed requirements.
    """

    judged_in_sandbox = True

    def generate(self, rng: Rng) -> SpecificationChangeProblem:
        config = self.config
        layout = pick(rng, (0, 2))  # those with numbered rules
        for _ in range(_DRAWS):
            pair = _pair(rng, config)
            if pair is None:
                continue
            old, new = pair
            source = old.alternative if config.terse else old.golden
            if old.reference.ports == new.reference.ports and not refuted(source, new.reference):
                continue
            return SpecificationChangeProblem(
                description=wording(old, layout, terms=False),
                source=source,
                changes=tuple(_changes(old, new)),
                ports=new.reference.ports,
                clocking=new.clocking,
                steps=config.steps,
                reward=config.reward,
                golden=new.golden,
                alternative=new.alternative,
                accept_bounded=config.accept_bounded,
            )
        raise ConfigError(
            f"no family among {', '.join(config.families or FAMILIES)} has {config.steps} "
            f"features to add at level {config.level}; allow more families"
        )

    def prompt(self, problem: SpecificationChangeProblem) -> str:
        return "\n\n".join(
            [
                "Here is the specification of a module:",
                f"---\n\n{problem.description}\n\n---",
                "This implementation meets it:",
                f"```verilog\n{problem.source.strip()}\n```",
                (
                    "The specification changes as follows. All that is not mentioned stays as "
                    "it is; numbers of rules are those of the old specification."
                ),
                "\n".join(f"- {change}" for change in problem.changes),
                (
                    f"Answer with the complete module `{TOP}` that meets the changed "
                    "specification. It must behave exactly like a hidden reference design for "
                    f"every sequence of inputs. {ALLOWED}"
                ),
            ]
        )

    def verify(self, problem: SpecificationChangeProblem, answer: str) -> Verdict:
        if _texts(answer) == _texts(problem.source):
            return Verdict.wrong("it is the module that was shown, without any change")
        reference = Reference(problem.golden, problem.ports, problem.clocking, TOP)
        return judge(
            answer, reference, reward=problem.reward, accept_bounded=problem.accept_bounded
        )

    def solve(self, problem: SpecificationChangeProblem) -> str:
        return problem.alternative

    def effort(self, problem: SpecificationChangeProblem) -> float:
        """Return the effort of understanding the old module, and of each step to the new one."""
        new = min(writing_effort(problem.golden), writing_effort(problem.alternative))
        return writing_effort(problem.source) + problem.steps * new

    def baseline(self, rng: Rng, problem: SpecificationChangeProblem) -> str:
        """Return the module as it is given."""
        return problem.source


def _texts(source: str) -> list[str]:
    return [token.text for token in tokens(source)]


def _pair(rng: Rng, config: SpecificationChangeConfig) -> tuple[Design, Design] | None:
    """Return a design and the same with more features, None if too little stays."""
    task_type = family(pick(rng, config.families or FAMILIES))
    known = task_type.Config.at(config.level)
    most = int(knobs_of(task_type.Config)["features"].high or 0)
    if config.steps > most:
        return None
    # As many features as the level has, or so many fewer that there is room for the new ones.
    before = min(known.features, most - config.steps)
    seed = integer(rng, 0, 2**32 - 1)
    old, new = (
        task_type(replace(known, features=count)).design(stream("specification change", seed))
        for count in (before, before + config.steps)
    )
    if old.clocking != new.clocking or _kept(old, new) < _SAME * min(
        len(old.rules), len(new.rules)
    ):
        return None
    return (old, new) if (old.rules, old.figure) != (new.rules, new.figure) else None


def _kept(old: Design, new: Design) -> int:
    """Return how many rules stay."""
    blocks = difflib.SequenceMatcher(a=old.rules, b=new.rules, autojunk=False)
    return sum(block.size for block in blocks.get_matching_blocks())


def _changes(old: Design, new: Design) -> Iterator[str]:
    """Yield what changes, a sentence or paragraph each."""
    if old.title != new.title:
        yield f"The module is now {new.title}."
    yield from _port_changes(old, new)
    edits = difflib.SequenceMatcher(a=old.rules, b=new.rules, autojunk=False).get_opcodes()
    for kind, first, last, start, end in edits:
        if kind == "equal":
            continue
        if last - first == end - start:
            for number, rule in enumerate(new.rules[start:end], first + 1):
                yield f"Rule {number} is replaced by: {rule}"
            continue
        which = f"Rule {last}" if last - first == 1 else f"Rules {first + 1} to {last}"
        verb = ("is", "applies") if last - first == 1 else ("are", "apply")
        rules = " ".join(new.rules[start:end])
        if kind == "delete":
            yield f"{which} no longer {verb[1]}."
        elif kind == "replace":
            yield f"{which} {verb[0]} replaced by: {rules}"
        else:
            where = f"After rule {first}" if first else "Before rule 1"
            yield f"{where}, this is added: {rules}"
    if old.figure != new.figure:
        yield from _figure_changes(old.figure, new.figure)


def _figure_changes(old: str, new: str) -> Iterator[str]:
    if not new:
        yield "What stands below the rules is removed."
    else:
        place = (
            "What stands below the rules is replaced by this"
            if old
            else ("Below the rules, this is added")
        )
        indented = "\n".join(f"  {line}" if line else "" for line in new.split("\n"))
        yield f"{place}:\n\n{indented}"


def _port_changes(old: Design, new: Design) -> Iterator[str]:
    before = {signal.name: signal for signal in old.signals}
    for signal in new.signals:
        known = before.pop(signal.name, None)
        if known is None:
            yield f"There is a new {signal.direction}, {_told(signal)}."
        elif known != signal:
            same = known.direction == signal.direction
            kind = "" if same else f"an {signal.direction}, "
            yield f"The port `{signal.name}` changes. It is now {kind}{_told(signal)}."
    for name in before:
        yield f"The port `{name}` is removed."


def _told(signal: Signal) -> str:
    return f"`{signal.name}` ({signal.port.size}): {signal.meaning}"
