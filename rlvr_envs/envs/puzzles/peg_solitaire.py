"""Peg solitaire: pegs jump over each other until one is left."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.moves.scoring import plural, stray
from rlvr_envs.generators.moves.search import shortest_path
from rlvr_envs.verifiers.markup import hyphened
from rlvr_envs.verifiers.parse import words

PEG, HOLE = "o", "."
_MAX_SIDE = 12
_EFFORT_LIMIT = 20_000  # states that measuring the effort may expand
_COLUMNS = "ABCDEFGHIJKL"
_JUMP = re.compile(r"([A-Za-z])([0-9]{1,2})(?:-|->|→)([A-Za-z])([0-9]{1,2})")

Jump = tuple[int, int]  # from a cell to a cell; cells are counted from 0, row by row


@dataclass(frozen=True, slots=True, kw_only=True)
class PegSolitaireConfig(TaskConfig):
    """The size of the board and the number of jumps."""

    side: int = knob(5, "rows and columns of the board", low=4, high=_MAX_SIDE)
    n_jumps: int = 7

    def check(self) -> None:
        if not 1 <= self.n_jumps <= self.side**2 // 2:
            raise ConfigError(
                f"need n_jumps in 1..side ** 2 // 2 ({self.side**2 // 2}), got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "PegSolitaireConfig":
        """Four jumps at first, and three more every two levels, on boards from 6x6."""
        side = min(_MAX_SIDE, 6 + max(0, difficulty - 7) // 3)
        return cls(side=side, n_jumps=min(side**2 // 2, 4 + 3 * difficulty // 2))


@dataclass(frozen=True, slots=True)
class PegSolitaireProblem:
    """The board, one row per line."""

    board: str
    solution: str = hidden()


@register("PegSolitaire-v0", domain="puzzles")
class PegSolitaireTask(Task[PegSolitaireConfig, PegSolitaireProblem]):
    """Jump over pegs, which removes them, until a single peg is left.

    Description:
        A square board with pegs in some of its holes. The position was found by playing backwards
        from a single peg, so it can always be solved, but most ways to play end with pegs that
        cannot reach each other.

    Observation:
        The rules, and the board with its columns lettered and its rows numbered.

    Action:
        The jumps in order, each as the cells from and to which a peg jumps.

    Reward:
        1 for possible jumps after which one peg is left, otherwise 0. Every solution takes one jump
        fewer than there are pegs.

    Verification:
        The jumps are played. An answer with more jumps than there are pegs is not read. No known
        gaps.

    Difficulty:
        The number of pegs grows, with more ways to strand one of them; the board grows later. See
        `PegSolitaireConfig.at`.

    References:
        Beasley, "The Ins and Outs of Peg Solitaire", 1985.
        Uehara and Iwata, "Generalized Hi-Q is NP-Complete", 1990.
    """

    def generate(self, rng: Rng) -> PegSolitaireProblem:
        side = self.config.side
        pegs = 1 << integer(rng, 0, side**2 - 1)
        jumps: list[Jump] = []
        for _ in range(self.config.n_jumps):
            options = list(_backwards(pegs, side))
            if not options:  # on a crowded board, the puzzle is left with fewer pegs
                break
            jump, pegs = pick(rng, options)
            jumps.append(jump)
        return PegSolitaireProblem(_board(pegs, side), _show(reversed(jumps), side))

    def prompt(self, problem: PegSolitaireProblem) -> str:
        rows = problem.board.split("\n")
        side = len(rows)
        width = len(str(side))
        header = " " * (width + 1) + " ".join(_COLUMNS[:side])
        lines = [f"{n:>{width}} {' '.join(row)}" for n, row in enumerate(rows, 1)]
        n_jumps = problem.board.count(PEG) - 1
        picture = "\n".join([header, *lines])
        return (
            "Solve this peg solitaire puzzle: make jumps until a single peg is left. In the "
            f"picture, {PEG} is a peg and {HOLE} is an empty hole. Columns have letters and rows "
            f"have numbers.\n\n{picture}\n\nIn a jump, a peg jumps over a neighbouring peg in the "
            "same row or column and lands in the hole just beyond it, which must be empty. The peg "
            "that was jumped over is removed. Diagonal jumps are not allowed.\n\n"
            f"You need exactly {plural(n_jumps, 'jump')}. Answer with the jumps in order, "
            "separated by commas. Write each jump as the cell where it starts, a hyphen and the "
            "cell where it lands: for example, A1-C1 jumps from A1 over B1 to C1."
        )

    def verify(self, problem: PegSolitaireProblem, answer: str) -> Verdict:
        pegs, side = _read_board(problem.board)
        jumps = _read(answer, side, pegs.bit_count())
        if jumps is None:
            return Verdict.unparsable(
                f"expected at most {pegs.bit_count()} jumps between cells of the board, such as "
                "A1-C1"
            )
        for number, jump in enumerate(jumps, 1):
            after = _after(pegs, side, jump)
            if after is None:
                return Verdict.wrong(f"jump {number}, {_show([jump], side)}, is not possible")
            pegs = after
        if pegs.bit_count() > 1:
            return Verdict.wrong(f"{pegs.bit_count()} pegs are left after the jumps")
        return Verdict.correct("one peg is left")

    def solve(self, problem: PegSolitaireProblem) -> str:
        return problem.solution

    def explain(self, problem: PegSolitaireProblem) -> list[str]:
        """Return the board after each jump."""
        pegs, side = _read_board(problem.board)
        steps = []
        for jump in _read(problem.solution, side, side**2) or ():
            two, hole = _jumps(side)[jump]
            pegs ^= two ^ hole
            board = "\n".join(map(" ".join, _board(pegs, side).split("\n")))
            steps.append(f"After {_show([jump], side)}:\n{board}")
        return steps

    def effort(self, problem: PegSolitaireProblem) -> int:
        """Count the positions that a depth-first search looks at until one peg is left."""
        pegs, side = _read_board(problem.board)
        return shortest_path(
            pegs,
            lambda state: _forwards(state, side),
            _is_single,
            limit=_EFFORT_LIMIT,
            estimate=lambda state: state.bit_count() - 1,
        ).expanded

    def baseline(self, rng: Rng, problem: PegSolitaireProblem) -> str:
        """Jump at random until no jump is left."""
        pegs, side = _read_board(problem.board)
        limit = pegs.bit_count()
        jumps = stray(pegs, lambda state: _forwards(state, side), _is_single, rng, limit=limit)
        return _show(jumps, side)


def _is_single(pegs: int) -> bool:
    return pegs.bit_count() == 1


@cache
def _jumps(side: int) -> dict[Jump, tuple[int, int]]:
    """Return every jump that the board has room for: the two pegs it takes, and its hole."""
    found = {}
    for source in range(side**2):
        row, column = divmod(source, side)
        for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            if 0 <= row + 2 * down < side and 0 <= column + 2 * right < side:
                step = down * side + right
                found[source, source + 2 * step] = (
                    1 << source | 1 << source + step,
                    1 << source + 2 * step,
                )
    return found


def _forwards(pegs: int, side: int) -> Iterator[tuple[Jump, int]]:
    """Yield every possible jump with the pegs after it."""
    for jump, (two, hole) in _jumps(side).items():
        if pegs & two == two and not pegs & hole:
            yield jump, pegs ^ two ^ hole


def _backwards(pegs: int, side: int) -> Iterator[tuple[Jump, int]]:
    """Yield every jump that may have come last, with the pegs before it."""
    for jump, (two, hole) in _jumps(side).items():
        if pegs & hole and not pegs & two:
            yield jump, pegs ^ two ^ hole


def _after(pegs: int, side: int, jump: Jump) -> int | None:
    """Return the pegs after a jump, or None if it is not possible."""
    two, hole = _jumps(side).get(jump, (0, 0))
    return pegs ^ two ^ hole if two and pegs & two == two and not pegs & hole else None


def _board(pegs: int, side: int) -> str:
    cells = [PEG if pegs >> cell & 1 else HOLE for cell in range(side**2)]
    return "\n".join("".join(cells[i : i + side]) for i in range(0, side**2, side))


def _read_board(board: str) -> tuple[int, int]:
    """Return the pegs as bits, and the side of the board."""
    cells = board.replace("\n", "")
    pegs = sum(1 << cell for cell, sign in enumerate(cells) if sign == PEG)
    return pegs, board.count("\n") + 1


def _read(answer: str, side: int, limit: int) -> list[Jump] | None:
    pieces = words(hyphened(answer), max_items=limit)
    if not pieces:
        return None
    cells = {
        f"{letter}{row + 1}": row * side + column
        for column, letter in enumerate(_COLUMNS[:side])
        for row in range(side)
    }
    found = [
        (cells.get(f"{m[1].upper()}{m[2]}"), cells.get(f"{m[3].upper()}{m[4]}"))
        for m in map(_JUMP.fullmatch, pieces)
        if m
    ]
    jumps = [(a, b) for a, b in found if a is not None and b is not None]
    return jumps if len(jumps) == len(pieces) else None


def _show(jumps: Iterable[Jump], side: int) -> str:
    def cell(number: int) -> str:
        return f"{_COLUMNS[number % side]}{number // side + 1}"

    return ", ".join(f"{cell(source)}-{cell(target)}" for source, target in jumps)
