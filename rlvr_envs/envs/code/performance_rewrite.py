"""Rewriting a slow Python function so that it is many times as fast."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt
from types import ModuleType
from typing import ClassVar, TypeAlias, cast

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, draw_seed, integer, integers, pick, stream
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.slow_programs import fast_stages as _fast_stages
from rlvr_envs.generators.slow_programs import slow_stages as _slow_stages
from rlvr_envs.generators.slow_programs.composed import compose, step_name, text_of
from rlvr_envs.generators.slow_programs.timed import SandboxFault, costs
from rlvr_envs.verifiers.program import Call, judge_function

Stage: TypeAlias = Callable[[list[int], int, int], list[int]]

STAGES = (
    ("running_total", "remaining_total", "earlier_equals", "highest_so_far"),
    ("window_total", "gap_to_equal", "smaller_later", "partners"),
    ("next_higher", "window_peak", "best_recent_sum", "longest_climb"),
    ("lucky_blocks", "lows_of_blocks", "distances", "mixed_bits"),
)

_MEASURED = 1_500_000  # inner loops, times two, of the given code where it is measured: about 30 ms
_LIMIT = 16  # the time allowed at full length, in units of the time measured at the short one
_LEAST_S = 0.2  # never allow less: this much more than starting Python takes
_MOST_S = 20.0  # the given code's own limit, far above what it needs
_LARGEST = 9999  # item of an input
_N_SMALL = 10
_N_TIMED = 2
_LEVELS = ((1, 0), (2, 0), (1, 1), (2, 1), (2, 2), (3, 2))  # steps, and the hardest tier


@dataclass(frozen=True, slots=True, kw_only=True)
class PerformanceRewriteConfig(TaskConfig):
    """How much code there is to speed up, and by how much."""

    n_steps: int = knob(2, "quadratic loops, one after the other", low=1)
    tier: int = knob(1, "the hardest kind of step, 0..3", low=0, high=len(STAGES) - 1)
    speedup: int = knob(20, "how many times as fast the answer must be", low=10, high=100)

    @classmethod
    def at(cls, difficulty: int) -> "PerformanceRewriteConfig":
        """Harder kinds of steps and more of them take turns; the speed-up grows to 80."""
        known = _LEVELS[difficulty] if difficulty < len(_LEVELS) else (difficulty - 3, 3)
        n_steps, tier = known
        return cls(n_steps=n_steps, tier=tier, speedup=min(20 + 2 * difficulty, 80))


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the function, by its name here, with its two numbers."""

    name: str
    a: int
    m: int


@dataclass(frozen=True, slots=True)
class Recipe:
    """What the function does: its steps, and the polynomial that makes one number of the list."""

    steps: tuple[Step, ...]
    base: int
    modulus: int

    def text(self, module: ModuleType) -> str:
        """Return the function's text, with the steps of a module."""
        lines = ["def solve(xs: list[int]) -> int:"]
        for number, step in enumerate(self.steps, 1):
            lines.append(f"    xs = {step_name(number)}(xs, {step.a}, {step.m})")
        lines += [
            "    value = 0",
            "    for x in xs:",
            f"        value = (value * {self.base} + x) % {self.modulus}",
            "    return value",
        ]
        return compose([_stage(module, step.name) for step in self.steps], "\n".join(lines))

    def result(self, xs: Sequence[int]) -> int:
        """Return what the function returns."""
        items = list(xs)
        for step in self.steps:
            items = _stage(_fast_stages, step.name)(items, step.a, step.m)
        value = 0
        for x in items:
            value = (value * self.base + x) % self.modulus
        return value


def _stage(module: ModuleType, name: str) -> Stage:
    return cast(Stage, getattr(module, name))


@dataclass(frozen=True, slots=True)
class Example:
    """An argument and the result."""

    xs: tuple[int, ...]
    result: int


@dataclass(frozen=True, slots=True)
class PerformanceRewriteProblem:
    """The slow code, examples, and how fast the answer must be on how long a list."""

    source: str
    examples: tuple[Example, ...]
    speedup: int
    timed_length: int
    measured_length: int = hidden()
    recipe: Recipe = hidden()
    seed: int = hidden()  # of the hidden tests


