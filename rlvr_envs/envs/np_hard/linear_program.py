"""Linear programs, stated as word problems from business."""

from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.optimisation.linear_programs import (
    Optimum,
    Program,
    Row,
    explained,
    hurried,
    optimum,
)
from rlvr_envs.generators.optimisation.stories import (
    MAX_NUMBER,
    Numbers,
    Size,
    Story,
    joined,
    listing,
    tell_freight,
    unit,
)
from rlvr_envs.verifiers.symbolic import judge_math

_DRAWS = 8

_NAMES = ("plant", "feed", "alloy", "transport", "bonds", "months")  # of `STORIES`


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearProgramConfig(TaskConfig):
    """How large the programs are, and which stories are used."""

    n_choices: int = knob(3, "least number of quantities to choose", low=2, high=30)
    n_limits: int = knob(2, "limits besides those on single quantities", low=1, high=30)
    max_number: int = knob(12, "the largest number given", low=3, high=MAX_NUMBER)
    max_denominator: int = knob(
        12, "largest denominator of the answer, if one of eight draws has such an answer", low=1
    )
    story: str = knob("any", "which story is used", choices=("any", *_NAMES))

    @classmethod
    def at(cls, difficulty: int) -> "LinearProgramConfig":
        """Choices and limits are added in turn; numbers and the answer's denominators grow."""
        return cls(
            n_choices=min(30, 2 + (difficulty + 1) // 2),
            n_limits=min(30, 1 + difficulty // 2),
            max_number=min(MAX_NUMBER, 6 + 3 * difficulty),
            max_denominator=max(1, 6 * (difficulty - 1)),
        )


@dataclass(frozen=True, slots=True)
class LinearProgramProblem:
    """The story and its numbers, and the optimum."""

    story: str
    numbers: tuple[tuple[int, ...], ...]
    optimum: Fraction = hidden()


@register("LinearProgram-v0", domain="np_hard")
class LinearProgramTask(Task[LinearProgramConfig, LinearProgramProblem]):
    """Solve a linear program that is stated as a word problem.

    Description:
        Six stories: a plant's product mix, feed for a herd, an alloy from scrap, freight from
        plants to shops, a fund's bonds, and production over months with a store. The agent sets
        up the program and solves it; amounts need not be whole. Of eight draws, those whose answer
        has a small denominator come first, and of these the one in which the most limits matter.

    Observation:
        The story with all its numbers, which are whole.

    Action:
        The optimal value as a whole number, a fraction or a finite decimal.

    Reward:
        1 for the exact optimum, otherwise 0.

    Verification:
        Exact: the optimum is computed by the simplex method in whole numbers, without rounding,
        and rounded answers are wrong. No known gaps.

    Difficulty:
        More quantities, more limits that matter at once, larger numbers, and fractions from level
        2.

    References:
        Dantzig, "Linear Programming and Extensions", 1963. Zhou et al., "StepORLM", 2025
        (arXiv:2509.22558), and Ramamonjison et al., "NL4Opt", 2022, for programs in words.
    """

    def generate(self, rng: Rng) -> LinearProgramProblem:
        story = self.config.story
        if story == "any":
            story = pick(rng, sorted(STORIES))
        size = Size(self.config.n_choices, self.config.n_limits, self.config.max_number)
        draws = [STORIES[story].draw(rng, size) for _ in range(_DRAWS)]
        found = [optimum(program(story, numbers)) for numbers in draws]
        place = max(range(_DRAWS), key=lambda i: self._merit(program(story, draws[i]), found[i]))
        return LinearProgramProblem(story, draws[place], found[place].value)

    def _merit(self, drawn: Program, found: Optimum) -> tuple[bool, int, int]:
        """Return what a draw is chosen by: a short answer, and limits that matter.

        A limit on several quantities counts for two on one.
        """
        denominator = found.value.denominator
        matter = sum(1 + (sum(map(bool, drawn.rows[i].weights)) > 1) for i in found.binding)
        return denominator <= self.config.max_denominator, matter, -denominator

    def prompt(self, problem: LinearProgramProblem) -> str:
        return (
            f"{STORIES[problem.story].tell(problem.numbers)} Only the exact optimum earns credit. "
            "Answer with the exact number as a whole number, a fraction or a decimal. Do not round."
        )

    def verify(self, problem: LinearProgramProblem, answer: str) -> Verdict:
        return judge_math(str(problem.optimum), answer, answer_type="rational", exact=True)

    def solve(self, problem: LinearProgramProblem) -> str:
        return str(problem.optimum)

    def explain(self, problem: LinearProgramProblem) -> list[str]:
        """Return the program, its best plan, and the proof that none is better."""
        return explained(program(problem.story, problem.numbers))

    def effort(self, problem: LinearProgramProblem) -> int:
        """Return how many numbers of its tableau the simplex method changes."""
        return self.solution(problem).changed

    def baseline(self, rng: Rng, problem: LinearProgramProblem) -> str:
        """Look at one quantity or one demand at a time."""
        return str(hurried(program(problem.story, problem.numbers), whole=False))

    def solution(self, problem: LinearProgramProblem) -> Optimum:
        """Return the optimum with the quantities that reach it."""
        return optimum(program(problem.story, problem.numbers))


def program(story: str, numbers: tuple[tuple[int, ...], ...]) -> Program:
    """Return the program that a story with its numbers asks to solve."""
    return STORIES[story].program(numbers)


# Business stories whose question is a linear program.
#
# A story draws whole numbers, states them in words, and states them as a program; both read the
# same numbers and nothing else.


ANY_AMOUNT = "Amounts need not be whole."


# A plant: profits; hours of each product on each machine; hours of the machines; most sold.


def _draw_plant(rng: Rng, size: Size) -> Numbers:
    n, m = size.choices + 1, size.limits + 1
    hours = tuple(integers(rng, 1, size.largest, n) for _ in range(m))
    profits = integers(rng, size.largest, 4 * size.largest, n)
    limits = integers(rng, 3 * size.largest, 9 * size.largest, m)
    most = integers(rng, 2, 9, n)
    return (profits, limits, most, *hours)


def _tell_plant(numbers: Numbers) -> str:
    profits, limits, most, *hours = numbers
    products = listing(
        "Product",
        [
            f"profit {profit} euros, sells at most {most[j]} tonnes, hours: "
            + joined(tuple(row[j] for row in hours), "{0} on machine {1}")
            for j, profit in enumerate(profits)
        ],
    )
    return (
        f"A chemical plant makes {len(profits)} products. For each product, this is the profit per "
        "tonne, the largest amount that can be sold in a week, and the machine time that one tonne "
        f"takes:\n\n{products}\n\nThese machine hours are available in a week: "
        f"{joined(limits, '{0} on machine {1}')}. {ANY_AMOUNT} What is the largest possible weekly "
        "profit, in euros?"
    )


def _plant(numbers: Numbers) -> Program:
    profits, limits, most, *hours = numbers
    n = len(profits)
    rows = [Row(row, "<=", limit) for row, limit in zip(hours, limits, strict=True)]
    rows += [Row(unit(n, j), "<=", bound) for j, bound in enumerate(most)]
    return Program("max", profits, tuple(rows))


# Feed: prices; needs; content of each nutrient in each ingredient.


def _draw_feed(rng: Rng, size: Size) -> Numbers:
    n, m = size.choices + 1, size.limits + 1
    prices = integers(rng, size.largest, 4 * size.largest, n)
    needs = integers(rng, 3 * size.largest, 9 * size.largest, m)
    return (prices, needs, *(integers(rng, 1, size.largest, n) for _ in range(m)))


def _tell_feed(numbers: Numbers) -> str:
    prices, needs, *content = numbers
    feeds = listing(
        "Ingredient",
        [
            f"{price} cents; " + joined(tuple(row[j] for row in content), "{0} g of nutrient {1}")
            for j, price in enumerate(prices)
        ],
    )
    return (
        "A farm mixes the daily feed for a herd. For each ingredient, this is the price of a "
        f"kilogram and what a kilogram contains:\n\n{feeds}\n\nThe feed for one day must contain "
        f"at least {joined(needs, '{0} g of nutrient {1}')}. {ANY_AMOUNT} What is the smallest "
        "possible cost of the feed for one day, in cents?"
    )


def _feed(numbers: Numbers) -> Program:
    prices, needs, *content = numbers
    rows = tuple(Row(row, ">=", need) for row, need in zip(content, needs, strict=True))
    return Program("min", prices, rows)


# Alloy: prices; stocks; (tonnes ordered,); least percentages; percentages of each metal.


def _draw_alloy(rng: Rng, size: Size) -> Numbers:
    n, m = size.choices + 1, size.limits
    prices = integers(rng, size.largest, 4 * size.largest, n)
    recipe = integers(rng, 1, 9, n)  # a mixture that meets the order
    stocks = tuple(share + integer(rng, 0, 9) for share in recipe)
    content = tuple(integers(rng, 1, 90 // m, n) for _ in range(m))
    order = sum(recipe)
    least = tuple(sum(a * b for a, b in zip(row, recipe, strict=True)) // order for row in content)
    return (prices, stocks, (order,), least, *content)


def _tell_alloy(numbers: Numbers) -> str:
    prices, stocks, (order,), least, *content = numbers
    scraps = listing(
        "Scrap",
        [
            f"{price} euros per tonne, {stocks[j]} t in stock, "
            + joined(tuple(row[j] for row in content), "{0} % of metal {1}")
            for j, price in enumerate(prices)
        ],
    )
    return (
        f"A foundry melts scrap to make exactly {order} tonnes of an alloy. No weight is lost. For "
        "each kind of scrap, this is its price, its stock and its content by weight:"
        f"\n\n{scraps}\n\nBy weight, the alloy must contain at least "
        f"{joined(least, '{0} % of metal {1}')}. {ANY_AMOUNT} What is the smallest possible cost "
        "of the scrap, in euros?"
    )


def _alloy(numbers: Numbers) -> Program:
    prices, stocks, (order,), least, *content = numbers
    n = len(prices)
    rows = [Row((1,) * n, "=", order)]
    rows += [Row(row, ">=", share * order) for row, share in zip(content, least, strict=True)]
    rows += [Row(unit(n, j), "<=", stock) for j, stock in enumerate(stocks)]
    return Program("min", prices, tuple(rows))


# Transport: supplies; demands; cost from each plant to each shop.


def _draw_transport(rng: Rng, size: Size) -> Numbers:
    plants, shops = 2 + size.limits // 2, size.choices
    demands = integers(rng, size.largest, 3 * size.largest, shops)
    supplies = list(integers(rng, size.largest, 2 * size.largest, plants))
    supplies[-1] += max(0, sum(demands) - sum(supplies))
    costs = tuple(integers(rng, 1, size.largest, shops) for _ in range(plants))
    return (tuple(supplies), demands, *costs)


def _tell_transport(numbers: Numbers) -> str:
    supplies, demands, *costs = numbers
    return (
        "A company ships goods from its plants to its shops. This is the cost of shipping one "
        f"pallet, in euros:\n\n{tell_freight(tuple(costs), 'From plant')}\n\nPallets available: "
        f"{joined(supplies, '{0} at plant {1}')}. Pallets needed: "
        f"{joined(demands, '{0} at shop {1}')}. What is the smallest possible total cost, in euros?"
    )


def _transport(numbers: Numbers) -> Program:
    supplies, demands, *costs = numbers
    plants, shops = len(supplies), len(demands)
    rows = []
    for i, supply in enumerate(supplies):
        rows.append(Row(tuple(int(k // shops == i) for k in range(plants * shops)), "<=", supply))
    for j, demand in enumerate(demands):
        rows.append(Row(tuple(int(k % shops == j) for k in range(plants * shops)), ">=", demand))
    return Program("min", tuple(cost for row in costs for cost in row), tuple(rows))


# Bonds: yields in per cent; risks; (money, most of one, most risk, least of the first two).


def _draw_bonds(rng: Rng, size: Size) -> Numbers:
    n = size.choices + size.limits
    risks = integers(rng, 1, 9, n)
    yields = tuple(risk + integer(rng, 1, 6) for risk in risks)
    money = 10 * integer(rng, 3, 3 + size.largest)
    each = -(-money * integer(rng, 60, 90) // 100)
    average = min(risks[:2]) + integer(rng, 0, 2)  # so that the safe bonds alone are allowed
    return (yields, risks, (money, each, average, money * integer(rng, 1, 4) // 10))


def _tell_bonds(numbers: Numbers) -> str:
    yields, risks, (money, each, average, safe) = numbers
    pairs = zip(yields, risks, strict=True)
    bonds = listing("Bond", [f"yields {y} % a year, risk {r}" for y, r in pairs])
    return (
        f"A fund has {money} million euros. It can invest in these bonds for a year:\n\n{bonds}"
        f"\n\nAt most {each} million euros may go into any one bond, and at least {safe} million "
        "euros must go into bonds 1 and 2 together. The average risk of the invested money, "
        f"weighted by amount, must be at most {average}. Money that is not invested yields nothing "
        f"and has no effect on the average risk. {ANY_AMOUNT} What is the largest possible yield "
        "of the year, in units of 10,000 euros (1 % of 1 million euros is 1 unit)?"
    )


def _bonds(numbers: Numbers) -> Program:
    yields, risks, (money, each, average, safe) = numbers
    n = len(yields)
    rows = [
        Row((1,) * n, "<=", money),
        Row(tuple(risk - average for risk in risks), "<=", 0),
        Row((1, 1, *([0] * (n - 2))), ">=", safe),
    ]
    rows += [Row(unit(n, j), "<=", each) for j in range(n)]
    return Program("max", yields, tuple(rows))


# Months: demands; capacities; unit costs; (storage cost, cost of a unit bought).


def _draw_months(rng: Rng, size: Size) -> Numbers:
    months = size.choices + size.limits - 1
    demands = integers(rng, size.largest, 3 * size.largest, months)
    capacities = integers(rng, size.largest, 3 * size.largest, months)
    costs = integers(rng, 2, 2 + size.largest, months)
    return (demands, capacities, costs, (integer(rng, 1, 4), max(costs) + integer(rng, 1, 9)))


def _tell_months(numbers: Numbers) -> str:
    demands, capacities, costs, (storage, bought) = numbers
    triples = zip(demands, capacities, costs, strict=True)
    lines = [f"demand {d}, capacity {c}, {cost} euros per unit" for d, c, cost in triples]
    return (
        f"A factory plans its production for {len(demands)} months. For each month, this is the "
        "demand, which must be met in that month, the most units that can be made, and the cost of "
        f"making a unit:\n\n{listing('Month', lines)}\n\nStoring a unit from one month to the next "
        f"costs {storage} euro{'s' * (storage > 1)}. Nothing is in store at the start. Any number "
        f"of units can also be bought in any month, for {bought} euros each. What is the smallest "
        "possible total cost of making, storing and buying units, in euros?"
    )


def _months(numbers: Numbers) -> Program:
    demands, capacities, costs, (storage, bought) = numbers
    n = len(demands)  # variables: made, bought and stored in each month
    rows = []
    for month, demand in enumerate(demands):
        kept = [-1 if j == month else int(j == month - 1) for j in range(n)]
        now = unit(n, month)
        rows.append(Row((*now, *now, *kept), "=", demand))
        rows.append(Row((*now, *([0] * (2 * n))), "<=", capacities[month]))
    return Program("min", (*costs, *([bought] * n), *([storage] * n)), tuple(rows))


STORIES: dict[str, Story] = {
    "plant": Story(_draw_plant, _tell_plant, _plant),
    "feed": Story(_draw_feed, _tell_feed, _feed),
    "alloy": Story(_draw_alloy, _tell_alloy, _alloy),
    "transport": Story(_draw_transport, _tell_transport, _transport),
    "bonds": Story(_draw_bonds, _tell_bonds, _bonds),
    "months": Story(_draw_months, _tell_months, _months),
}
