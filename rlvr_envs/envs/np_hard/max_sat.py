"""Maximum satisfiability: truth values that satisfy as many clauses as possible."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Variant
from rlvr_envs.generators.optimisation.lists import listed
from rlvr_envs.generators.optimisation.task import (
    Infeasible,
    OptimisationConfig,
    OptimisationTask,
    Reference,
    Unreadable,
    budget_at,
    ramp,
)
from rlvr_envs.solvers import cp_sat
from rlvr_envs.verifiers.parse import integers

Clauses: TypeAlias = tuple[tuple[int, ...], ...]

_MAX_VARIABLES, _MAX_CLAUSES = 400, 2_000  # more than any level has
_MINUS = str.maketrans("\u2212\u2013", "--")  # the typographic signs


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxSatConfig(OptimisationConfig):
    """How many variables and clauses there are; many clauses for a variable cannot all hold."""

    n_variables: int = knob(10, "variables", high=_MAX_VARIABLES)
    n_clauses: int = knob(45, "clauses", high=_MAX_CLAUSES)
    clause_size: int = knob(3, "variables in a clause")

    def check(self) -> None:
        if not 2 <= self.clause_size <= min(5, self.n_variables):
            raise ConfigError(f"clause_size is from 2 to 5 and at most n_variables, got {self}")
        possible = math.comb(self.n_variables, self.clause_size) * 2**self.clause_size
        if not 4 <= self.n_clauses <= possible // 2:
            raise ConfigError(
                f"n_clauses is from 4 to half of the {possible} possible ones, got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "MaxSatConfig":
        """Variables and clauses are added, and the clauses faster up to five for a variable."""
        return cls(
            budget=budget_at(difficulty),
            n_variables=ramp(difficulty, 8, easy=11, medium=20, hard=30, bench=36),
            n_clauses=ramp(difficulty, 34, easy=50, medium=95, hard=150, bench=180),
        )


@dataclass(frozen=True, slots=True)
class MaxSatProblem:
    """Clauses of literals: variable 3 is the number 3, its negation -3."""

    n_variables: int
    clauses: Clauses
    reference: Reference = hidden()


@register("MaxSat-v0", domain="np_hard")
class MaxSatTask(OptimisationTask[MaxSatConfig, MaxSatProblem]):
    """Choose truth values for variables so that as many clauses as possible are satisfied.

    Description:
        The clauses are random and all different, and so many that the best truth values usually
        leave a few of them unsatisfied.

    Observation:
        The clauses, each a list of numbers: a positive number stands for a variable, a negative
        one for its negation.

    Action:
        Every variable once, as a positive number if it is true and a negative one if it is false.

    Reward:
        Scheme ``over_greedy``: how far the number of satisfied clauses lies between that of
        setting the variables in turn, each to the value that satisfies more of the clauses not
        satisfied yet, which earns 0, and the most known, which earns 1. Any truth values satisfy
        about seven in eight clauses of three, so ``ratio`` begins at the better of two answers
        that need no look at the clauses: all variables true, and all false. A variable left out or
        given twice earns 0.

    Verification:
        The satisfied clauses are counted. The most known comes from CP-SAT, and the row says
        whether it is proven. No known gaps.

    Difficulty:
        Only the size grows: more variables and clauses.

    References:
        Johnson, "Approximation algorithms for combinatorial problems", 1974. Selman, Kautz and
        Cohen, 1994, for the move of the local search.
    """

    sense: ClassVar[Literal["max", "min"]] = "max"

    def draw(self, rng: Rng) -> MaxSatProblem:
        n, clauses = self.config.n_variables, self._clauses(rng)
        known = _climbed(n, clauses, _in_turn(n, clauses))
        reference = Reference.known(
            _satisfied(clauses, known), listed(known), trivial=_constant(n, clauses)
        )
        return MaxSatProblem(n, clauses, reference)

    def _clauses(self, rng: Rng) -> Clauses:
        config = self.config
        drawn: dict[tuple[int, ...], None] = {}
        for _ in range(20 * config.n_clauses):  # at least every other draw is new
            if len(drawn) == config.n_clauses:
                break
            places = sorted(rng.permutation(config.n_variables)[: config.clause_size].tolist())
            drawn[tuple((place + 1) * pick(rng, (1, -1)) for place in places)] = None
        return tuple(drawn)

    def improve(self, rng: Rng, problem: MaxSatProblem) -> Reference:
        n, clauses, known = problem.n_variables, problem.clauses, problem.reference
        model = cp_sat.new_model()
        true = [model.new_bool_var("") for _ in range(n)]
        broken = []
        for clause in clauses:
            broken.append(model.new_bool_var(""))
            literals = [true[v - 1] if v > 0 else ~true[-v - 1] for v in clause]
            model.add_bool_or([*literals, broken[-1]])
        model.minimize(sum(broken))
        for variable, literal in zip(true, _read(problem, known.answer), strict=True):
            model.add_hint(variable, literal > 0)
        solved = cp_sat.solve(model, true, budget=self.config.budget)
        if solved is None:
            return dataclasses.replace(known, bound=len(clauses))
        best = len(clauses) - solved.objective
        return Reference(
            objective=best,
            bound=len(clauses) - solved.bound,
            proven=solved.proven,
            trivial=known.trivial,
            answer=listed(v if holds else -v for v, holds in enumerate(solved.values, start=1)),
            effort=solved.effort,
        )

    def prompt(self, problem: MaxSatProblem) -> str:
        n = problem.n_variables
        lines = "\n".join(f"{i}: {listed(clause)}" for i, clause in enumerate(problem.clauses, 1))
        credit = self.partial_credit(
            "it satisfies more clauses than setting the variables 1, 2, 3, ... in turn, each to "
            "the value that satisfies more of the clauses not satisfied yet (true if equally many)",
            "it satisfies more clauses than setting all variables true does, and more than setting "
            "all variables false does",
        )
        return (
            f"There are {n} Boolean variables, numbered from 1 to {n}, and {len(problem.clauses)} "
            "clauses, one on each line (clause number: literals). The literal 3 is true if "
            "variable 3 is true, and the literal -3 is true if variable 3 is false. A clause is "
            f"satisfied if at least one of its literals is true.\n\n{lines}\n\nChoose truth values "
            f"that satisfy as many clauses as possible (MaxSAT). {credit} Answer with one literal "
            "for every variable, separated by commas: its number if the variable is true, and its "
            "number with a minus sign if it is false. For example, 1, -2 means that variable 1 is "
            "true and variable 2 is false."
        )

    def measure(self, problem: MaxSatProblem, answer: str) -> int:
        return _satisfied(problem.clauses, _read(problem, answer))

    def variant(self, problem: MaxSatProblem, rng: Rng) -> Variant[MaxSatProblem] | None:
        """Negate every literal, number the variables otherwise, and list clauses otherwise."""
        new = [1 + i for i in rng.permutation(problem.n_variables).tolist()]

        def turned(literal: int) -> int:
            number: int = new[abs(literal) - 1]
            return -number if literal > 0 else number

        def answer(text: str) -> str:
            return listed(sorted((turned(int(v)) for v in text.split(",")), key=abs))

        clauses = [
            tuple(sorted(map(turned, problem.clauses[i]), key=abs))
            for i in rng.permutation(len(problem.clauses)).tolist()
        ]
        changed = dataclasses.replace(problem, clauses=tuple(clauses))
        made = self.varied(problem, changed, answer(self.solve(problem)), rng)
        return None if made is None else Variant(made, answer, ("negation", "names", "order"))

    def explain(self, problem: MaxSatProblem) -> list[str]:
        """Return variable by variable which further clauses its value satisfies."""
        left = dict(enumerate(problem.clauses, 1))
        values = set(_read(problem, self.solve(problem)))
        steps = []
        while values:
            satisfied = {
                v: [i for i, clause in left.items() if v in clause] for v in sorted(values)
            }
            best = max(satisfied, key=lambda v: len(satisfied[v]))
            values.remove(best)
            for i in satisfied[best]:
                del left[i]
            numbers = satisfied[best]
            clauses = f"clause{'s' * (len(numbers) > 1)} {listed(numbers)}"
            steps.append(
                f"{best} (variable {abs(best)} is {'true' if best > 0 else 'false'}) satisfies "
                f"{clauses if numbers else 'no further clause'}."
            )
        steps.append(f"Clauses not satisfied: {listed(left) or 'none'}.")
        return [*steps, self.conclusion(problem, "The number of satisfied clauses")]

    def baseline(self, rng: Rng, problem: MaxSatProblem) -> str:
        """Set each variable in turn to the value that satisfies more of the clauses left."""
        return listed(_in_turn(problem.n_variables, problem.clauses))

    def neighbour(self, problem: MaxSatProblem, answer: str, rng: Rng) -> str:
        """Turn over a variable, one time in two one of an unsatisfied clause."""
        values = sorted(_read(problem, answer), key=abs)
        failed = [clause for clause in problem.clauses if not set(values).intersection(clause)]
        turned = integer(rng, 1, problem.n_variables)
        if failed and integer(rng, 0, 1):
            turned = abs(pick(rng, pick(rng, failed)))
        values[turned - 1] = -values[turned - 1]
        return listed(values)


def _read(problem: MaxSatProblem, answer: str) -> list[int]:
    """Return an answer's literals, one for each variable."""
    n = problem.n_variables
    found = integers(answer.translate(_MINUS))
    if not found:
        raise Unreadable("expected every variable once, as a number with or without a minus sign")
    if any(not 1 <= abs(literal) <= n for literal in found):
        raise Infeasible(f"a number is not a variable: variables are numbered from 1 to {n}")
    if len(set(map(abs, found))) < len(found):
        raise Infeasible("a variable is given two values")
    if len(found) < n:
        raise Infeasible(f"{n - len(found)} of {n} variables have no value")
    return found