@register("PerformanceRewrite-v0", domain="code", answer_format="fenced:python")
class PerformanceRewriteTask(Task[PerformanceRewriteConfig, PerformanceRewriteProblem]):
    """Make a correct but slow Python function many times as fast.

    Description:
        The function sends a list through steps that are plain double loops, and folds what comes
        out into one number. Each step has a way without the inner loop (running sums, dictionaries,
        monotone stacks, Fenwick trees, ...), and a single step left as it is costs too much.

    Observation:
        The code, three examples, the length of the timed lists and the speed-up asked for.

    Action:
        Python code that defines `solve`.

    Reward:
        1 if every hidden test is passed and every timed one in the time allowed, otherwise 0.

    Verification:
        Ten small hidden lists first. Then the given code is run on a list short enough to take
        some 30 ms, and, right after it, the answer on two long lists that were never used before;
        the given code's time on those follows from its loops, which run n * (n - 1) / 2 times
        whatever is in the list. Times are CPU seconds of whole processes, measured outside of
        them; every call has its own process, so that nothing is kept between calls, and work done
        while the code is loaded counts. The given code is not in the answer's sandbox. The given
        code takes as many times the time allowed as the speed-up says, the oracle's a quarter of
        it at most, so that noise decides neither; an answer close to the limit may be judged
        either way. A step that is only moved into built-in functions passes where it is
        in fact as fast as asked.
        Where the kernel does not count the CPU time of programs (docs/sandboxes.md), nothing is
        judged: an estimate can be evaded.

    Difficulty:
        Harder kinds of steps and more of them take turns; from level 6 on their number grows. The
        speed-up grows up to 80.

    References:
        Liu et al., "Dr. Kernel: Reinforcement Learning Done Right for Triton Kernel Generations",
        for judging speed beside correctness; Bentley, "Writing Efficient Programs", 1982.
    """

    judged_in_sandbox: ClassVar[bool] = True

    def generate(self, rng: Rng) -> PerformanceRewriteProblem:
        config = self.config
        recipe = Recipe(
            tuple(
                Step(name, integer(rng, 1, 20), integer(rng, 50, 5000))
                for name in self._draw_names(rng)
            ),
            integer(rng, 3, 999),
            integer(rng, 10**5, 10**6),
        )
        lists = [integers(rng, 0, 19, integer(rng, 4, 8)) for _ in range(3)]
        measured = isqrt(_MEASURED // config.n_steps)
        return PerformanceRewriteProblem(
            source=recipe.text(_slow_stages),
            examples=tuple(Example(xs, recipe.result(xs)) for xs in lists),
            speedup=config.speedup,
            timed_length=isqrt(measured**2 * _LIMIT * config.speedup),
            measured_length=measured,
            recipe=recipe,
            seed=draw_seed(rng),
        )

    def _draw_names(self, rng: Rng) -> list[str]:
        """Draw the steps: one of the hardest kind, the others of it or the one below."""
        tier = self.config.tier
        known = [name for names in STAGES[max(0, tier - 1) : tier + 1] for name in names]
        names = [pick(rng, STAGES[self.config.tier])]
        while len(names) < self.config.n_steps:
            unused = [name for name in known if name not in names] or known
            names.append(pick(rng, unused))
        rng.shuffle(names)
        return names

    def prompt(self, problem: PerformanceRewriteProblem) -> str:
        shown = "\n".join(f"solve({list(e.xs)}) == {e.result}" for e in problem.examples)
        return (
            "This Python function is correct, but slow. Write a much faster function `solve` that "
            "returns the same results.\n\n"
            f"```python\n{problem.source}\n```\n\n"
            f"Examples:\n\n```\n{shown}\n```\n\n"
            f"The argument is a list of integers from 0 to {_LARGEST}; it may be empty. On lists "
            "of "
            f"{problem.timed_length} integers, your function may use at most 1/{problem.speedup} "
            "of the CPU time of the code above. Each call runs in a new process, and the time "
            "includes starting Python and loading your code. Use only Python's standard library. "
            "The code above is not loaded: include everything that your function needs."
        )

    def verify(self, problem: PerformanceRewriteProblem, answer: str) -> Verdict:
        rng = stream("PerformanceRewrite", problem.seed)
        verdict = judge_function(answer, "solve", self._small_calls(problem, rng))
        if verdict.score < 1.0:
            return verdict
        try:
            given = costs(
                problem.source,
                "solve",
                [self._call(problem, integers(rng, 0, _LARGEST, problem.measured_length))],
                cpu_s=_MOST_S,
            )
            if isinstance(given, str):
                return Verdict.verifier_error(f"the given code: {given}")
            scale = (problem.timed_length / problem.measured_length) ** 2
            limit = max(given[0] * scale / problem.speedup, _LEAST_S)
            timed = [
                self._call(problem, integers(rng, 0, _LARGEST, problem.timed_length))
                for _ in range(_N_TIMED)
            ]
            taken = costs(answer, "solve", timed, cpu_s=limit)
        except SandboxFault as fault:
            return fault.verdict()
        if isinstance(taken, str):
            return Verdict.wrong(taken, **verdict.parts)
        speedup = round(given[0] * scale / max(*taken, 1e-3), 1)
        return Verdict(1.0, Status.CORRECT, "", {**verdict.parts, "speedup": speedup})

    def _small_calls(self, problem: PerformanceRewriteProblem, rng: Rng) -> list[Call]:
        calls = [self._call(problem, ())]
        for size in range(1, _N_SMALL):
            largest = pick(rng, (3, 30, _LARGEST))
            calls.append(self._call(problem, integers(rng, 0, largest, 3 * size)))
        return calls

    def _call(self, problem: PerformanceRewriteProblem, xs: Sequence[int]) -> Call:
        return Call((list(xs),), problem.recipe.result(xs))

    def solve(self, problem: PerformanceRewriteProblem) -> str:
        return problem.recipe.text(_fast_stages)

    def effort(self, problem: PerformanceRewriteProblem) -> int:
        """Count the words and signs of the fast steps, each times the number of its tier."""
        tiers = {name: tier for tier, names in enumerate(STAGES, 1) for name in names}
        return sum(
            tiers[step.name] * code_length(text_of(_stage(_fast_stages, step.name)))
            for step in problem.recipe.steps
        )

    def baseline(self, rng: Rng, problem: PerformanceRewriteProblem) -> str:
        """Return the given code as it is."""
        return problem.source
