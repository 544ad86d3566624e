"""Rush Hour: a vehicle gets out of a crowded lot once the others have made way."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.puzzles._parking import MAX_SIDE, OTHERS, Lot, Slide, draw_jam, read_lot
from rlvr_envs.envs.puzzles._puzzle import PuzzleTask
from rlvr_envs.generators.moves.scoring import (
    MOST_LEAST_MOVES,
    SHORTEST_WANTED,
    graded,
    long_enough,
    stray,
)
from rlvr_envs.generators.moves.search import shortest_path
from rlvr_envs.verifiers.markup import hyphened
from rlvr_envs.verifiers.parse import words

MOVE_LIMIT = 500
_EFFORT_LIMIT = 100_000  # states that measuring the effort may expand
_PLUS = re.compile(r"[ \t]{0,4}\+[ \t]{0,4}")
_SLIDE = re.compile(r"([A-Za-z])([+-])([0-9]{1,2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class RushHourConfig:
    """The size of the lot, and how hard a jam is looked for."""

    side: int = 5
    n_vehicles: int = 7  # at most, with ours
    n_proposals: int = 2  # changes that are tried to make the lot harder
    max_states: int = 150  # positions that a lot may have
    least_moves: int = 3  # of a shortest solution, where such a problem is found in time
    optimal_only: bool = False  # a longer solution earns only the share of it that was needed

    def __post_init__(self) -> None:
        if not 4 <= self.side <= MAX_SIDE:
            raise ConfigError(f"need side in 4..{MAX_SIDE}, got {self}")
        if not 2 <= self.n_vehicles <= len(OTHERS) + 1:
            raise ConfigError(f"need n_vehicles in 2..{len(OTHERS) + 1}, got {self}")
        if not (0 <= self.n_proposals <= 1000 and 10 <= self.max_states <= 10**5):
            raise ConfigError(
                f"need n_proposals in 0..1000 and max_states in 10..100,000, got {self}"
            )
        if not 1 <= self.least_moves <= MOST_LEAST_MOVES:
            raise ConfigError(
                f"least_moves is from 1 to {MOST_LEAST_MOVES}, got {self.least_moves}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "RushHourConfig":
        """The lot grows from 4 by 4 to 6 by 6, and the vehicles in number from 4 to 15.

        More changes are tried, on lots with more positions, to find a hard one.
        """
        side = 4 if difficulty < 2 else 5 if difficulty < 10 else 6
        return cls(
            side=side,
            n_vehicles=min({4: 5, 5: 11, 6: 15}[side], 4 + difficulty),
            n_proposals=min(1000, 3 * difficulty // 2 + max(0, difficulty - 10) ** 2 // 4),
            max_states=min(10**5, 100 + 30 * difficulty),
            least_moves=min(4, 2 + difficulty // 2),
        )


@dataclass(frozen=True, slots=True)
class RushHourProblem:
    """The lot, one row a line; each vehicle is shown by its letter in every cell it covers."""

    board: str
    shortest: int = hidden()
    solution: str = hidden()


@register("RushHour-v0", domain="puzzles")
class RushHourTask(PuzzleTask[RushHourConfig, RushHourProblem]):
    """Slide vehicles along their lines until vehicle X can leave the lot.

    Description:
        A square lot full of vehicles of two or three cells. The lot was made harder by replacing
        vehicles, and the position is the one farthest from the end of all that can be reached.

    Observation:
        The rules, and the lot as a grid of letters.

    Action:
        The slides in order, each as a letter, a sign and a number of cells.

    Reward:
        1 for possible slides after which X stands at the right edge. Under ``optimal_only`` the
        number of slides in a shortest solution divided by the number of slides. Otherwise 0.

    Episode End:
        After one step.

    Verification:
        The slides are played; more than 500 are not read. The length of a shortest solution is
        exact: all positions of the lot were looked at. No known gaps.

    Difficulty:
        The lot, the number of vehicles and the length of the solution grow. See
        `RushHourConfig.at`.

    References:
        Flake and Baum, "Rush Hour is PSPACE-complete, or 'Why you should generously tip parking
        lot attendants'", 2002.
        Collette, Raskin and Servais, "On the Symbolic Computation of the Hardest Configurations of
        the Rush Hour Game", 2006.

    Version History:
        v0: first version.
    """

    def generate(self, rng: Rng) -> RushHourProblem:
        config = self.config
        jam = long_enough(
            lambda: draw_jam(
                rng,
                config.side,
                config.n_vehicles,
                n_proposals=config.n_proposals,
                max_states=config.max_states,
            ),
            lambda jam: len(jam.slides),
            config.least_moves,
        )
        solution = _show(jam.slides, jam.lot)
        return RushHourProblem(jam.lot.show(jam.start), len(jam.slides), solution)

    def prompt(self, problem: RushHourProblem) -> str:
        wanted = f" {SHORTEST_WANTED}" if self.config.optimal_only else ""
        return (
            "Vehicles stand in a square lot. In the picture each letter is a vehicle, which covers "
            "every cell with its letter, and . is a free cell.\n\n"
            f"{problem.board}\n\n"
            "A vehicle that stands in a row moves only left and right in it, and one that stands "
            "in a column only up and down in it. A move slides one vehicle by one or more cells, "
            "over free cells only and within the lot. Find moves after which vehicle X stands at "
            f"the right edge of the lot, at most {MOVE_LIMIT} of them.{wanted} Answer with the "
            "moves in order, separated by commas, each written as the letter of the vehicle, + for "
            "right or down or - for left or up, and the number of cells: for example, X+1, A-2 "
            "slides X to the right by one cell, and then A to the left or up by two."
        )

    def verify(self, problem: RushHourProblem, answer: str) -> Verdict:
        lot, state = read_lot(problem.board)
        slides = _read_slides(answer, lot)
        if slides is None:
            return Verdict.unparsable(
                f"expected at most {MOVE_LIMIT} moves of vehicles in the lot, such as X+1, A-2"
            )
        for number, slide in enumerate(slides, 1):
            after = next((after for move, after in lot.slides(state) if move == slide), None)
            if after is None:
                return Verdict.wrong(f"move {number}, {_show([slide], lot)}, is not possible")
            state = after
        if not lot.is_out(state):
            return Verdict.wrong("X does not stand at the right edge after the moves")
        return graded(len(slides), problem.shortest, optimal_only=self.config.optimal_only)

    def solve(self, problem: RushHourProblem) -> str:
        return problem.solution

    def explain(self, problem: RushHourProblem) -> list[str]:
        """Return the lot after each move."""
        lot, state = read_lot(problem.board)
        steps = []
        for slide in _read_slides(problem.solution, lot) or ():
            state = dict(lot.slides(state))[slide]
            steps.append(f"After {_show([slide], lot)}:\n{lot.show(state)}")
        return steps

    def effort(self, problem: RushHourProblem) -> int:
        lot, state = read_lot(problem.board)
        return shortest_path(state, lot.slides, lot.is_out, limit=_EFFORT_LIMIT).expanded

    def guess(self, problem: RushHourProblem, rng: Rng) -> str:
        lot, state = read_lot(problem.board)
        slides = stray(state, lot.slides, lot.is_out, rng, limit=len(lot.vehicles))
        return _show(slides, lot)


def _read_slides(answer: str, lot: Lot) -> list[Slide] | None:
    pieces = words(_PLUS.sub("+", hyphened(answer)), max_items=MOVE_LIMIT)
    if not pieces:
        return None
    numbers = {vehicle.letter: index for index, vehicle in enumerate(lot.vehicles)}
    found = [
        (numbers[m[1].upper()], int(m[2] + m[3]))
        for m in map(_SLIDE.fullmatch, pieces)
        if m and m[1].upper() in numbers
    ]
    return found if len(found) == len(pieces) else None


def _show(slides: Iterable[Slide], lot: Lot) -> str:
    return ", ".join(f"{lot.vehicles[index].letter}{cells:+}" for index, cells in slides)
