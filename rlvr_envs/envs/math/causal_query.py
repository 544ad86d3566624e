"""Causal queries: what observing, setting or imagining one variable says about another."""

from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.math._causal_draw import draw_model
from rlvr_envs.envs.math._causal_steps import Query, query_steps
from rlvr_envs.generators.mathematics.causal_model import Distribution, Mechanism, Model, distance
from rlvr_envs.generators.mathematics.causal_text import describe, question, read_distribution

LEVELS = ("association", "intervention", "counterfactual")
_TOLERANCE = Fraction(1, 100)
_GAP = Fraction(1, 20)  # how far the answer has to be from what a shortcut gives
_TRIES = 40
_NEAR = 3  # the second variable of the query is among this many before the last one


@dataclass(frozen=True, slots=True, kw_only=True)
class CausalQueryConfig:
    """The size of the causal graph, and what is asked of it."""

    n_variables: int = 5  # the variables of the query and those that they depend on
    n_bystanders: int = 2  # further variables, on which the query does not depend
    max_values: int = 2  # each variable takes 2..max_values values
    max_parents: int = 2
    denominator: int = 20  # probabilities told are multiples of 1/denominator
    levels: tuple[str, ...] = LEVELS  # one is drawn for each problem

    def __post_init__(self) -> None:
        if self.n_variables < 2 or self.n_bystanders < 0:
            raise ConfigError(f"need n_variables >= 2 and n_bystanders >= 0, got {self}")
        if not 2 <= self.max_values <= 4 or not 1 <= self.max_parents <= 4:
            raise ConfigError(f"need max_values in 2..4 and max_parents in 1..4, got {self}")
        if self.denominator not in (10, 20, 50, 100):
            raise ConfigError(f"denominator is 10, 20, 50 or 100, got {self.denominator}")
        if not self.levels or not set(self.levels) <= set(LEVELS):
            raise ConfigError(f"levels are some of {', '.join(LEVELS)}, got {self.levels!r}")

    @classmethod
    def at(cls, difficulty: int) -> "CausalQueryConfig":
        """A variable more each rung, a bystander every other; then more parents and values."""
        return cls(
            n_variables=2 + difficulty,
            n_bystanders=difficulty // 2,
            max_values=2 if difficulty < 4 else 3,
            max_parents=1 if difficulty == 0 else 2 if difficulty < 8 else 3,
            denominator=10 if difficulty < 2 else 20 if difficulty < 5 else 100,
        )


@dataclass(frozen=True, slots=True)
class CausalQueryProblem:
    """The mechanisms in the order told, and the query.

    Attributes:
        sizes: how many values each variable takes.
        mechanisms: one for each variable.
        denominator: the sum of the weights of every distribution told.
        level: association, intervention or counterfactual.
        target: the variable whose distribution is asked for.
        variable: the variable that is observed, set or imagined otherwise.
        value: the value that it is observed to have, or set to.
        seen: the values of the variable and the target that were seen before a counterfactual;
            empty otherwise.
        answer: the exact distribution.
    """

    sizes: tuple[int, ...]
    mechanisms: tuple[Mechanism, ...]
    denominator: int
    level: str
    target: int
    variable: int
    value: int
    seen: tuple[int, ...]
    answer: tuple[Fraction, ...] = hidden()


