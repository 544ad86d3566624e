"""Linear programs with whole coefficients, and their exact optimum by the simplex method."""

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from rlvr_envs.core.errors import ConfigError

_MOST_CASES = 24  # that a worked solution in whole numbers looks at


class Row(NamedTuple):
    """One constraint: a weighted sum of the variables beside a bound."""

    weights: tuple[int, ...]
    sense: Literal["<=", ">=", "="]
    bound: int


@dataclass(frozen=True, slots=True)
class Program:
    """A linear objective under linear constraints; no variable is negative."""

    sense: Literal["max", "min"]  # whether the objective is to be large or small
    objective: tuple[int, ...]  # the weights of the variables in it
    rows: tuple[Row, ...]  # the constraints


class Optimum(NamedTuple):
    """The best value of a program, and what the simplex method saw on the way."""

    value: Fraction  # of the objective
    variables: tuple[Fraction, ...]  # that reach it
    changed: int  # how many numbers of the tableau the pivots changed
    binding: tuple[int, ...]  # the places of the inequalities without which more could be reached


def optimum(program: Program) -> Optimum:
    """Return the exact optimum of a program.

    The tableau holds integers over one common denominator, the last pivot, so that no digit is
    lost; Bland's rule keeps it from going round in circles.

    Raises:
        ConfigError: the program has no solution or no optimum.
    """
    tableau = _Tableau(program)
    tableau.leave_artificials()
    tableau.start(program.objective if program.sense == "min" else _negated(program.objective))
    tableau.descend()
    values = tableau.values()
    total = sum((c * x for c, x in zip(program.objective, values, strict=True)), Fraction(0))
    return Optimum(total, values, tableau.changed, tableau.binding())


def holds(program: Program, values: Sequence[Fraction | int]) -> bool:
    """Return whether variables meet every constraint."""
    if min(values) < 0:
        return False
    for weights, sense, bound in program.rows:
        total = sum(w * x for w, x in zip(weights, values, strict=True))
        if {"<=": total > bound, ">=": total < bound, "=": total != bound}[sense]:
            return False
    return True


def hurried(program: Program, *, whole: bool) -> Fraction:
    """Return the answer of a solver who looks at one quantity, or at one demand, at a time.

    To gain much, it takes the one quantity that brings the most alone; to spend little, it meets
    each demand in the cheapest way, as if there were no others and no limits.
    """

    def priced(row: Row, j: int) -> Fraction:
        amount = Fraction(row.bound, row.weights[j])
        if whole:
            amount = Fraction(math.floor(amount) if program.sense == "max" else math.ceil(amount))
        return program.objective[j] * amount

    def rows_of(j: int) -> list[Row]:
        return [row for row in program.rows if row.sense == "<=" and row.weights[j] > 0]

    count = range(len(program.objective))
    if program.sense == "max":
        return max(min(priced(row, j) for row in rows_of(j)) for j in count)
    plain = [j for j in count if all(row.weights[j] >= 0 for row in program.rows)]
    demands = [row for row in program.rows if row.sense != "<=" and row.bound > 0]
    cheapest = (min(priced(row, j) for j in plain if row.weights[j]) for row in demands)
    return sum(cheapest, Fraction(0))


def explained(program: Program) -> list[str]:
    """Return a program in symbols, an optimum, and how its constraints prove that it is one."""
    found, steps = optimum(program), _in_symbols(program)
    steps.append(
        f"Take {_plan(found)}, and 0 of the rest. This keeps every constraint and gives "
        f"{found.value}."
    )
    parts = [f"{y} times ({number})" for number, y in enumerate(_multipliers(program), 1) if y]
    steps.append(
        f"Add {' and '.join(parts) or '0'}: as no amount is negative, the objective is at "
        f"{'most' if program.sense == 'max' else 'least'} {found.value}, so no plan is better."
    )
    return steps


