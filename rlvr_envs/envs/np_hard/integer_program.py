"""Integer and mixed-integer linear programs, stated as word problems from business."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.optimisation.linear_programs import (
    Program,
    Row,
    explained_whole,
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
from rlvr_envs.solvers import cp_sat
from rlvr_envs.solvers.cp_sat import Solved
from rlvr_envs.verifiers.symbolic import judge_math

_DRAWS = 6
_NAMES = ("furniture", "pipes", "shifts", "depots", "projects", "trucks", "power")  # of `STORIES`


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerProgramConfig(TaskConfig):
    """How large the programs are, and which stories are used."""

    n_choices: int = knob(3, "least number of quantities to choose", low=2, high=30)
    n_limits: int = knob(2, "limits besides those on single quantities", low=1, high=30)
    max_number: int = knob(12, "the largest number given", low=3, high=MAX_NUMBER)
    budget: float = knob(
        0.2,
        "deterministic seconds for the proof; if it takes longer, a smaller problem is drawn",
        low=1e-9,
        high=3600,
    )
    story: str = knob(
        "any",
        "which story is used",
        choices=("any", *_NAMES),
    )

    @classmethod
    def at(cls, difficulty: int) -> "IntegerProgramConfig":
        """Choices and limits are added in turn, and numbers grow."""
        return cls(
            n_choices=min(30, 2 + (difficulty + 1) // 2),
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
    """Solve an integer linear program that is stated as a word problem.

    Description:
        Seven stories: furniture from scarce materials, pipes cut into pieces, shifts of nurses,
        depots to open, projects within budgets, trucks to hire, and power plants to start. The
        agent sets up the program and solves it; in the stories of depots and power plants, only
        some quantities are whole. Draws are repeated until amounts that need not be whole would
        give another optimum, six times at most. A draw whose optimum is not proven within the
        budget is replaced by one of half the size.

    Observation:
        The story with all its numbers, which are whole.

    Action:
        The optimal value, a whole number.

    Reward:
        1 for the optimum, otherwise 0.

    Verification:
        Exact: CP-SAT proves the optimum in whole numbers. No known gaps.

    Difficulty:
        More quantities and limits that interact, and larger numbers.

    References:
        Wolsey, "Integer Programming", 1998. Zhou et al., "StepORLM", 2025 (arXiv:2509.22558), for
        programs in words whose answer a solver verifies.
    """

    def generate(self, rng: Rng) -> IntegerProgramProblem:
        config = self.config
        story = pick(rng, sorted(STORIES)) if config.story == "any" else config.story
        problem = self._draw(rng, story)
        for _ in range(_DRAWS - 1):
            if optimum(program(problem)).value != problem.optimum:
                break
            problem = self._draw(rng, story)
        return problem

    def _draw(self, rng: Rng, story: str) -> IntegerProgramProblem:
        config, shrink = self.config, 0
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
        question = STORIES[problem.story].tell(problem.numbers)
        return f"{question} Only the exact optimum earns credit. Answer with the number alone."

    def verify(self, problem: IntegerProgramProblem, answer: str) -> Verdict:
        return judge_math(str(problem.optimum), answer, answer_type="integer", exact=True)

    def solve(self, problem: IntegerProgramProblem) -> str:
        return str(problem.optimum)

    def explain(self, problem: IntegerProgramProblem) -> list[str]:
        """Return the program in symbols, and its optimum by branch and bound."""
        return explained_whole(program(problem), problem.optimum)

    def effort(self, problem: IntegerProgramProblem) -> int:
        """Return the work in any amounts, in numbers changed, and of the proof, in microseconds.

        The first is that of the simplex method, and the second that of CP-SAT.
        """
        return optimum(program(problem)).changed + problem.work

    def baseline(self, rng: Rng, problem: IntegerProgramProblem) -> str:
        """Look at one quantity or one demand at a time."""
        return str(hurried(program(problem), whole=True))


def program(problem: IntegerProgramProblem) -> Program:
    """Return the program that a problem asks to solve."""
    return STORIES[problem.story].program(problem.numbers)


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


# Business stories whose question is a linear program in whole numbers, or with some of them.
#
# Where a story allows fractions beside its decisions, whole data still give a whole optimum: with
# the decisions made, what remains is a flow or a choice between bounds with one total.


# Furniture: profits; stocks; most sold; need of each stock.


def _draw_furniture(rng: Rng, size: Size) -> Numbers:
    n, m = size.choices + 1, size.limits + 1
    needs = tuple(integers(rng, 1, size.largest, n) for _ in range(m))
    profits = integers(rng, 2 * size.largest, 6 * size.largest, n)
    stocks = integers(rng, 3 * size.largest, 8 * size.largest, m)
    return (profits, stocks, integers(rng, 2, 6, n), *needs)


def _tell_furniture(numbers: Numbers) -> str:
    profits, stocks, most, *needs = numbers
    pieces = listing(
        "Model",
        [
            f"profit {profit} euros, sells at most {most[j]}, needs "
            + joined(tuple(row[j] for row in needs), "{0} of material {1}")
            for j, profit in enumerate(profits)
        ],
    )
    return (
        "A workshop builds furniture in whole pieces. For each model, this is the profit per "
        "piece, the largest number of pieces that can be sold, and the units of material that one "
        f"piece needs:\n\n{pieces}\n\nThe workshop has "
        f"{joined(stocks, '{0} units of material {1}')}. What is the largest possible total "
        "profit, in euros?"
    )


def _furniture(numbers: Numbers) -> Program:
    profits, stocks, most, *needs = numbers
    rows = [Row(row, "<=", stock) for row, stock in zip(needs, stocks, strict=True)]
    rows += [Row(unit(len(profits), j), "<=", limit) for j, limit in enumerate(most)]
    return Program("max", profits, tuple(rows))


# Pipes: (length of a pipe,); lengths ordered; how many of each.


def _draw_pipes(rng: Rng, size: Size) -> Numbers:
    kinds = min(2 + size.choices // 2, 6)
    pipe = 2 * size.largest + integer(rng, 0, size.largest)
    lengths = sorted({integer(rng, pipe // 5 + 1, 3 * pipe // 5) for _ in range(kinds)})
    return ((pipe,), tuple(lengths), integers(rng, 2, 3 + 3 * size.limits, len(lengths)))


def _tell_pipes(numbers: Numbers) -> str:
    (pipe,), lengths, counts = numbers
    orders = ", ".join(f"{c} of {a} dm" for a, c in zip(lengths, counts, strict=True))
    return (
        f"A plumber buys pipes of length {pipe} dm and cuts them into pieces. Cutting loses no "
        "length, and pieces cannot be joined. The plumber needs these numbers of pieces: "
        f"{orders}. What is the smallest number of pipes that is enough?"
    )


def _patterns(room: int, lengths: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return every way to cut a pipe that leaves less than the shortest piece over."""
    if len(lengths) == 1:
        return [(room // lengths[0],)]
    longest = lengths[-1]
    return [
        (*shorter, count)
        for count in range(room // longest + 1)
        for shorter in _patterns(room - count * longest, lengths[:-1])
    ]


def _pipes(numbers: Numbers) -> Program:
    (pipe,), lengths, counts = numbers
    patterns = _patterns(pipe, lengths)
    rows = tuple(
        Row(tuple(pattern[k] for pattern in patterns), ">=", count)
        for k, count in enumerate(counts)
    )
    return Program("min", (1,) * len(patterns), rows)


# Shifts: needs of each period; wages by the period in which work begins; (periods of a shift,).


def _draw_shifts(rng: Rng, size: Size) -> Numbers:
    periods = 3 + size.choices
    needs = integers(rng, 1, size.largest, periods)
    wages = integers(rng, 2 * size.largest, 3 * size.largest, periods)
    return (needs, wages, (integer(rng, 2, min(periods - 1, 2 + size.limits)),))


def _tell_shifts(numbers: Numbers) -> str:
    needs, wages, (length,) = numbers
    pairs = zip(needs, wages, strict=True)
    lines = [f"need {need}, pay {wage}" for need, wage in pairs]
    return (
        f"A hospital divides the day into {len(needs)} periods and repeats the same plan every "
        f"day. Each nurse starts at the beginning of a period and works {length} periods in a row. "
        "A shift may continue past the last period into the first periods of the next day. For "
        "each period, this is the smallest number of nurses who must be at work, and the pay, in "
        f"euros, for the whole shift of a nurse who starts in it:\n\n{listing('Period', lines)}"
        "\n\nWhat is the smallest possible total pay for a day, in euros?"
    )


def _shifts(numbers: Numbers) -> Program:
    needs, wages, (length,) = numbers
    n = len(needs)
    rows = tuple(
        Row(tuple(int((period - begun) % n < length) for begun in range(n)), ">=", need)
        for period, need in enumerate(needs)
    )
    return Program("min", wages, rows)


# Depots: rents; capacities; demands; freight from each site to each shop.


def _draw_depots(rng: Rng, size: Size) -> Numbers:
    sites, shops = min(size.choices, 9), min(1 + size.limits, 8)
    demands = integers(rng, 2, size.largest, shops)
    capacities = list(integers(rng, size.largest, 3 * size.largest, sites))
    capacities[-1] += max(0, sum(demands) - sum(capacities))
    rents = integers(rng, 2 * size.largest, 9 * size.largest, sites)
    freight = tuple(integers(rng, 1, 9, shops) for _ in range(sites))
    return (rents, tuple(capacities), demands, *freight)


def _tell_depots(numbers: Numbers) -> str:
    rents, capacities, demands, *freight = numbers
    pairs = zip(rents, capacities, strict=True)
    sites = listing("Site", [f"{rent} euros to open, up to {c} tonnes" for rent, c in pairs])
    return (
        "A retailer decides at which sites to open depots. For each site, this is the cost of "
        f"opening a depot and the most that it can ship:\n\n{sites}\n\nFreight costs, in euros per "
        f"tonne:\n\n{tell_freight(tuple(freight), 'From site')}\n\nThe demand is "
        f"{joined(demands, '{0} tonnes at shop {1}')}. A shop may be supplied from several depots, "
        "and amounts need not be whole. What is the smallest possible total cost of opening depots "
        "and freight, in euros?"
    )


def _depots(numbers: Numbers) -> Program:
    rents, capacities, demands, *freight = numbers
    sites, shops = len(rents), len(demands)
    n = sites * shops
    rows = []
    for i, capacity in enumerate(capacities):
        shipped = tuple(int(k // shops == i) for k in range(n))
        rows.append(Row((*shipped, *unit(sites, i, -capacity)), "<=", 0))
        rows.append(Row((*([0] * n), *unit(sites, i)), "<=", 1))
    for j, demand in enumerate(demands):
        shipped = tuple(int(k % shops == j) for k in range(n))
        rows.append(Row((*shipped, *([0] * sites)), ">=", demand))
    return Program("min", (*(c for row in freight for c in row), *rents), tuple(rows))


# Projects: values; budgets; pairs (wanted, needed); pairs that exclude; cost of each year.


def _draw_projects(rng: Rng, size: Size) -> Numbers:
    n, years = 2 + size.choices, size.limits
    costs = tuple(integers(rng, 1, size.largest, n) for _ in range(years))
    values = integers(rng, size.largest, 4 * size.largest, n)
    budgets = tuple(max(*row, sum(row) * integer(rng, 40, 60) // 100) for row in costs)
    order = [place + 1 for place in rng.permutation(n).tolist()]
    third = max(1, n // 5)
    needed = tuple(order[: 2 * third]) if n >= 4 else ()
    excluded = tuple(order[2 * third : 4 * third]) if n >= 4 else ()
    return (values, budgets, needed, excluded, *costs)


def _pairs(flat: tuple[int, ...]) -> list[tuple[int, int]]:
    return list(zip(flat[::2], flat[1::2], strict=True))


def _tell_projects(numbers: Numbers) -> str:
    values, budgets, needed, excluded, *costs = numbers
    projects = listing(
        "Project",
        [
            f"value {value}, costs " + joined(tuple(row[j] for row in costs), "{0} in year {1}")
            for j, value in enumerate(values)
        ],
    )
    rules = [f"- Project {a} can only be done if project {b} is done." for a, b in _pairs(needed)]
    rules += [f"- Projects {a} and {b} cannot both be done." for a, b in _pairs(excluded)]
    further = "\n\n" + "\n".join(rules) + "\n\n" if rules else " "
    return (
        "A city chooses which of these projects to do. Each is done as a whole or not at all. All "
        f"amounts are in millions of euros.\n\n{projects}\n\nThe total cost in each year must stay "
        f"within its budget: {joined(budgets, '{0} in year {1}')}.{further}What is the largest "
        "possible total value, in millions of euros?"
    )


def _projects(numbers: Numbers) -> Program:
    values, budgets, needed, excluded, *costs = numbers
    n = len(values)
    rows = [Row(row, "<=", budget) for row, budget in zip(costs, budgets, strict=True)]
    for a, b in _pairs(needed):
        rows.append(Row(tuple(int(j == a - 1) - int(j == b - 1) for j in range(n)), "<=", 0))
    for a, b in _pairs(excluded):
        rows.append(Row(tuple(int(j in (a - 1, b - 1)) for j in range(n)), "<=", 1))
    rows += [Row(unit(n, j), "<=", 1) for j in range(n)]
    return Program("max", values, tuple(rows))


# Trucks: hire; how many there are; loads to move; what a truck holds of each load.


def _draw_trucks(rng: Rng, size: Size) -> Numbers:
    n, m = size.choices + 1, size.limits + 1
    holds = tuple(integers(rng, 1, size.largest, n) for _ in range(m))
    available = integers(rng, 2, 6, n)
    hire = tuple(
        sum(row[j] for row in holds) * integer(rng, 4, 8) + integer(rng, 0, 9) for j in range(n)
    )
    loads = tuple(
        sum(a * b for a, b in zip(row, available, strict=True)) * integer(rng, 40, 80) // 100
        for row in holds
    )
    return (hire, available, loads, *holds)


def _tell_trucks(numbers: Numbers) -> str:
    hire, available, loads, *holds = numbers
    trucks = listing(
        "Type",
        [
            f"{cost} euros, {available[j]} available, pallets: "
            + joined(tuple(row[j] for row in holds), "{0} of goods {1}")
            for j, cost in enumerate(hire)
        ],
    )
    return (
        "A firm hires trucks to move all of its goods in one trip. For each type of truck, this is "
        "the price of one truck, the number of trucks available, and the number of pallets that "
        "one truck holds. Each kind of goods has its own space in a truck, which no other goods "
        f"can use.\n\n{trucks}\n\nThe firm must move these pallets: "
        f"{joined(loads, '{0} of goods {1}')}. What is the smallest possible total price, in euros?"
    )


def _trucks(numbers: Numbers) -> Program:
    hire, available, loads, *holds = numbers
    rows = [Row(row, ">=", load) for row, load in zip(holds, loads, strict=True)]
    rows += [Row(unit(len(hire), j), "<=", count) for j, count in enumerate(available)]
    return Program("min", hire, tuple(rows))


# Power: cost of starting; cost of a unit; least and most output; (demand,).


def _draw_power(rng: Rng, size: Size) -> Numbers:
    n = size.choices
    least = integers(rng, 2, size.largest, n)
    most = tuple(low + integer(rng, 1, 2 * size.largest) for low in least)
    starts = integers(rng, size.largest, 9 * size.largest, n)
    costs = integers(rng, 2, 5 + size.limits, n)
    running = [i for i in range(n) if integer(rng, 0, 2)] or [0]
    demand = sum(integer(rng, least[i], most[i]) for i in running)  # these can meet it
    return (starts, costs, least, most, (demand,))


def _tell_power(numbers: Numbers) -> str:
    starts, costs, least, most, (demand,) = numbers
    quadruples = zip(starts, costs, least, most, strict=True)
    plants = listing(
        "Plant",
        [
            f"{s} euros to start, {c} euros per MW, from {a} MW to {b} MW"
            for s, c, a, b in quadruples
        ],
    )
    return (
        f"For the next hour, power plants must deliver exactly {demand} MW in total. You choose "
        "which plants to start. For each plant, this is the cost of starting it, the cost of each "
        "MW that it delivers, and the least and the most that it delivers when "
        f"started:\n\n{plants}\n\nA started plant can deliver any amount in its range, including "
        "amounts that are not whole. A plant that is not started delivers nothing and costs "
        "nothing. What is the smallest possible total cost, in euros?"
    )


def _power(numbers: Numbers) -> Program:
    starts, costs, least, most, (demand,) = numbers
    n = len(starts)  # variables: the power of each plant, then whether it is started
    rows = [Row((*([1] * n), *([0] * n)), "=", demand)]
    for i in range(n):
        rows.append(Row((*unit(n, i), *unit(n, i, -most[i])), "<=", 0))
        rows.append(Row((*unit(n, i), *unit(n, i, -least[i])), ">=", 0))
        rows.append(Row((*([0] * n), *unit(n, i)), "<=", 1))
    return Program("min", (*costs, *starts), tuple(rows))


STORIES: dict[str, Story] = {
    "furniture": Story(_draw_furniture, _tell_furniture, _furniture),
    "pipes": Story(_draw_pipes, _tell_pipes, _pipes),
    "shifts": Story(_draw_shifts, _tell_shifts, _shifts),
    "depots": Story(_draw_depots, _tell_depots, _depots),
    "projects": Story(_draw_projects, _tell_projects, _projects),
    "trucks": Story(_draw_trucks, _tell_trucks, _trucks),
    "power": Story(_draw_power, _tell_power, _power),
}
