"""The sliding puzzle: numbered tiles are slid into place through one empty cell."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.moves.scoring import SHORTEST_WANTED, graded, stray
from rlvr_envs.generators.moves.search import Route, shortest_path
from rlvr_envs.verifiers import parse

MOVE_LIMIT = 1000
_MAX_SIDE = 8
_MAX_STATES = 20_000  # that the search for a shortest solution may expand
_EMPTY = 0

Tiles = tuple[int, ...]  # row by row


@dataclass(frozen=True, slots=True, kw_only=True)
class SlidingPuzzleConfig(TaskConfig):
    """The size of the frame, and how far the tiles are out of place."""

    n_rows: int = knob(3, "rows of the frame", low=2, high=_MAX_SIDE)
    n_columns: int = knob(3, "columns of the frame", low=2, high=_MAX_SIDE)
    n_slides: int = knob(
        20, "random slides between the goal and the start", low=1, high=MOVE_LIMIT // 2
    )
    ordered: bool = knob(False, "whether the goal has the tiles in order, row by row")
    optimal_only: bool = knob(False, "a longer solution earns only shortest length / length")

    @classmethod
    def at(cls, difficulty: int) -> "SlidingPuzzleConfig":
        """Three more slides a level lie between goal and start, and the frame grows up to 6x6.

        It is 2x3 at first, 3x3 from level 3 on, 3x4 from level 6 on and 4x4 from level 9 on.
        """
        larger = difficulty // 3
        return cls(
            n_rows=min(6, 2 + (larger + 1) // 2),
            n_columns=min(6, 3 + larger // 2),
            n_slides=min(MOVE_LIMIT // 2, 3 + 3 * difficulty),
        )


@dataclass(frozen=True, slots=True)
class SlidingPuzzleProblem:
    """The tiles of both arrangements, row by row; 0 is the empty cell."""

    n_columns: int
    start: Tiles
    goal: Tiles
    shortest: int = hidden()
    solution: Tiles = hidden()  # the tiles in the order in which they are slid


@register("SlidingPuzzle-v0", domain="puzzles")
class SlidingPuzzleTask(Task[SlidingPuzzleConfig, SlidingPuzzleProblem]):
    """Slide tiles into the empty cell until they reach a given arrangement.

    Description:
        A frame of numbered tiles with one cell empty. The start lies a random walk of slides away
        from the goal, so it can always be solved.

    Observation:
        The start and the goal, as grids.

    Action:
        The numbers of the tiles in the order in which they are slid into the empty cell.

    Reward:
        1 for slides that end in the goal. Under ``optimal_only`` the length of a shortest solution
        divided by the number of slides. Otherwise 0.

    Verification:
        The slides are played; an answer of more than 1,000 is not read. The length of a shortest
        solution is exact: where the search for it would take too long, the random walk is cut
        shorter. No known gaps.

    Difficulty:
        The frame and the number of slides grow. On large frames the search limits how far the start
        lies from the goal, to about 40 slides.

    References:
        Johnson and Story, "Notes on the '15' Puzzle", 1879.
        Korf, "Depth-First Iterative-Deepening", 1985, for the sum of distances as an estimate.
    """

    def generate(self, rng: Rng) -> SlidingPuzzleProblem:
        config = self.config
        n_cells = config.n_rows * config.n_columns
        tiles = list(range(1, n_cells))
        if not config.ordered:
            rng.shuffle(tiles)
        tiles.insert(integer(rng, 0, n_cells - 1), _EMPTY)
        goal = tuple(tiles)
        walk = _walk(goal, config.n_columns, config.n_slides, rng)
        length = len(walk) - 1
        while True:
            route = _shortest(walk[length], goal, config.n_columns)
            # A walk of four slides is always solved in time; it may also have come back to its
            # goal, which is no puzzle.
            if route.moves:
                break
            length = length * 3 // 4 if length > 4 else max(1, length - 1)
        return SlidingPuzzleProblem(
            config.n_columns, walk[length], goal, len(route.moves), route.moves
        )

    def prompt(self, problem: SlidingPuzzleProblem) -> str:
        wanted = f" {SHORTEST_WANTED}" if self.config.optimal_only else ""
        return (
            "Solve this sliding puzzle. Numbered tiles lie in a frame with one empty cell, shown "
            "as _. A move slides a tile that is directly above, below, left or right of the empty "
            "cell into the empty cell; the cell that the tile leaves is then empty.\n\n"
            f"Start:\n\n{_show(problem.start, problem.n_columns)}\n\n"
            f"Goal:\n\n{_show(problem.goal, problem.n_columns)}\n\n"
            f"Find a sequence of at most {MOVE_LIMIT:,} moves that leads from the start to the "
            f"goal.{wanted} Answer with the numbers of the tiles in the order in which you slide "
            "them, separated by commas."
        )

    def verify(self, problem: SlidingPuzzleProblem, answer: str) -> Verdict:
        slides = parse.naturals(answer, max_items=MOVE_LIMIT, max_digits=3)
        if slides is None:
            return Verdict.unparsable(
                f"expected the numbers of at most {MOVE_LIMIT} tiles, separated by commas"
            )
        tiles = list(problem.start)
        place = {tile: cell for cell, tile in enumerate(tiles)}
        near = _near(problem.n_columns, len(tiles))
        for number, tile in enumerate(slides, 1):
            empty = place[_EMPTY]
            if tile == _EMPTY or place.get(tile) not in near[empty]:
                return Verdict.wrong(f"slide {number}: tile {tile} is not next to the empty cell")
            tiles[empty], tiles[place[tile]] = tile, _EMPTY
            place[_EMPTY], place[tile] = place[tile], empty
        if tuple(tiles) != problem.goal:
            return Verdict.wrong("the slides end in another arrangement")
        return graded(len(slides), problem.shortest, optimal_only=self.config.optimal_only)

    def solve(self, problem: SlidingPuzzleProblem) -> str:
        return ", ".join(map(str, problem.solution))

    def explain(self, problem: SlidingPuzzleProblem) -> list[str]:
        """Return the arrangement after each slide."""
        state, steps = problem.start, []
        for tile in problem.solution:
            state = dict(_slides(state, problem.n_columns))[tile]
            steps.append(f"After sliding {tile}:\n{_show(state, problem.n_columns)}")
        return steps

    def effort(self, problem: SlidingPuzzleProblem) -> int:
        """Count the arrangements that A* looks at, led by the sum of the tiles' distances."""
        return _shortest(problem.start, problem.goal, problem.n_columns).expanded

    def baseline(self, rng: Rng, problem: SlidingPuzzleProblem) -> str:
        """Slide at random, never back to an arrangement, until the goal comes up."""
        slides = stray(
            problem.start,
            lambda state: _slides(state, problem.n_columns),
            problem.goal.__eq__,
            rng,
            limit=3 * len(problem.start),
        )
        return ", ".join(map(str, slides))