@register("CausalQuery-v0", domain="math")
class CausalQueryTask(Task[CausalQueryConfig, CausalQueryProblem]):
    """Compute a conditional, interventional or counterfactual distribution in a causal model.

    Description:
        A random causal graph with its mechanisms told in full. Associational and interventional
        queries tell conditional probability tables; counterfactual ones tell a structural model
        with independent noises, so that the answer is determined by the text. Problems whose
        answer is within total variation 0.05 of what a shortcut gives (ignoring the observation
        or the intervention, or taking one for the other), or that need less than half of the
        variables, are drawn again, up to a limit.

    Observation:
        The mechanisms in random order, and the query.

    Action:
        The list of the probabilities of the target's values, such as ``[0.25, 0.75]``.

    Reward:
        1 if the list is within total-variation distance 0.01 (inclusive) of the exact
        distribution, otherwise 0.

    Episode End:
        After one step.

    Verification:
        Exact rational arithmetic. The list must have a number in [0, 1] for every value, and its
        sum may miss 1 by what rounding to two digits explains.

    Difficulty:
        The variables that the query depends on grow, then the number of values and of parents.

    References:
        Generalization of RLVR Using Causal Reasoning as a Testbed, arXiv 2512.20760, 2025;
        Pearl, Causality, chapters 1, 3 and 7.

    Version History:
        v0: first version.
    """

    def generate(self, rng: Rng) -> CausalQueryProblem:
        level = pick(rng, self.config.levels)
        best, widest = self._draw(rng, level)
        for _ in range(_TRIES - 1):
            if widest >= _GAP:
                break
            problem, gap = self._draw(rng, level)
            if gap > widest:
                best, widest = problem, gap
        return best

    def prompt(self, problem: CausalQueryProblem) -> str:
        told = describe(problem.sizes, problem.mechanisms, problem.denominator)
        seen = problem.seen if problem.level == "counterfactual" else None
        asked = question(problem.level, problem.target, problem.variable, problem.value, seen)
        size = problem.sizes[problem.target]
        return f"{told}\n\n{asked} {_FORM.format(n=size, last=size - 1)}"

    def verify(self, problem: CausalQueryProblem, answer: str) -> Verdict:
        given = read_distribution(answer)
        if given is None:
            return Verdict.unparsable("expected a list of probabilities such as [0.25, 0.75]")
        size = len(problem.answer)
        if len(given) != size:
            return Verdict.wrong(f"the list must have {size} numbers, not {len(given)}")
        if abs(sum(given, Fraction(-1))) > Fraction(size, 200):
            return Verdict.wrong("the probabilities do not add up to 1")
        far = distance(given, problem.answer)
        if far > _TOLERANCE:
            return Verdict.wrong("the distribution is not within 0.01 of the right one")
        return Verdict.correct(distance=float(far))

    def solve(self, problem: CausalQueryProblem) -> str:
        hundredths = (int(100 * p + Fraction(1, 2)) for p in problem.answer)
        return f"[{', '.join(f'{h // 100}.{h % 100:02}' for h in hundredths)}]"

    def explain(self, problem: CausalQueryProblem) -> list[str]:
        model = Model(problem.sizes, problem.mechanisms)
        query = Query(problem.target, problem.variable, problem.value, problem.seen)
        return query_steps(model, problem.denominator, problem.level, query)

    def _draw(self, rng: Rng, level: str) -> tuple[CausalQueryProblem, Fraction]:
        """Draw a model and a query, with how far its answer is from those of the shortcuts."""
        model, target, variable = self._pose(rng, level)
        sizes = model.sizes
        value = integer(rng, 0, sizes[variable] - 1)
        seen: tuple[int, ...] = ()
        if level == "counterfactual":
            real = (value + integer(rng, 1, sizes[variable] - 1)) % sizes[variable]
            seen = (real, integer(rng, 0, sizes[target] - 1))
        answer, shortcuts = _answers(model, level, target, (variable, value, seen))
        told = tuple(model.mechanisms[v] for v in rng.permutation(len(sizes)).tolist())
        total = self.config.denominator
        problem = CausalQueryProblem(
            sizes, told, total, level, target, variable, value, seen, answer
        )
        gap = min(1 - max(answer), *(distance(answer, shortcut) for shortcut in shortcuts))
        return problem, gap

    def _pose(self, rng: Rng, level: str) -> tuple[Model, int, int]:
        """Draw a model, a target and the other variable, at least half of the model counting."""
        backwards = level == "association" and rng.random() < 0.5
        tries = 0
        while True:
            tries += 1
            sizes, mechanisms, order = draw_model(
                rng, self.config, structural=level == "counterfactual"
            )
            model = Model(sizes, mechanisms)
            pairs = [(order[-1], v) for v in order[max(0, len(order) - 1 - _NEAR) : -1]]
            if backwards:
                pairs = [(v, last) for last, v in pairs]
            broad = [pair for pair in pairs if _involved(model, level, *pair) >= len(order)]
            if broad or tries == _TRIES:
                return model, *pick(rng, broad or pairs)


_FORM = (
    "Answer with the list of its {n} probabilities, for the values 0 to {last} in this order, "
    "each rounded to two decimals."
)


def _involved(model: Model, level: str, target: int, variable: int) -> int:
    """Return twice the number of variables that bear on the query."""
    return 2 * model.involved(target, variable, None if level == "association" else variable)


def _answers(
    model: Model, level: str, target: int, query: tuple[int, int, tuple[int, ...]]
) -> tuple[Distribution, list[Distribution]]:
    """Return the answer to a query, and what the shortcuts say instead."""
    variable, value, seen = query
    marginal = model.observed(target, {})
    if level == "association":
        return model.observed(target, {variable: value}), [marginal]
    forced = model.intervened(target, variable, value)
    if level == "intervention":
        conditional = model.observed(target, {variable: value})
        # Without a confounder the two agree, and there is nothing to mix up.
        return forced, [marginal] if conditional == forced else [marginal, conditional]
    evidence = {variable: seen[0], target: seen[1]}
    return model.counterfactual(target, variable, value, evidence), [marginal, forced]