def explained_whole(program: Program, best: int) -> list[str]:
    """Return a program in symbols, and how its best whole solution is found case by case.

    A case is solved in any amounts; an amount that is not whole then makes two cases of it.
    """
    steps, sign = _in_symbols(program), 1 if program.sense == "max" else -1
    cases: list[tuple[str, Program]] = [("With any amounts", program)]
    record: int | None = None
    for _ in range(_MOST_CASES):
        if not cases:
            return [*steps, f"No case is left, so the best with whole amounts is {best}."]
        name, case = cases.pop()
        try:
            found = optimum(case)
        except ConfigError:
            steps.append(f"{name}: no plan keeps every constraint.")
            continue
        told = f"{name}: the optimum is {found.value}"
        bound = math.floor(sign * found.value)  # the objective of whole amounts is whole
        if record is not None and bound <= sign * record:
            steps.append(f"{told}, so whole amounts give nothing better than {record}.")
            continue
        told += f", with {_plan(found)}, and 0 of the rest"
        part = next((j for j, x in enumerate(found.variables) if x.denominator > 1), None)
        if part is None:
            record = int(found.value)
            steps.append(f"{told}. All are whole: {record} is the best so far.")
            continue
        steps.append(f"{told}. x{part + 1} is not whole.")
        cases += _halves(name, case, part, math.floor(found.variables[part]))
    return [*steps, f"Going on in this way, the best with whole amounts turns out to be {best}."]


def _halves(name: str, case: Program, part: int, whole: int) -> list[tuple[str, Program]]:
    """Return the cases in which an amount is above a whole number, and is at most that."""
    unit = tuple(int(j == part) for j in range(len(case.objective)))
    rows = (Row(unit, ">=", whole + 1), Row(unit, "<=", whole))
    before = f"{name}, " if name.startswith("Case") else "Case "
    return [
        (
            f"{before}x{part + 1} {row.sense} {row.bound}",
            dataclasses.replace(case, rows=(*case.rows, row)),
        )
        for row in rows
    ]


def _in_symbols(program: Program) -> list[str]:
    goal = "large" if program.sense == "max" else "small"
    return [
        f"Call the amounts to choose x1 to x{len(program.objective)}. Make as {goal} as possible: "
        + _sum_of(program.objective),
        *(
            f"({number}) {_sum_of(weights)} {sense} {bound}"
            for number, (weights, sense, bound) in enumerate(program.rows, 1)
        ),
    ]


def _plan(found: Optimum) -> str:
    return ", ".join(f"x{j} = {x}" for j, x in enumerate(found.variables, 1) if x) or "nothing"


def _multipliers(program: Program) -> list[Fraction]:
    """Return by what to multiply the constraints so that their sum bounds the objective tightly.

    They solve the dual program, in which the multiplier of an equation is the difference of two.
    """
    sign = 1 if program.sense == "max" else -1
    signs = [
        (i, s)
        for i, row in enumerate(program.rows)
        for s in {"<=": (1,), ">=": (-1,), "=": (1, -1)}[row.sense]
    ]
    rows = tuple(
        Row(tuple(s * program.rows[i].weights[j] for i, s in signs), ">=", sign * cost)
        for j, cost in enumerate(program.objective)
    )
    bounds = tuple(s * program.rows[i].bound for i, s in signs)
    found = [Fraction(0)] * len(program.rows)
    for (i, s), value in zip(signs, optimum(Program("min", bounds, rows)).variables, strict=True):
        found[i] += sign * s * value
    return found


def _sum_of(weights: Sequence[int]) -> str:
    terms = [
        f"{'-' if w < 0 else '+'} {'' if abs(w) == 1 else f'{abs(w)} '}x{j}"
        for j, w in enumerate(weights, 1)
        if w
    ]
    return " ".join(terms).removeprefix("+ ") or "0"


def _negated(numbers: Sequence[int]) -> tuple[int, ...]:
    return tuple(-number for number in numbers)