@cache
def _near(n_columns: int, n_cells: int) -> tuple[tuple[int, ...], ...]:
    """Return the neighbours of each cell."""
    found = []
    for cell in range(n_cells):
        column = cell % n_columns
        above_and_below = [c for c in (cell - n_columns, cell + n_columns) if 0 <= c < n_cells]
        left = [cell - 1] if column > 0 else []
        right = [cell + 1] if column < n_columns - 1 else []
        found.append((*above_and_below, *left, *right))
    return tuple(found)


def _slides(state: Tiles, n_columns: int) -> Iterator[tuple[int, Tiles]]:
    """Yield each tile that can be slid, with the arrangement after it."""
    empty = state.index(_EMPTY)
    for cell in _near(n_columns, len(state))[empty]:
        tiles = list(state)
        tiles[empty], tiles[cell] = tiles[cell], _EMPTY
        yield state[cell], tuple(tiles)


def _walk(goal: Tiles, n_columns: int, n_slides: int, rng: Rng) -> list[Tiles]:
    """Return the arrangements of a random walk that never takes its last slide back."""
    walk, last = [goal], _EMPTY
    for _ in range(n_slides):
        options = [(tile, after) for tile, after in _slides(walk[-1], n_columns) if tile != last]
        last, after = pick(rng, options)
        walk.append(after)
    return walk


def _shortest(start: Tiles, goal: Tiles, n_columns: int) -> Route[int]:
    return shortest_path(
        start,
        lambda state: _slides(state, n_columns),
        goal.__eq__,
        limit=_MAX_STATES,
        estimate=_distance_to(goal, n_columns),
    )


def _distance_to(goal: Tiles, n_columns: int) -> Callable[[Tiles], int]:
    """Return the sum of the tiles' distances from their places in the goal."""
    cells = range(len(goal))
    # Row t: how far each cell is from the place of tile t; the empty cell does not count.
    far = [[0] * len(goal) for _ in cells]
    for place, tile in enumerate(goal):
        if tile != _EMPTY:
            down, right = divmod(place, n_columns)
            far[tile] = [abs(c // n_columns - down) + abs(c % n_columns - right) for c in cells]
    return lambda state: sum([far[tile][cell] for cell, tile in enumerate(state)])


def _show(tiles: Tiles, n_columns: int) -> str:
    width = len(str(len(tiles) - 1))
    cells = [("_" if tile == _EMPTY else str(tile)).rjust(width) for tile in tiles]
    rows = [cells[i : i + n_columns] for i in range(0, len(cells), n_columns)]
    return "\n".join(" ".join(row) for row in rows)
