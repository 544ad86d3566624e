"""Points, lines, polygons and circles in the coordinate plane."""

import re
from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.math._plane import KINDS, Scale
from rlvr_envs.envs.math._plane_steps import STEPS
from rlvr_envs.generators.mathematics.plain_answers import squeeze
from rlvr_envs.verifiers.symbolic import judge_math

_EASY = 5  # the first kinds, which need one formula each, make up the lowest rungs

_SIGN = re.compile(r"(?<=[0-9xy)}])[+-]")
_SUM_IN_BRACKETS = re.compile(r"[({][^(){}]*[0-9][+-]")
_OPEN_POWER = re.compile(r"(?:\^|\*\*)(?!\{?\(?(?:1/2|0?\.5|\\frac\{1\}\{2\}|\\frac12))")


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinateGeometryConfig:
    """Which questions are asked, and how large their numbers are."""

    kinds: tuple[str, ...] = tuple(KINDS)  # some of the kinds that the task's text lists
    max_coordinate: int = 20  # coordinates and coefficients lie in -max_coordinate..max_coordinate
    max_denominator: int = 1  # coordinates have denominators 1..max_denominator
    n_vertices: int = 4  # of the polygon whose area is asked for

    def __post_init__(self) -> None:
        if not self.kinds or not set(self.kinds) <= set(KINDS):
            raise ConfigError(f"kinds are some of {', '.join(KINDS)}, got {self.kinds!r}")
        if self.max_denominator < 1 or not 3 <= self.n_vertices <= self.max_coordinate:
            raise ConfigError(
                "need max_denominator >= 1, n_vertices >= 3 and max_coordinate >= n_vertices, "
                f"got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "CoordinateGeometryConfig":
        """Coordinates double a rung; denominators and vertices grow every other rung.

        The lowest two rungs ask for the kinds of one formula alone.
        """
        return cls(
            kinds=tuple(KINDS)[: _EASY if difficulty < 2 else None],
            max_coordinate=5 * 2**difficulty,
            max_denominator=1 + difficulty // 2,
            n_vertices=3 + difficulty // 2,
        )


@dataclass(frozen=True, slots=True)
class CoordinateGeometryProblem:
    """The kind of question, its coordinates and coefficients in turn, and the answer in LaTeX."""

    kind: str
    numbers: tuple[Fraction, ...]
    answer: str = hidden()


@register("CoordinateGeometry-v0", domain="math")
class CoordinateGeometryTask(Task[CoordinateGeometryConfig, CoordinateGeometryProblem]):
    """Compute a point, a length, an area or a line in the coordinate plane, exactly.

    Description:
        Ten kinds: distance of two points; midpoint or another section of a segment; area of a
        polygon; line through two points; where two lines meet; reflection of a point in a line;
        foot of a perpendicular; distance of a point from a line; centre of the circle through
        three points; radius of a circle given by its expanded equation.

    Observation:
        One question with its coordinates.

    Action:
        A number, a pair of coordinates or an equation of a line, as the question says.

    Reward:
        1 for the exact answer in any equivalent form that is worked out, otherwise 0.

    Episode End:
        After one step.

    Verification:
        Exact: rationals, square roots, and equations up to a factor. Roots of sums that were not
        added up, and lines with brackets or powers, earn nothing, since filling in a formula is
        not an answer. A decimal counts where it is exact and, where the decimals of the value never
        end, also where it is correctly rounded to six significant digits or more.

    Difficulty:
        Coordinates and denominators grow, and the polygon gets more vertices.

    References:
        Coxeter and Greitzer, Geometry Revisited, chapter 1; the shoelace formula of Gauss.

    Version History:
        v0: first version.
    """

    def generate(self, rng: Rng) -> CoordinateGeometryProblem:
        config = self.config
        kind = pick(rng, config.kinds)
        scale = Scale(config.max_coordinate, config.max_denominator, config.n_vertices)
        numbers = KINDS[kind].draw(rng, scale)
        return CoordinateGeometryProblem(kind, numbers, KINDS[kind].answer(numbers))

    def prompt(self, problem: CoordinateGeometryProblem) -> str:
        return KINDS[problem.kind].ask(problem.numbers)

    def verify(self, problem: CoordinateGeometryProblem, answer: str) -> Verdict:
        answer_type = KINDS[problem.kind].answer_type
        if answer_type in ("real", "equation") and not _worked_out(answer, answer_type):
            return Verdict.wrong("the numbers in the answer are not worked out")
        return judge_math(problem.answer, answer, answer_type=answer_type, exact=True)

    def solve(self, problem: CoordinateGeometryProblem) -> str:
        return problem.answer

    def explain(self, problem: CoordinateGeometryProblem) -> list[str]:
        return STEPS[problem.kind](problem.numbers)


def _worked_out(answer: str, answer_type: str) -> bool:
    """Whether an answer is more than a formula with the given numbers filled in.

    A length has no sums and no powers but roots; a line has no more than one term each in x, in
    y and in neither.
    """
    text = squeeze(answer)
    if text is None or _OPEN_POWER.search(text):
        return False
    if answer_type == "real":
        return _SIGN.search(text) is None
    terms = [term for side in text.split("=") for term in _SIGN.split(side) if term != "0"]
    plain = [term for term in terms if "x" not in term and "y" not in term]
    once = all(sum(symbol in term for term in terms) <= 1 for symbol in "xy")
    return once and len(plain) <= 1 and _SUM_IN_BRACKETS.search(text) is None