def _satisfied(clauses: Clauses, values: Sequence[int]) -> int:
    right = frozenset(values)
    return sum(not right.isdisjoint(clause) for clause in clauses)


def _constant(n: int, clauses: Clauses) -> int:
    """Return the clauses satisfied by all true or by all false, whichever are more."""
    return max(_satisfied(clauses, [sign * v for v in range(1, n + 1)]) for sign in (1, -1))


def _in_turn(n: int, clauses: Clauses) -> list[int]:
    """Return truth values set in turn, each to where it satisfies more of the clauses left."""
    values: list[int] = []
    left = list(clauses)
    for variable in range(1, n + 1):
        wanted = sum(variable in clause for clause in left)
        unwanted = sum(-variable in clause for clause in left)
        values.append(variable if wanted >= unwanted else -variable)
        left = [clause for clause in left if values[-1] not in clause]
    return values


def _climbed(n: int, clauses: Clauses, values: Sequence[int]) -> list[int]:
    """Return truth values after turning over single variables as long as one of them helps."""
    best = list(values)
    count = _satisfied(clauses, best)
    while True:
        turned = [[*best[:i], -best[i], *best[i + 1 :]] for i in range(n)]
        better = max(turned, key=lambda changed: _satisfied(clauses, changed))
        if _satisfied(clauses, better) <= count:
            return best
        best, count = better, _satisfied(clauses, better)
