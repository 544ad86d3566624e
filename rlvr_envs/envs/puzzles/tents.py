"""Tents: a tent beside each tree, no two touching, so many in each row and column."""

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
from rlvr_envs.generators.grids.cells import neighbours, show_cells
from rlvr_envs.generators.grids.clues import thin
from rlvr_envs.generators.grids.deductions import (
    Between,
    Words,
    by_row_and_column,
    line_names,
    worked,
)
from rlvr_envs.generators.grids.latin_squares import lines
from rlvr_envs.verifiers.grids import read_grid, show_grid

_TREE, _EMPTY, _TENT = "T", ".", "A"
_UNKNOWN = "?"
_LARGEST = 20
_MOVES = 4  # of trees, for each of them, before tents are given
_PROOF_NODES = 60
_EFFORT_NODES = 5_000

# Size, percentage of rows and columns whose number is given, and drafts of the first levels.
_LEVELS = (
    *((5, 100, 1), (6, 100, 1), (6, 70, 1), (6, 40, 1), (7, 40, 1)),
    *((7, 20, 2), (7, 0, 3), (7, 0, 8), (8, 0, 6), (9, 0, 5)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TentsConfig(TaskConfig):
    """The size of the grid, and how many numbers are given."""

    size: int = knob(7, "rows and columns of the grid", low=4, high=_LARGEST)
    tree_percent: int = knob(20, "most trees, in percent of the cells", low=5, high=22)
    number_percent: int = knob(
        100, "percentage of rows and columns with a number; more where needed", low=0, high=100
    )
    n_drafts: int = knob(1, "puzzles drawn, of which the hardest is taken", low=1, high=20)

    @classmethod
    def at(cls, difficulty: int) -> "TentsConfig":
        """Rows and columns lose their numbers, those first that fix the most; the grid grows.

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
class TentsProblem:
    """The trees, row by row, the numbers of tents (-1: not told), and tents that are given."""

    rows: tuple[str, ...]
    across: tuple[int, ...]
    down: tuple[int, ...]
    given: tuple[int, ...]
    solution: tuple[str, ...] = hidden()


@register("Tents-v0", domain="puzzles", answer_format="tag")
class TentsTask(Task[TentsConfig, TentsProblem]):
    """Pitch a tent beside each tree, none touching another, with so many in rows and columns.

    Description:
        Random tents that do not touch, each with a tree beside it. While other tents fit the
        numbers of all rows and columns, a tree moves to another side of its tent; where that does
        not end soon, tents are given. Then numbers are taken away, those that fix the most cells
        first, as far as one solution remains.

    Observation:
        The grid with its trees, and the numbers of tents in rows and columns; ``?`` where one is
        not told.

    Action:
        The grid with ``A`` for each tent, a row a line.

    Reward:
        1 for a grid that keeps the trees and follows every rule, otherwise 0.

    Verification:
        The rules; that each tent can have a tree of its own is decided by a matching. No known
        gaps.

    Difficulty:
        First the numbers that fix cells at once go, so that tents follow only from what would leave
        a tree without one, and from trying. Then puzzles are chosen in which more must be tried,
        and the grid grows. Effort is the steps of a search that proves that there is one solution.

    References:
        De Biasi, "The Complexity of Camping", 2012, for NP-completeness.
    """

    def generate(self, rng: Rng) -> TentsProblem:
        drafts = [self._draft(rng) for _ in range(self.config.n_drafts)]
        return max(drafts, key=self.effort) if len(drafts) > 1 else drafts[0]

    def _draft(self, rng: Rng) -> TentsProblem:
        size = self.config.size
        tree_of = _camp(rng, size, max(2, size**2 * self.config.tree_percent // 100))
        numbers = [len(tree_of.keys() & set(line)) for line in lines(size)]
        given = set[int]()
        moves = _MOVES * len(tree_of)
        while True:  # ends at the latest when all tents are given
            trees = set(tree_of.values())
            rival = _rival(size, trees, numbers, given, set(tree_of))
            if rival.none_exists:
                break
            doubtful = sorted(tree_of.keys() - given)
            lost = [cell for cell in doubtful if rival.values and not rival.values[cell]]
            cell = pick(rng, lost or doubtful)
            moves -= 1
            if moves < 0 or not _move_tree(rng, size, tree_of, cell):
                given.add(cell)
        self._thin(rng, numbers, trees, given, set(tree_of))
        marks = [_TREE if cell in trees else _EMPTY for cell in range(size**2)]
        filled = [_TENT if cell in tree_of else mark for cell, mark in enumerate(marks)]
        return TentsProblem(
            _rows(marks, size),
            tuple(numbers[:size]),
            tuple(numbers[size:]),
            tuple(sorted(given)),
            _rows(filled, size),
        )

    def _thin(
        self, rng: Rng, numbers: list[int], trees: set[int], given: set[int], tents: set[int]
    ) -> None:
        """Take numbers away while one solution remains; the rest of them are -1."""
        size = self.config.size
        order = shuffled(rng, len(numbers))
        order.sort(key=lambda i: numbers[i] > 0)

        def is_unique() -> bool:
            return _rival(size, trees, numbers, given, tents).none_exists

        thin(numbers, order, -1, self.config.number_percent, is_unique)

    def prompt(self, problem: TentsProblem) -> str:
        size = len(problem.rows)
        across, down = (
            ", ".join(_UNKNOWN if number < 0 else str(number) for number in numbers)
            for numbers in (problem.across, problem.down)
        )
        unknown = (
            f" {_UNKNOWN} means that the number is not given." if _UNKNOWN in across + down else ""
        )
        plural = "Tents are" if len(problem.given) > 1 else "A tent is"
        given = (
            f"{plural} already pitched, as (row, column) counted from 1 from the top left: "
            f"{show_cells(problem.given, size)}.\n\n"
            if problem.given
            else ""
        )
        return (
            f"Solve this Tents puzzle on a {size}×{size} grid. {_TREE} is a tree and a dot is an "
            f"empty cell:\n\n{show_grid(problem.rows)}\n\n"
            f"Tents in each row, from the top: {across}\n"
            f"Tents in each column, from the left: {down}\n\n"
            f"Put tents in empty cells.{unknown}\n"
            "- There are as many tents as trees, and each tent belongs to one tree: tents and "
            "trees can be paired so that the two of each pair share a side.\n"
            "- No two tents are in cells that share a side or a corner.\n"
            "- Each row and each column has as many tents as its number says.\n\n"
            f"{given}There is exactly one solution. Answer with the whole grid, one row per line, "
            f"with {_TENT} for each tent, {_TREE} for each tree and a dot for each other cell, "
            "separated by spaces."
        )

    def verify(self, problem: TentsProblem, answer: str) -> Verdict:
        size = len(problem.rows)
        grid = read_grid(answer, size, size, (_TREE, _EMPTY, _TENT))
        if grid is None:
            return Verdict.unparsable(
                f"expected {size} lines of {size} cells, each {_TREE}, {_TENT} or {_EMPTY}"
            )
        marks = [mark for row in grid for mark in row]
        trees = {cell for cell, mark in enumerate("".join(problem.rows)) if mark == _TREE}
        tents = {cell for cell, mark in enumerate(marks) if mark == _TENT}
        if trees != {cell for cell, mark in enumerate(marks) if mark == _TREE}:
            return Verdict.wrong("a tree was added or taken away")
        broken = _broken_rule(problem, trees, tents)
        return Verdict.wrong(broken) if broken else Verdict.correct()

    def solve(self, problem: TentsProblem) -> str:
        return show_grid(problem.solution)

    def explain(self, problem: TentsProblem) -> list[str]:
        """Return the cells with and without tents in an order in which they follow."""
        rules, masks, said = _rules_of(problem)
        size = len(problem.rows)
        marks = ("empty", "a tent").__getitem__
        words = Words(by_row_and_column(size), "the rules", {}, said, marks, unsaid=0)
        solution = tuple(int(mark == _TENT) for mark in "".join(problem.solution))
        return worked(Network(size**2, rules=rules), masks, solution, words)

    def effort(self, problem: TentsProblem) -> int:
        """Count the steps until the search has proven that there is one solution."""
        rules, masks, _ = _rules_of(problem)
        network = Network(len(masks), rules=rules)
        return search(network, masks, limit=2, max_nodes=_EFFORT_NODES).steps

    def baseline(self, rng: Rng, problem: TentsProblem) -> str:
        """Give tree after tree a tent where no number and no tent forbids it, at random."""
        size, marks = len(problem.rows), list("".join(problem.rows))
        beside, around = neighbours(size, size), neighbours(size, size, diagonal=True)
        left = dict(zip(lines(size), (*problem.across, *problem.down), strict=True))
        for cell in problem.given:
            marks[cell] = _TENT
        trees = [cell for cell, mark in enumerate(marks) if mark == _TREE]
        for tree in trees:
            free = [
                cell
                for cell in beside[tree]
                if marks[cell] == _EMPTY
                and all(marks[other] != _TENT for other in around[cell])
                and all(
                    number != sum(marks[other] == _TENT for other in line)
                    for line, number in left.items()
                    if cell in line
                )
            ]
            if free and all(marks[cell] != _TENT for cell in beside[tree]):
                marks[pick(rng, free)] = _TENT
        return show_grid(_rows(marks, size))


def _broken_rule(problem: TentsProblem, trees: set[int], tents: set[int]) -> str:
    """Return which rule the tents break; empty if they follow all."""
    size = len(problem.rows)
    if not tents.issuperset(problem.given):
        return "a tent that is already pitched is missing"
    for line, number in zip(lines(size), (*problem.across, *problem.down), strict=True):
        count = len(tents.intersection(line))
        if number not in (-1, count):
            return f"{line_names(lines(size))[line]} has {count} tents instead of {number}"
    around = neighbours(size, size, diagonal=True)
    if any(not tents.isdisjoint(around[cell]) for cell in tents):
        return "two tents touch"
    if len(tents) != len(trees) or not paired(size, trees, tents):
        return "the tents cannot be paired with the trees beside them"
    return ""


def _rows(marks: Sequence[str], size: int) -> tuple[str, ...]:
    return tuple("".join(marks[i : i + size]) for i in range(0, size**2, size))


def _camp(rng: Rng, size: int, n_trees: int) -> dict[int, int]:
    """Draw tents that do not touch, each with a tree beside it: tent → tree."""
    beside, around = neighbours(size, size), neighbours(size, size, diagonal=True)
    tree_of: dict[int, int] = {}
    for cell in shuffled(rng, size**2):
        if len(tree_of) == n_trees:
            break
        trees = set(tree_of.values())
        free = [other for other in beside[cell] if other not in trees and other not in tree_of]
        if cell not in trees and free and tree_of.keys().isdisjoint(around[cell]):
            tree_of[cell] = pick(rng, free)
    return tree_of


def _move_tree(rng: Rng, size: int, tree_of: dict[int, int], tent: int) -> bool:
    """Put the tree of a tent on another free side of it; False if there is none."""
    taken = {*tree_of, *tree_of.values()}
    free = [cell for cell in neighbours(size, size)[tent] if cell not in taken]
    if free:
        tree_of[tent] = pick(rng, free)
    return bool(free)


def paired(size: int, trees: set[int], tents: set[int]) -> bool:
    """Whether each tree can have a tent beside it of its own (augmenting paths)."""
    beside = neighbours(size, size)
    owner: dict[int, int] = {}

    def settle(tree: int, tried: set[int]) -> bool:
        for cell in beside[tree]:
            if cell in tents and cell not in tried:
                tried.add(cell)
                if cell not in owner or settle(owner[cell], tried):
                    owner[cell] = tree
                    return True
        return False

    return all(settle(tree, set()) for tree in sorted(trees))


class _Paired:
    """Once all cells are known, trees and tents can be paired."""

    def __init__(self, size: int, trees: set[int], cells: Values) -> None:
        self.cells, self._size, self._trees = cells, size, trees

    def narrow(self, masks: list[int]) -> list[int] | None:
        if any(masks[cell] == 0b11 for cell in self.cells):
            return []
        tents = {cell for cell in self.cells if masks[cell] == 0b10}
        return [] if paired(self._size, self._trees, tents) else None


def _rules_of(problem: TentsProblem) -> tuple[list[Rule], list[int], list[str]]:
    size = len(problem.rows)
    trees = {cell for cell, mark in enumerate("".join(problem.rows)) if mark == _TREE}
    return _rules(size, trees, [*problem.across, *problem.down], set(problem.given))


def _rules(
    size: int, trees: set[int], numbers: Sequence[int], given: set[int]
) -> tuple[list[Rule], list[int], list[str]]:
    """Return the rules, the candidates of each cell (0: no tent, 1: a tent), and the rules told."""
    beside, name = neighbours(size, size), by_row_and_column(size)
    places = {cell for tree in trees for cell in beside[tree]} - trees
    masks = [0b11 if cell in places else 0b01 for cell in range(size**2)]
    for cell in given:
        masks[cell] = 0b10
    rules: list[Rule] = []
    said: list[str] = []
    for (line, called), number in zip(line_names(lines(size)).items(), numbers, strict=True):
        if number >= 0:
            cells = tuple(cell for cell in line if cell in places)
            rules.append(Between(cells, number, number))
            said.append(f"{called} has {number} tent{'' if number == 1 else 's'}")
    for block in _blocks(size):
        cells = tuple(cell for cell in block if cell in places)
        if len(cells) > 1:
            rules.append(Between(cells, 0, 1))
            said.append(f"no two tents touch around {name(cells[0])}")
    for tree in sorted(trees):
        rules.append(Between(tuple(cell for cell in beside[tree] if cell in places), 1, 4))
        said.append(f"a tent is beside the tree in {name(tree)}")
    everywhere = tuple(sorted(places))
    if -1 in numbers:
        rules.append(Between(everywhere, len(trees), len(trees)))
        said.append("there are as many tents as trees")
    rules.append(_Paired(size, trees, everywhere))
    said.append("tents and trees can be paired")
    return rules, masks, said


@lru_cache(maxsize=32)
def _blocks(size: int) -> tuple[Values, ...]:
    """Return the squares of two by two cells."""
    corners = [r * size + c for r in range(size - 1) for c in range(size - 1)]
    return tuple((cell, cell + 1, cell + size, cell + size + 1) for cell in corners)


def _rival(
    size: int, trees: set[int], numbers: Sequence[int], given: set[int], tents: set[int]
) -> Rival:
    """Look for other tents that follow the rules."""
    rules, masks, _ = _rules(size, trees, numbers, given)
    solution = tuple(int(cell in tents) for cell in range(size**2))
    return rival_of(solution, Network(size**2, rules=rules), masks, _PROOF_NODES)
