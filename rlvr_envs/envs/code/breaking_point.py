"""An interactive problem: a program plans tests that find a hidden threshold within a budget."""

import inspect
import re
import textwrap
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import ClassVar

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.base import Case, Limits, RunStatus
from rlvr_envs.sandboxes.shared import shared_sandbox
from rlvr_envs.verifiers.program_calls import ENDINGS

LIMITS = Limits(cpu_s=1.0, wall_s=3.0, memory_mib=512)  # of each move
TOGETHER_S = 10.0  # CPU seconds of all moves for one object

RULES = ("uneven", "breaks", "rest", "every")

_MOVE = re.compile(r"\s*([?!])\s*\+?([0-9]{1,20})\s*", re.ASCII)

STORIES = {
    "rope": {
        "thing": "rope",
        "things": "ropes",
        "unit": "kilograms",
        "test": "hang v kilograms on a rope of this kind",
        "broken": "the rope tears",
        "whole": "it holds",
    },
    "vase": {
        "thing": "vase",
        "things": "vases",
        "unit": "centimetres",
        "test": "drop a vase of this kind from a height of v centimetres",
        "broken": "the vase breaks",
        "whole": "it stays whole",
    },
    "fuse": {
        "thing": "fuse",
        "things": "fuses",
        "unit": "milliamperes",
        "test": "send a current of v milliamperes through a fuse of this kind",
        "broken": "the fuse blows",
        "whole": "it does not",
    },
    "glue": {
        "thing": "glued joint",
        "things": "glued joints",
        "unit": "newtons",
        "test": "pull at a glued joint of this kind with v newtons",
        "broken": "the joint comes apart",
        "whole": "it holds",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakingPointConfig(TaskConfig):
    """How many rules there are, and how many tests an object may need."""

    n_rules: int = knob(2, "rules beside the budget", low=0, high=len(RULES))
    n_queries: int = knob(9, "tests that are needed, about", low=3, high=40)
    n_objects: int = knob(5, "hidden objects, each found with a budget of its own", low=2, high=40)

    @classmethod
    def at(cls, difficulty: int) -> "BreakingPointConfig":
        """Rules come in one after the other, and the objects need more tests."""
        return cls(
            n_rules=min((difficulty + 1) // 2, len(RULES)),
            n_queries=min(4 + 3 * difficulty // 2, 40),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What tests cost, and how many may break something; 0 where a rule does not apply.

    Attributes:
        whole: of a test after which the thing is whole.
        broken: of a test that breaks it.
        breaks: the most tests that may break something; 0 if there may be any number.
        rest: of the next test, in addition, where a test broke something.
        every: each test whose number is a multiple of this costs more; 0 if none does.
        extra: what it costs more.
    """

    whole: int
    broken: int
    breaks: int = 0
    rest: int = 0
    every: int = 0
    extra: int = 0


@dataclass(frozen=True, slots=True)
class Hidden:
    """An object whose threshold is to be found.

    Attributes:
        size: how many thresholds are possible.
        offset: the threshold is the smallest possible one and this; -1 where the judge decides only
            as the tests are made, always for the worse.
    """

    size: int
    offset: int


@dataclass(frozen=True, slots=True)
class BreakingPointProblem:
    """The costs, the story, the codes of replies, an example, and the largest range."""

    costs: Costs
    story: str
    first: int
    broken_code: int
    whole_code: int
    example: Hidden
    most: int
    objects: tuple[Hidden, ...] = hidden()


def most_told(budget: int, costs: Costs) -> int:
    """Return how many thresholds a budget can always tell apart."""
    return _most_told(budget, costs, costs.breaks, 0, 1)


@lru_cache(maxsize=2**17)
def _most_told(budget: int, costs: Costs, breaks: int, last: int, number: int) -> int:
    """Return how many can be told apart after some tests.

    Args:
        budget: what is left of it.
        costs: of all tests.
        breaks: how many more tests may break something, where the number is limited.
        last: whether the last test broke something.
        number: of the next test, from 1, counted modulo the rule that looks at it.
    """
    more = costs.rest * last + (costs.extra if costs.every and number % costs.every == 0 else 0)
    broken, whole = budget - more - costs.broken, budget - more - costs.whole
    if min(broken, whole) < 0 or (costs.breaks and not breaks):
        return 1
    following = (number + 1) % costs.every if costs.every else 0
    left = breaks - 1 if costs.breaks else 0
    return _most_told(broken, costs, left, 1, following) + _most_told(
        whole, costs, breaks, 0, following
    )


def least_budget(size: int, costs: Costs) -> int:
    """Return the least budget that always suffices for so many possible thresholds."""
    budget = 0
    while most_told(budget, costs) < size:
        budget += 1
    return budget


class Game:
    """One hidden object: what was tested, what it cost, and which thresholds are possible."""

    def __init__(self, problem: BreakingPointProblem, given: Hidden) -> None:
        self._problem = problem
        self._given = given
        self._low, self._high = problem.first, problem.first + given.size - 1
        self.budget = least_budget(given.size, problem.costs)
        self._left, self._breaks, self._last = self.budget, problem.costs.breaks, 0
        self.tests: list[tuple[int, int]] = []
        self.cpu_s = 0.0
        self.found = False

    def stdin(self) -> str:
        """Return what the program reads before its next move."""
        lines = [f"{self._given.size} {self.budget}", str(len(self.tests))]
        return "\n".join([*lines, *(f"{value} {code}" for value, code in self.tests)]) + "\n"

    def move(self, output: str) -> str:
        """Make a move, and return what is wrong with it, or the empty text."""
        found = _MOVE.fullmatch(output[:100]) if len(output) <= 100 else None
        if found is None:
            return "the output is not one move, which is ? or ! and then an integer"
        value = int(found[2])
        if found[1] == "!":
            return self._named(value)
        problem, costs = self._problem, self._problem.costs
        if not problem.first < value < problem.first + self._given.size:
            return "a test has a value that is not allowed"
        if costs.breaks and not self._breaks:
            return "a test is made when nothing is left that may break"
        more, after = self._cost_beside(), len(self.tests) + 2
        broken = self._breaks_at(value, more, after)
        self._left -= more + (costs.broken if broken else costs.whole)
        if broken:
            self._high = min(self._high, value - 1)
            self._breaks -= 1
        else:
            self._low = max(self._low, value)
        self._last = int(broken)
        self.tests.append((value, problem.broken_code if broken else problem.whole_code))
        return "" if self._left >= 0 else "the tests cost more than the budget"

    def _named(self, value: int) -> str:
        if self._given.offset >= 0:
            self.found = value == self._problem.first + self._given.offset
        else:
            self.found = self._low == self._high == value
        return "" if self.found else "the threshold is, or can be, another one"

    def _cost_beside(self) -> int:
        costs = self._problem.costs
        due = costs.every and (len(self.tests) + 1) % costs.every == 0
        return costs.rest * self._last + (costs.extra if due else 0)

    def _breaks_at(self, value: int, more: int, after: int) -> bool:
        """Whether a test breaks something: as it must, or so that the rest needs the more."""
        if self._given.offset >= 0:
            return self._problem.first + self._given.offset < value
        if value <= self._low or value > self._high:
            return value > self._high
        costs = self._problem.costs
        number = after % costs.every if costs.every else 0
        breaks = self._breaks - 1 if costs.breaks else 0
        below = _missing(
            value - self._low, self._left - more - costs.broken, costs, (breaks, 1, number)
        )
        above = _missing(
            self._high - value + 1,
            self._left - more - costs.whole,
            costs,
            (self._breaks if costs.breaks else 0, 0, number),
        )
        return below > above


def _missing(size: int, budget: int, costs: Costs, state: tuple[int, int, int]) -> float:
    """Return how many times as many thresholds are possible as a budget tells apart."""
    return size / _most_told(budget, costs, *state) if budget >= 0 else size + 1.0


def next_move(  # noqa: PLR0913 - the text of this is the oracle's program
    n: int,
    budget: int,
    tests: list[tuple[int, int]],
    first: int,
    broken_code: int,
    whole: int,
    broken: int,
    breaks: int,
    rest: int,
    every: int,
    extra: int,
) -> str:
    """Return the next move: a test that leaves no more on either side than can be told apart."""
    from functools import cache

    @cache
    def most(budget: int, left: int, last: int, number: int) -> int:
        more = rest * last + (extra if every and number % every == 0 else 0)
        if budget < more + max(whole, broken) or left == 0:
            return 1
        following = (number + 1) % every if every else 0
        below = most(budget - more - broken, left - 1 if breaks else -1, 1, following)
        return below + most(budget - more - whole, left, 0, following)

    low, high = first, first + n - 1
    left, last = breaks or -1, 0
    for number, (value, code) in enumerate(tests, 1):
        budget -= rest * last + (extra if every and number % every == 0 else 0)
        if code == broken_code:
            high, last = value - 1, 1
            budget -= broken
            left -= 1 if breaks else 0
        else:
            low, last = value, 0
            budget -= whole
    if low == high:
        return f"! {low}"
    number = len(tests) + 1
    budget -= rest * last + (extra if every and number % every == 0 else 0)
    following = (number + 1) % every if every else 0
    below = most(budget - broken, left - 1 if breaks else -1, 1, following)
    return f"? {low + min(below, high - low)}"


@register("BreakingPoint-v0", domain="code", answer_format="fenced:python")
class BreakingPointTask(Task[BreakingPointConfig, BreakingPointProblem]):
    """Write a program that finds hidden thresholds by tests, within the least budget.

    Description:
        A thing stands loads up to a threshold. A test says whether a load is beyond it. Tests have
        a cost, and rules make it uneven: a test that breaks something costs another amount, only
        so many may, the test after it costs more, and so does each k-th test. The budget is the
        least with which the threshold can always be found, so that every test must be a best one.
        The program talks to a judge: for each move it is started anew, reads all tests so far with
        their replies, and prints the next test or the threshold.

    Observation:
        A story with the costs, what the program reads and prints, the limits and an example.

    Action:
        A Python program that makes one move.

    Reward:
        1 if all hidden thresholds are found within their budgets, otherwise 0.

    Verification:
        The program runs in the sandbox; the judge is outside. For most objects the judge decides
        on no threshold beforehand: each reply is the one that makes the rest harder, so luck does
        not help; the others have one. The budget comes from a recurrence over costs, which a
        search over all plans confirms on small ranges.

    Difficulty:
        The number of rules, up to four from level 7 on, and how many tests are needed.

    References:
        D. E. Knuth, The Art of Computer Programming, volume 3, 1998, section 6.2.1, for searching
        with a tree; M. Sniedovich, "OR/MS Games: 4. The joy of egg-dropping in Braunschweig and
        Hong Kong", 2003.
    """

    judged_in_sandbox: ClassVar[bool] = True

    def generate(self, rng: Rng) -> BreakingPointProblem:
        config = self.config
        chosen = list(RULES)
        rng.shuffle(chosen)
        on = set(chosen[: config.n_rules])
        costs = _draw_costs(rng, on, config.n_queries)
        needed = config.n_queries * (costs.whole + costs.broken) // 2
        objects = []
        for place in range(config.n_objects):
            budget = max(1, needed - (config.n_objects - 1 - place) * needed // 10)
            size = _size(rng, budget, costs)
            offset = integer(rng, 0, size - 1) if place % 3 == 1 else -1
            objects.append(Hidden(size, offset))
        code = integer(rng, 1, 99)
        size = integer(rng, 4, 9)
        return BreakingPointProblem(
            costs=costs,
            story=pick(rng, sorted(STORIES)),
            first=integer(rng, 1, 500),
            broken_code=code,
            whole_code=(code + integer(rng, 1, 98)) % 100,
            example=Hidden(size, integer(rng, 0, size - 1)),
            most=max(each.size for each in objects),
            objects=tuple(objects),
        )

    def prompt(self, problem: BreakingPointProblem) -> str:
        words = STORIES[problem.story]
        first, thing, unit = problem.first, words["thing"], words["unit"]
        broken, whole = words["broken"], words["whole"]
        return (
            f"You test {words['things']} of one kind. Their strength is a whole number x of "
            f"{unit}, from {first} to {first} + n - 1; x is not known. In a test you "
            f"{words['test']}, where v is a whole number from {first} + 1 to {first} + n - 1. If "
            f"v > x, {broken}; otherwise {whole}. After a test that it stands, a {thing} is as "
            f"good as new.\n\n{_costs_in_words(problem.costs, words)}\n\n"
            "Find x. Whatever x is, the costs of all tests together must not exceed a given "
            "budget, which is the least with which x can always be found. The judge who replies to "
            "the tests need not fix x in advance; the replies always fit at least one x.\n\n"
            "Write a program that makes one move. It is started anew for each move. It reads from "
            "standard input:\n"
            "- a line with n and the budget (of all tests, the earlier ones included)\n"
            "- a line with m, the number of tests so far, from 0 on\n"
            f"- m lines, one for each test in order: v, then the reply, which is "
            f"{problem.broken_code} if {broken} and {problem.whole_code} if {whole}\n\n"
            "It prints `? v` to make a test, or `! x` to say what x is, when only one x is "
            "possible. After `! x` there are no further moves.\n\n"
            f"n is from 2 to {problem.most}. Each move may use {LIMITS.cpu_s:g} s of CPU time and "
            f"{LIMITS.memory_mib} MiB of memory, and all moves for one x together may use "
            f"{TOGETHER_S:g} s.\n\nAn example, all moves for one hidden x:\n\n"
            f"{self._example(problem)}\n\n"
            "Write this program in Python, using only the standard library."
        )

    def _example(self, problem: BreakingPointProblem) -> str:
        game = Game(problem, problem.example)
        costs = asdict(problem.costs)
        texts = []
        while not game.found:
            size, read = problem.example.size, game.stdin()
            made = next_move(
                size, game.budget, game.tests, problem.first, problem.broken_code, **costs
            )
            texts.append(f"Input:\n```\n{read}```\nOutput:\n```\n{made}\n```")
            game.move(made)
        return "\n\n".join(texts)

    def verify(self, problem: BreakingPointProblem, answer: str) -> Verdict:
        """Let all games go on side by side, one move of each at a time."""
        games = [Game(problem, given) for given in problem.objects]
        language = languages.find("python")
        language.require()
        job = language.job(answer, limits=LIMITS)
        while playing := [game for game in games if not game.found]:
            cases = [Case(stdin=game.stdin().encode()) for game in playing]
            results = shared_sandbox().run_batch(job, cases, stop_on_fault=True)
            for game, result in zip(playing, results, strict=False):
                if result.status is RunStatus.SANDBOX_ERROR:
                    return Verdict.verifier_error(f"the sandbox failed: {result.detail:.200}")
                game.cpu_s += result.cpu_s
                if game.cpu_s > TOGETHER_S:
                    told = "the moves for one object took too long together"
                elif result.ok:
                    told = game.move(result.stdout.decode("utf-8", "replace"))
                else:
                    told = ENDINGS[result.status]
                if told:
                    found = sum(each.found for each in games)
                    parts = {"found": float(found), "objects": float(len(games))}
                    detail = f"{told} (move {len(game.tests) + 1}; found: {found} of {len(games)})"
                    return Verdict.wrong(detail, **parts)
        return Verdict.correct(found=float(len(games)), objects=float(len(games)))

    def solve(self, problem: BreakingPointProblem) -> str:
        source = textwrap.dedent(inspect.getsource(next_move))
        given = [f"first={problem.first}", f"broken_code={problem.broken_code}"]
        given += [f"{name}={value}" for name, value in asdict(problem.costs).items()]
        return (
            f"{source}\n\nn, budget = map(int, input().split())\n"
            "tests = [tuple(map(int, input().split())) for _ in range(int(input()))]\n"
            f"print(next_move(n, budget, tests, {', '.join(given)}))"
        )

    def effort(self, problem: BreakingPointProblem) -> float:
        """Return the states of the plan: budgets, times what the rules remember."""
        costs = problem.costs
        budget = max(least_budget(each.size, costs) for each in problem.objects)
        remembered = (1 + bool(costs.rest)) * max(1, costs.every) * (1 + costs.breaks)
        return float(budget * remembered * (1 + (costs.whole != costs.broken)))

    def baseline(self, rng: Rng, problem: BreakingPointProblem) -> str:
        """Return a program that halves what is possible, as if costs were even."""
        return (
            "n, budget = map(int, input().split())\n"
            f"low, high = {problem.first}, {problem.first} + n - 1\n"
            "for _ in range(int(input())):\n"
            "    value, reply = map(int, input().split())\n"
            f"    if reply == {problem.broken_code}:\n        high = value - 1\n"
            "    else:\n        low = value\n"
            "print(f'! {low}' if low == high else f'? {(low + high + 1) // 2}')"
        )


def _draw_costs(rng: Rng, on: set[str], n_queries: int) -> Costs:
    """Draw the numbers of the rules; those of rules that there are not are 0."""
    whole = integer(rng, 2, 6)
    return Costs(
        whole=whole,
        broken=whole + integer(rng, 1, whole) if "uneven" in on else whole,
        breaks=integer(rng, 2, max(2, n_queries // 3)) if "breaks" in on else 0,
        rest=integer(rng, 1, 5) if "rest" in on else 0,
        every=integer(rng, 2, 4) if "every" in on else 0,
        extra=integer(rng, 1, 5) if "every" in on else 0,
    )


def _size(rng: Rng, budget: int, costs: Costs) -> int:
    """Draw for how many thresholds a budget suffices and is needed."""
    while budget > 1 and most_told(budget, costs) == most_told(budget - 1, costs):
        budget -= 1
    least, most = most_told(budget - 1, costs) + 1, most_told(budget, costs)
    least = max(2, most - (most - least) // 4)  # where there is little choice of tests
    return integer(rng, least, max(least, most))


def _costs_in_words(costs: Costs, words: dict[str, str]) -> str:
    told = [f"A test costs {costs.whole} coins."]
    if costs.broken != costs.whole:
        told = [
            f"A test costs {costs.broken} coins if {words['broken']}, and {costs.whole} otherwise."
        ]
    if costs.rest:
        told.append(
            f"If {words['broken']}, the next test, if there is one, costs {costs.rest} more, "
            "whatever its outcome."
        )
    if costs.every:
        told.append(
            f"Each test whose number (1, 2, 3, ...) is a multiple of {costs.every} costs "
            f"{costs.extra} more."
        )
    if costs.breaks:
        told.append(
            f"There are {costs.breaks} {words['things']}. When all of them are broken, no further "
            "test can be made."
        )
    return " ".join(told)