class _Tableau:
    """Rows of integers over a common denominator; the last column is the right-hand side."""

    def __init__(self, program: Program) -> None:
        self.n = len(program.objective)
        rows = [row if row.bound >= 0 else _flipped(row) for row in program.rows]
        self.slacks = slacks = [i for i, row in enumerate(rows) if row.sense != "="]
        needy = [i for i, row in enumerate(rows) if row.sense != "<="]
        self.real = self.n + len(slacks)  # columns that are not artificial
        self.width = self.real + len(needy)
        self.denominator = 1
        self.changed = 0
        self.rows: list[list[int]] = []
        self.basis: list[int] = []
        for i, row in enumerate(rows):
            line = [*row.weights, *([0] * (self.width - self.n)), row.bound]
            if row.sense != "=":
                line[self.n + slacks.index(i)] = 1 if row.sense == "<=" else -1
            if row.sense == "<=":
                self.basis.append(self.n + slacks.index(i))
            else:
                line[self.real + needy.index(i)] = 1
                self.basis.append(self.real + needy.index(i))
            self.rows.append(line)
        self.costs: list[int] = []

    def start(self, objective: Sequence[int], first: int = 0) -> None:
        """Set the costs of the columns from ``first`` on, reduced by those of the basis."""
        costs = [0] * (self.width + 1)
        costs[first : first + len(objective)] = objective
        reduced = [cost * self.denominator for cost in costs]
        for row, column in zip(self.rows, self.basis, strict=True):
            if costs[column]:
                factor = costs[column]
                reduced = [a - factor * b for a, b in zip(reduced, row, strict=True)]
        self.costs = reduced

    def descend(self, columns: int | None = None) -> None:
        """Pivot until no column lowers the costs."""
        width = self.real if columns is None else columns
        while True:
            column = next((j for j in range(width) if self.costs[j] < 0), None)
            if column is None:
                return
            ratios = [
                (Fraction(row[-1], row[column]), self.basis[i], i)
                for i, row in enumerate(self.rows)
                if row[column] > 0
            ]
            if not ratios:
                raise ConfigError("this linear program has no optimum: it is unbounded")
            self.pivot(min(ratios)[2], column)

    def pivot(self, place: int, column: int) -> None:
        """Bring a column into the basis in the place of a row's."""
        pivot_row = self.rows[place]
        if pivot_row[column] < 0:
            pivot_row = self.rows[place] = [-a for a in pivot_row]
        pivot, old = pivot_row[column], self.denominator
        for i, row in enumerate(self.rows):
            if i != place:
                self.rows[i] = _combined(row, pivot_row, column, pivot, old)
        self.costs = _combined(self.costs, pivot_row, column, pivot, old)
        self.denominator = pivot
        self.basis[place] = column
        self.changed += (len(self.rows) + 1) * len(self.costs)

    def leave_artificials(self) -> None:
        """Find a first solution: drive the artificial columns to 0 and out of the basis."""
        self.start([1] * (self.width - self.real), first=self.real)
        self.descend(self.width)
        if self.costs[-1] != 0:
            raise ConfigError("this linear program has no solution")
        for place in reversed(range(len(self.rows))):
            if self.basis[place] < self.real:
                continue
            row = self.rows[place]
            column = next((j for j in range(self.real) if row[j]), None)
            if column is None:  # the constraint follows from the others
                del self.rows[place], self.basis[place]
            else:
                self.pivot(place, column)

    def binding(self) -> tuple[int, ...]:
        """Return the places of the inequalities whose slack would cost something."""
        return tuple(
            i for i, cost in zip(self.slacks, self.costs[self.n : self.real], strict=True) if cost
        )

    def values(self) -> tuple[Fraction, ...]:
        """Return the variables' values."""
        found = [Fraction(0)] * self.n
        for row, column in zip(self.rows, self.basis, strict=True):
            if column < self.n:
                found[column] = Fraction(row[-1], self.denominator)
        return tuple(found)


def _combined(row: list[int], pivot_row: list[int], column: int, pivot: int, old: int) -> list[int]:
    factor = row[column]
    return [(a * pivot - factor * b) // old for a, b in zip(row, pivot_row, strict=True)]


def _flipped(row: Row) -> Row:
    other: dict[str, Literal["<=", ">=", "="]] = {"<=": ">=", ">=": "<=", "=": "="}
    return Row(_negated(row.weights), other[row.sense], -row.bound)
