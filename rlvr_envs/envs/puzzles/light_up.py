"""Light Up (Akari): lamps that light a grid with walls, none of which sees another."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import (
    Network,
    Rival,
    Rule,
    Values,
    rival_of,
    search,
    shuffled,
)
from rlvr_envs.generators.grids.cells import neighbours
from rlvr_envs.generators.grids.clues import thin
from rlvr_envs.generators.grids.deductions import Between, Words, by_row_and_column, worked
from rlvr_envs.verifiers.grids import read_grid, show_grid

_WALL, _EMPTY, _LAMP = "#", ".", "L"
_NUMBERS = "01234"
_LARGEST = 20
_PROOF_NODES = 60  # guesses of a search that proves that a puzzle has one solution
_EFFORT_NODES = 5_000

# Size, percentage of walls with a number, and drafts of the first levels.
_LEVELS = (
    *((5, 100, 1), (6, 100, 1), (6, 70, 1), (6, 40, 1), (7, 40, 1)),
    *((7, 20, 2), (7, 0, 3), (7, 0, 8), (8, 0, 8), (9, 0, 6)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LightUpConfig(TaskConfig):
    """The size of the grid, and how much its walls tell."""

    size: int = knob(7, "rows and columns of the grid", low=4, high=_LARGEST)
    wall_percent: int = knob(22, "percentage of walls; more where needed", low=10, high=40)
    number_percent: int = knob(
        40, "percentage of walls with a number; more where needed", low=0, high=100
    )
    n_drafts: int = knob(1, "puzzles drawn, of which the hardest is taken", low=1, high=20)

    @classmethod
    def at(cls, difficulty: int) -> "LightUpConfig":
        """Walls lose their numbers, those first that fix cells at once; the grid grows slowly.

        From level 5 on the hardest of several puzzles is taken, from level 6 on no number is left
        without need, and from level 8 on the grid grows, up to 20x20.
        """
        if difficulty < len(_LEVELS):
            size, number_percent, n_drafts = _LEVELS[difficulty]
            return cls(size=size, number_percent=number_percent, n_drafts=n_drafts)
        if difficulty == len(_LEVELS):
            return cls(size=10, number_percent=0, n_drafts=4)
        return cls(size=min(_LARGEST, difficulty + 2), number_percent=0)


@dataclass(frozen=True, slots=True)
class LightUpProblem:
    """Rows of white cells (a dot), walls (``#``) and walls with a number."""

    rows: tuple[str, ...]
    solution: tuple[str, ...] = hidden()


@register("LightUp-v0", domain="puzzles", answer_format="tag")
class LightUpTask(Task[LightUpConfig, LightUpProblem]):
    """Place lamps so that every white cell is lit, no lamp lights another and the numbers hold.

    Description:
        Random walls and lamps that light every cell, and the number of lamps beside each wall.
        While other lamps fit, a cell where they have a lamp becomes a wall. Then numbers are taken
        away, those that fix cells at once before the others, as far as one solution remains.

    Observation:
        The grid: ``.`` for a white cell, ``#`` for a wall, a digit for a wall with a number.

    Action:
        The grid with ``L`` for each lamp, a row a line.

    Reward:
        1 for a grid that keeps the walls and follows every rule, otherwise 0.

    Verification:
        The rules, checked on every lamp, cell and number. No known gaps.

    Difficulty:
        First the numbers that fix cells at once go, so that the lamps follow only from what would
        leave a cell dark, and from trying a lamp. Then puzzles are chosen in which more must be
        tried, and the grid grows. Effort is the steps of a
        search that proves that there is one solution.

    References:
        McPhail, "Light Up is NP-complete", 2005.
    """

    def generate(self, rng: Rng) -> LightUpProblem:
        drafts = [self._draft(rng) for _ in range(self.config.n_drafts)]
        return max(drafts, key=self.effort) if len(drafts) > 1 else drafts[0]

    def _draft(self, rng: Rng) -> LightUpProblem:
        size = self.config.size
        n_walls = size**2 * self.config.wall_percent // 100
        walls = set(shuffled(rng, size**2)[:n_walls])
        lamps = _lit(rng, size, walls, set())
        while True:  # ends at the latest when all cells are walls
            marks = _numbered(size, walls, lamps)
            rival = _rival(marks, size, lamps)
            if rival.none_exists:
                break
            others = [c for c in range(size**2) if c not in walls | lamps]
            wrong = [c for c in others if rival.values and rival.values[c]]
            walls.add(pick(rng, wrong or others))
            lamps = _lit(rng, size, walls, lamps)
        self._thin(rng, marks, lamps)
        filled = [_LAMP if cell in lamps else mark for cell, mark in enumerate(marks)]
        return LightUpProblem(_rows(marks, size), _rows(filled, size))

    def _thin(self, rng: Rng, marks: list[str], lamps: set[int]) -> None:
        """Take numbers away while one solution remains."""
        size = self.config.size
        numbered = [cell for cell in shuffled(rng, size**2) if marks[cell] in _NUMBERS]
        numbered.sort(key=lambda cell: not _fixes_all(marks, size, cell))
        percent = self.config.number_percent
        thin(marks, numbered, _WALL, percent, lambda: _rival(marks, size, lamps).none_exists)

    def prompt(self, problem: LightUpProblem) -> str:
        size, cells = len(problem.rows), "".join(problem.rows)
        number = "A digit is a wall too" if set(cells) & set(_NUMBERS) else ""
        number = f" {number}, and tells how many of its neighbours hold a lamp." if number else ""
        return (
            f"Solve this Light Up (Akari) puzzle on a {size}×{size} grid. A dot is a white cell "
            f"and {_WALL} is a wall.{number} Neighbours are cells that share a "
            f"side.\n\n{show_grid(problem.rows)}\n\n"
            "Place lamps in white cells. A lamp lights its own cell and all white cells in its row "
            "and column up to the nearest wall or the edge of the grid.\n"
            "- Every white cell is lit.\n"
            "- No lamp is lit by another lamp.\n"
            "- Each wall with a digit has exactly that many lamps among its neighbours; a wall "
            f"without a digit may have any number.\n\nThere is exactly one solution. Answer with "
            f"the whole grid, one row per line, with {_LAMP} for each lamp and all other cells as "
            "they are above, separated by spaces."
        )

    def verify(self, problem: LightUpProblem, answer: str) -> Verdict:
        size = len(problem.rows)
        grid = read_grid(answer, size, size, (_WALL, _EMPTY, _LAMP, *_NUMBERS))
        if grid is None:
            return Verdict.unparsable(
                f"expected {size} lines of {size} cells, each {_LAMP}, {_EMPTY}, {_WALL} or a digit"
            )
        marks = "".join(problem.rows)
        cells = [cell for row in grid for cell in row]
        for got, mark in zip(cells, marks, strict=True):
            if got not in ((_LAMP, _EMPTY) if mark == _EMPTY else (mark, _WALL)):
                return Verdict.wrong("a wall or its number was changed")
        for cell, seen in enumerate(_seen(_rows(marks, size))):
            lit = sum(cells[other] == _LAMP for other in seen)
            where = by_row_and_column(size)(cell)
            if cells[cell] == _LAMP and lit:
                return Verdict.wrong(f"the lamp in {where} is lit by another lamp")
            if cells[cell] == _EMPTY and not lit:
                return Verdict.wrong(f"the cell in {where} is not lit")
        for cell, beside in enumerate(neighbours(size, size)):
            count = sum(cells[other] == _LAMP for other in beside)
            if marks[cell] in _NUMBERS and count != int(marks[cell]):
                return Verdict.wrong(
                    f"the wall in {by_row_and_column(size)(cell)} has {count} lamps beside it "
                    f"instead of {marks[cell]}"
                )
        return Verdict.correct()

    def solve(self, problem: LightUpProblem) -> str:
        return show_grid(problem.solution)

    def explain(self, problem: LightUpProblem) -> list[str]:
        """Return the cells with and without lamps in an order in which they follow."""
        rules, masks, said = _rules(problem.rows)
        size = len(problem.rows)
        marks = ("empty", "a lamp").__getitem__
        words = Words(by_row_and_column(size), "the rules", {}, said, marks, unsaid=0)
        solution = tuple(int(mark == _LAMP) for mark in "".join(problem.solution))
        return worked(Network(size**2, rules=rules), masks, solution, words)

    def effort(self, problem: LightUpProblem) -> int:
        """Count the steps until the search has proven that there is one solution."""
        rules, masks, _ = _rules(problem.rows)
        network = Network(len(masks), rules=rules)
        return search(network, masks, limit=2, max_nodes=_EFFORT_NODES).steps

    def baseline(self, rng: Rng, problem: LightUpProblem) -> str:
        """Put lamps where a number leaves no choice, then in dark cells at random."""
        size, marks = len(problem.rows), list("".join(problem.rows))
        sees, beside = _seen(problem.rows), neighbours(size, size)
        lamps = set[int]()
        barred = {other for cell, mark in enumerate(marks) if mark == "0" for other in beside[cell]}
        for cell, mark in enumerate(marks):
            white = [other for other in beside[cell] if marks[other] == _EMPTY]
            if mark in _NUMBERS and int(mark) == len(white):
                lamps |= set(white)
        walls = {cell for cell, mark in enumerate(marks) if mark != _EMPTY}
        dark = {c for c in range(size**2) if c not in walls and lamps.isdisjoint((c, *sees[c]))}
        for cell in sorted(dark - barred, key=lambda _: rng.random()):
            if lamps.isdisjoint((cell, *sees[cell])):
                lamps.add(cell)
        filled = [_LAMP if cell in lamps else mark for cell, mark in enumerate(marks)]
        return show_grid(_rows(filled, size))


def _rows(marks: Sequence[str], size: int) -> tuple[str, ...]:
    return tuple("".join(marks[i : i + size]) for i in range(0, size**2, size))


@lru_cache(maxsize=256)
def _seen(rows: tuple[str, ...]) -> tuple[Values, ...]:
    """Return, for each white cell, the others that a lamp in it lights; nothing for a wall."""
    runs = _runs(rows)
    found: list[list[int]] = [[] for _ in range(len(rows) ** 2)]
    for run in runs:
        for cell in run:
            found[cell].extend(other for other in run if other != cell)
    return tuple(map(tuple, found))


def _runs(rows: Sequence[str]) -> list[Values]:
    """Return the white cells side by side between walls, in rows and in columns."""
    size, found = len(rows), list[Values]()
    across = [[r * size + c for c in range(size)] for r in range(size)]
    for line in [*across, *zip(*across, strict=True)]:
        run: list[int] = []
        for cell in line:
            if rows[cell // size][cell % size] == _EMPTY:
                run.append(cell)
            elif run:
                found.append(tuple(run))
                run = []
        if run:
            found.append(tuple(run))
    return found


def _named(run: Values, size: int) -> str:
    """Return the name of several cells side by side."""
    (top, left), (bottom, right) = divmod(run[0], size), divmod(run[-1], size)
    if top == bottom:
        return f"row {top + 1}, columns {left + 1} to {right + 1},"
    return f"column {left + 1}, rows {top + 1} to {bottom + 1},"


def _lit(rng: Rng, size: int, walls: set[int], lamps: set[int]) -> set[int]:
    """Return the lamps with further ones, in random dark cells, until no cell is dark."""
    plain = [_WALL if cell in walls else _EMPTY for cell in range(size**2)]
    sees = _seen(_rows(plain, size))
    lamps = set(lamps)
    for cell in shuffled(rng, size**2):
        if cell not in walls and lamps.isdisjoint((cell, *sees[cell])):
            lamps.add(cell)
    return lamps


def _numbered(size: int, walls: set[int], lamps: set[int]) -> list[str]:
    beside = neighbours(size, size)
    return [
        str(len(lamps.intersection(beside[cell]))) if cell in walls else _EMPTY
        for cell in range(size**2)
    ]


def _fixes_all(marks: Sequence[str], size: int, cell: int) -> bool:
    """Whether a number alone tells what is in every cell beside it."""
    white = sum(marks[other] == _EMPTY for other in neighbours(size, size)[cell])
    return int(marks[cell]) in (0, white)


def _rules(rows: tuple[str, ...]) -> tuple[list[Rule], list[int], list[str]]:
    """Return the rules, the candidates of each cell (0: no lamp, 1: a lamp), and the rules told."""
    size, marks = len(rows), "".join(rows)
    name = by_row_and_column(size)
    rules: list[Rule] = []
    said: list[str] = []
    for cell, beside in enumerate(neighbours(size, size)):
        white = tuple(other for other in beside if marks[other] == _EMPTY)
        if marks[cell] in _NUMBERS and white:
            rules.append(Between(white, int(marks[cell]), int(marks[cell])))
            lamps = "1 lamp" if marks[cell] == "1" else f"{marks[cell]} lamps"
            said.append(f"the wall in {name(cell)} has {lamps} beside it")
    for run in _runs(rows):
        if len(run) > 1:
            rules.append(Between(run, 0, 1))
            said.append(f"{_named(run, size)} have at most one lamp")
    for cell, seen in enumerate(_seen(rows)):
        if marks[cell] == _EMPTY:
            rules.append(Between((cell, *seen), 1, size**2))
            said.append(f"a lamp lights {name(cell)}")
    return rules, [0b11 if mark == _EMPTY else 0b01 for mark in marks], said


def _rival(marks: Sequence[str], size: int, lamps: set[int]) -> Rival:
    """Look for other lamps that follow the rules."""
    rules, masks, _ = _rules(_rows(marks, size))
    solution = tuple(int(cell in lamps) for cell in range(size**2))
    return rival_of(solution, Network(size**2, rules=rules), masks, _PROOF_NODES)
