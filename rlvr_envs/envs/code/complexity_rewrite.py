"""Rewriting a function so that its running time stays within a stated bound."""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar, TypeAlias, cast

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, draw_seed, integer, integers, pick, stream
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.slow_programs import fast_functions as _fast_functions
from rlvr_envs.generators.slow_programs import slow_functions as _slow_functions
from rlvr_envs.generators.slow_programs.bounds import GROWTH, KINDS
from rlvr_envs.generators.slow_programs.composed import compose, step_name, text_of
from rlvr_envs.generators.slow_programs.timed import SandboxFault, costs
from rlvr_envs.verifiers.program import Call, judge_function

Function: TypeAlias = Callable[[Any, int, int, int], int]
Args: TypeAlias = tuple[int | tuple[int, ...], ...]

_PARTS = (4, 2, 1)  # the largest size is timed divided by these
_LIMIT_S = 0.6  # and as much again as the next for each function: ten times the oracle's need
_MORE_S = 0.3
_EASY_S = 0.25  # below this, what a run takes says little about how it grows
_NOISE_S = 0.02
_LARGEST = 9999  # item of a list
_N_SMALL = 10
_LEVELS = ((1, 0), (1, 1), (2, 1), (2, 2), (2, 3), (3, 2))  # functions, and the hardest tier


@dataclass(frozen=True, slots=True, kw_only=True)
class ComplexityRewriteConfig(TaskConfig):
    """How many functions there are to rewrite, and which."""

    n_functions: int = knob(1, "functions to rewrite, each with its own argument", low=1)
    tier: int = knob(1, "the hardest kind of function, 0..3", low=0, high=3)
    max_constant: int = knob(6, "largest constant in the functions", low=2, high=20)

    @classmethod
    def at(cls, difficulty: int) -> "ComplexityRewriteConfig":
        """Harder kinds of functions and more of them take turns; from level 6 on they get more."""
        known = _LEVELS[difficulty] if difficulty < len(_LEVELS) else (difficulty - 3, 3)
        n_functions, tier = known
        return cls(n_functions=n_functions, tier=tier, max_constant=min(3 + difficulty, 20))


@dataclass(frozen=True, slots=True)
class Part:
    """One function, by its name here, with its numbers, and the weight of its result."""

    name: str
    a: int
    b: int
    m: int
    weight: int

    def function(self, module: ModuleType) -> Function:
        """Return the function as a module has it."""
        return cast(Function, getattr(module, self.name))


@dataclass(frozen=True, slots=True)
class Argument:
    """What is said of one argument: what it is, how time may grow with it, and how large it is."""

    takes: str
    bound: str
    largest: int


@dataclass(frozen=True, slots=True)
class Example:
    """Arguments and the result."""

    args: Args
    result: int


@dataclass(frozen=True, slots=True)
class ComplexityRewriteProblem:
    """The code, examples, and the bound for each argument."""

    source: str
    examples: tuple[Example, ...]
    arguments: tuple[Argument, ...]
    parts: tuple[Part, ...] = hidden()
    modulus: int = hidden()
    seed: int = hidden()  # of the hidden tests


