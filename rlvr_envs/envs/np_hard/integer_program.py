"""Linear programs in whole numbers, or with some of them, told as business stories."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.np_hard._integer_stories import STORIES
from rlvr_envs.generators.optimisation.linear_programs import Program, explained_whole
from rlvr_envs.generators.optimisation.stories import MAX_NUMBER, Size
from rlvr_envs.solvers import cp_sat
from rlvr_envs.solvers.cp_sat import Solved
from rlvr_envs.verifiers.symbolic import judge_math


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerProgramConfig:
    """How large the programs are, and which stories are told."""

    n_choices: int = 3  # quantities to choose, at the least
    n_limits: int = 2  # limits beside those on single quantities
    max_number: int = 12
    budget: float = 0.2  # deterministic seconds for the proof; without one, a smaller draw is made
    story: str = "any"  # or one of furniture, pipes, shifts, depots, projects, trucks, power

    def __post_init__(self) -> None:
        if not (2 <= self.n_choices <= 30 and 1 <= self.n_limits <= 30):
            raise ConfigError(f"need n_choices in 2..30 and n_limits in 1..30, got {self}")
        if not 3 <= self.max_number <= MAX_NUMBER or not 0 < self.budget < 3600:
            raise ConfigError(
                f"need max_number in 3..{MAX_NUMBER} and budget in seconds, got {self}"
            )
        if self.story not in ("any", *STORIES):
            raise ConfigError(f"story is any or one of {', '.join(STORIES)}, got {self.story!r}")

    @classmethod
    def at(cls, difficulty: int) -> "IntegerProgramConfig":
        """Choices, limits and numbers grow."""
        return cls(
            n_choices=min(30, 2 + difficulty // 2),
            n_limits=min(30, 1 + difficulty // 2),
            max_number=min(MAX_NUMBER, 6 + 2 * difficulty),
        )


@dataclass(frozen=True, slots=True)
class IntegerProgramProblem:
    """The story and its numbers, the optimum, and how much work its proof was."""

    story: str
    numbers: tuple[tuple[int, ...], ...]
    optimum: int = hidden()
    work: int = hidden()


@register("IntegerProgram-v0", domain="np_hard")
class IntegerProgramTask(Task[IntegerProgramConfig, IntegerProgramProblem]):
    """Find the optimum of a program in whole numbers that is told as a story.

    Description:
        Seven stories: furniture from scarce materials, pipes cut into pieces, shifts of nurses,
        depots to open, projects within budgets, trucks to hire, and power plants to start. The
        program is to be set up and solved; in the stories of depots and power plants, only some
        quantities are whole. A draw whose optimum is not proven within the budget is replaced by
        one of half the size.

    Observation:
        The story with all its numbers, which are whole.

    Action:
        The optimal value, a whole number.

    Reward:
        1 for the optimum, otherwise 0.

    Episode End:
        After one step.

    Verification:
        Exact: CP-SAT proves the optimum in whole numbers. No known gaps.

    Difficulty:
        More quantities and limits, and larger numbers.

    References:
        Wolsey, "Integer Programming", 1998. Zhou et al., "StepORLM", 2025 (arXiv:2509.22558), for
        programs told as stories whose answer a solver verifies.

    Version History:
        v0: first version.
    """

    def generate(self, rng: Rng) -> IntegerProgramProblem:
        config = self.config
        story = pick(rng, sorted(STORIES)) if config.story == "any" else config.story
        shrink = 0
        while True:  # the smallest draws are solved before any search
            choices, limits = config.n_choices >> shrink, config.n_limits >> shrink
            size = Size(max(2, choices), max(1, limits), config.max_number)
            numbers = STORIES[story].draw(rng, size)
            smallest = choices <= 2 and limits <= 1
            budget = 60.0 if smallest else config.budget
            solved = best(STORIES[story].program(numbers), budget)
            if solved is not None and (solved.proven or smallest):
                return IntegerProgramProblem(story, numbers, solved.objective, solved.effort)
            shrink += 1

    def prompt(self, problem: IntegerProgramProblem) -> str:
        told = STORIES[problem.story].tell(problem.numbers)
        return f"{told} Answer with the number alone."

    def verify(self, problem: IntegerProgramProblem, answer: str) -> Verdict:
        return judge_math(str(problem.optimum), answer, answer_type="integer", exact=True)

    def solve(self, problem: IntegerProgramProblem) -> str:
        return str(problem.optimum)

    def explain(self, problem: IntegerProgramProblem) -> list[str]:
        """Return the program in symbols, and its optimum by branch and bound."""
        return explained_whole(STORIES[problem.story].program(problem.numbers), problem.optimum)

    def effort(self, problem: IntegerProgramProblem) -> int:
        """Return how much work the proof was, in deterministic microseconds."""
        return problem.work


def best(program: Program, budget: float) -> Solved | None:
    """Return the best whole solution that CP-SAT finds, with its proof or without."""
    model = cp_sat.new_model()
    variables = [model.new_int_var(0, most, "") for most in _most(program)]
    for weights, sense, bound in program.rows:
        total = sum(w * x for w, x in zip(weights, variables, strict=True) if w)
        if sense == "<=":
            model.add(total <= bound)
        elif sense == ">=":
            model.add(total >= bound)
        else:
            model.add(total == bound)
    objective = sum(c * x for c, x in zip(program.objective, variables, strict=True))
    if program.sense == "max":
        model.maximize(objective)
    else:
        model.minimize(objective)
    return cp_sat.solve(model, variables, budget=budget)


def _most(program: Program) -> list[int]:
    """Return a number for each variable that it need not pass.

    An upper limit of the program itself, or else what would meet every demand alone.
    """
    found = []
    for j in range(len(program.objective)):
        limits = [
            bound // weights[j]
            for weights, sense, bound in program.rows
            if sense != ">=" and weights[j] > 0 and min(weights) >= 0
        ]
        demands = [
            -(-bound // weights[j])
            for weights, sense, bound in program.rows
            if sense == ">=" and weights[j] > 0
        ]
        found.append(min(limits) if limits else max(demands))
    return found