@register("ComplexityRewrite-v0", domain="code", answer_format="fenced:python")
class ComplexityRewriteTask(Task[ComplexityRewriteConfig, ComplexityRewriteProblem]):
    """Rewrite a Python function so that its running time stays within a bound.

    Description:
        The function adds up the results of one or more others, each on an argument of its own.
        They count pairs in double loops, recompute the same things in recursions, or count up to
        numbers of fifteen digits; each can be done within a much better bound.

    Observation:
        The code, three examples, and for each argument the bound and the largest size timed.

    Action:
        Python code that defines `solve`.

    Reward:
        1 if every hidden test is passed, large ones in time, and the time grows as it should;
        otherwise 0.

    Verification:
        Ten small hidden tests, then new arguments of a quarter, a half and all of the largest
        size, each in a process of its own, with a limit on CPU seconds (of the whole process,
        measured from outside). The limit is ten times what the oracle needs or more, and a tenth
        of what the given code would need or less. An answer that stays within it but takes more
        than a quarter of a second must also not grow from the first of the three to the last by
        more than three times what the bound says. Only measured times count:
        an answer of a worse bound whose constants are small enough to take next to no time at the
        sizes given passes.
        Where the kernel does not count the CPU time of programs (docs/sandboxes.md), nothing is
        judged: an estimate can be evaded.

    Difficulty:
        Harder kinds of functions and more of them take turns; from level 6 on their number grows.

    References:
        Cormen et al., "Introduction to Algorithms"; Graham, Knuth and Patashnik, "Concrete
        Mathematics", for the sums of floors and for the circle.
    """

    judged_in_sandbox: ClassVar[bool] = True

    def generate(self, rng: Rng) -> ComplexityRewriteProblem:
        most = self.config.max_constant
        parts = tuple(
            Part(
                name,
                integer(rng, 1, most),
                integer(rng, 1, most),
                integer(rng, 10**3, 10**6),
                integer(rng, 1, most),
            )
            for name in self._draw_names(rng)
        )
        modulus = integer(rng, 10**6, 10**7)
        drawn = [_arguments(parts, rng, largest=9) for _ in range(3)]
        return ComplexityRewriteProblem(
            source=_text(parts, modulus, _slow_functions),
            examples=tuple(Example(args, _result(parts, modulus, args)) for args in drawn),
            arguments=tuple(Argument(*KINDS[part.name][1:4]) for part in parts),
            parts=parts,
            modulus=modulus,
            seed=draw_seed(rng),
        )

    def _draw_names(self, rng: Rng) -> list[str]:
        """Draw the functions: one of the hardest kind, the others of it or the one below."""
        tier = self.config.tier
        names = [pick(rng, [name for name, kind in KINDS.items() if kind.tier == tier])]
        known = [name for name, kind in KINDS.items() if tier - 1 <= kind.tier <= tier]
        while len(names) < self.config.n_functions:
            names.append(pick(rng, [name for name in known if name not in names] or known))
        rng.shuffle(names)
        return names

    def prompt(self, problem: ComplexityRewriteProblem) -> str:
        examples = [f"solve({_shown(e.args)}) == {e.result}" for e in problem.examples]
        bounds = []
        for number, argument in enumerate(problem.arguments, 1):
            what = (
                f"a list of n integers from 0 to {_LARGEST}"
                if argument.takes == "list"
                else "an integer n >= 0"
            )
            bounds.append(
                f"- `x{number}` is {what}: {argument.bound}, with n <= {argument.largest} in the "
                "tests"
            )
        return (
            "This Python function is correct, but its running time grows too fast with the size "
            "of its input. Write a function `solve` that returns the same results within the time "
            "bounds below.\n\n"
            f"```python\n{problem.source}\n```\n\nExamples:\n\n```\n"
            + "\n".join(examples)
            + "\n```\n\nThis list says what each argument is, how the running time may grow with "
            "it, "
            "and how large it gets. Treat all constants in the code as constant, and count each "
            "operation on integers as one step.\n\n"
            + "\n".join(bounds)
            + "\n\nEach call runs in a new process with a limit on CPU time, which is generous for "
            "code within the bounds. Use only Python's standard library. The code above is not "
            "loaded: include everything that your function needs."
        )

    def verify(self, problem: ComplexityRewriteProblem, answer: str) -> Verdict:
        rng = stream("ComplexityRewrite", problem.seed)
        small = [self._call(problem, _arguments(problem.parts, rng)) for _ in range(_N_SMALL)]
        verdict = judge_function(answer, "solve", small)
        if verdict.score < 1.0:
            return verdict
        large = [self._call(problem, _arguments(problem.parts, rng, part=part)) for part in _PARTS]
        try:
            taken = costs(
                answer,
                "solve",
                [small[0], *large],
                cpu_s=_LIMIT_S + _MORE_S * len(problem.parts),
            )
        except SandboxFault as fault:
            return fault.verdict()
        if isinstance(taken, str):
            return Verdict.wrong(taken, **verdict.parts)
        start, quarter, _, whole = taken
        growth = (whole - start) / max(quarter - start, _NOISE_S)
        allowed = max(GROWTH[argument.bound] for argument in problem.arguments)
        if whole - start > _EASY_S + _MORE_S * (len(problem.parts) - 1) and growth > allowed:
            return Verdict.wrong(
                "the running time grows faster than the bound allows", **verdict.parts
            )
        return verdict

    def _call(self, problem: ComplexityRewriteProblem, args: Args) -> Call:
        plain = tuple(list(arg) if isinstance(arg, tuple) else arg for arg in args)
        return Call(plain, _result(problem.parts, problem.modulus, args))

    def solve(self, problem: ComplexityRewriteProblem) -> str:
        return _text(problem.parts, problem.modulus, _fast_functions)

    def effort(self, problem: ComplexityRewriteProblem) -> int:
        """Count the words and signs of the fast functions, each times the number of its tier."""
        return sum(
            (1 + KINDS[part.name].tier) * code_length(text_of(part.function(_fast_functions)))
            for part in problem.parts
        )

    def baseline(self, rng: Rng, problem: ComplexityRewriteProblem) -> str:
        """Return the given code as it is."""
        return problem.source


def _text(parts: tuple[Part, ...], modulus: int, module: ModuleType) -> str:
    names = [f"x{number}" for number in range(1, len(parts) + 1)]
    types = ["list[int]" if KINDS[part.name].takes == "list" else "int" for part in parts]
    head = ", ".join(f"{name}: {kind}" for name, kind in zip(names, types, strict=True))
    lines = [f"def solve({head}) -> int:", "    total = 0"]
    for number, part in enumerate(parts, 1):
        call = f"{step_name(number)}(x{number}, {part.a}, {part.b}, {part.m})"
        lines.append(f"    total += {part.weight} * {call}")
    lines.append(f"    return total % {modulus}")
    return compose([part.function(module) for part in parts], "\n".join(lines))


def _result(parts: tuple[Part, ...], modulus: int, args: Args) -> int:
    total = 0
    for part, arg in zip(parts, args, strict=True):
        total += part.weight * part.function(_fast_functions)(arg, part.a, part.b, part.m)
    return total % modulus


def _arguments(
    parts: tuple[Part, ...], rng: Rng, *, largest: int | None = None, part: int = 0
) -> Args:
    """Draw arguments: small ones, or the largest ones divided by ``part``."""
    drawn: list[int | tuple[int, ...]] = []
    for item in parts:
        kind = KINDS[item.name]
        size = kind.largest // part if part else integer(rng, 0, min(kind.small, largest or 10**9))
        if kind.takes == "list":
            top = _LARGEST if part else pick(rng, (4, 60, _LARGEST))
            drawn.append(integers(rng, 0, top, size))
        else:
            drawn.append(size - integer(rng, 0, size // 10) if part else size)
    return tuple(drawn)


def _shown(args: Args) -> str:
    return ", ".join(str(list(arg)) if isinstance(arg, tuple) else str(arg) for arg in args)
