"""Pig: decide between rolling on and holding, by the chance of winning a race against a player."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rlvr_envs.core.games import (
    AIM,
    TURNS_AT_MOST,
    Game,
    GameConfig,
    GameProblem,
    GameTask,
    Mover,
)
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.games.matches import Match, Rounds
from rlvr_envs.generators.games.pig import HOLD, ROLL, Pig, PigValues, Scores, pig_values
from rlvr_envs.generators.games.players import optimal
from rlvr_envs.generators.games.tasks import draw_seed

# Points that win, points left at most, faces, faces that lose the turn, and games.
_LEVELS = (
    (12, 12, 4, 2, 2), (16, 16, 4, 2, 2), (20, 20, 4, 2, 2), (20, 20, 5, 2, 3), (25, 25, 5, 2, 3),
    (30, 30, 5, 2, 3), (30, 30, 6, 2, 3), (36, 30, 6, 2, 4), (40, 30, 6, 2, 4), (44, 30, 6, 2, 5),
    (50, 30, 6, 2, 5),
)  # fmt: skip
_DRAWS = 40  # of a position with a wanted best move, close to where the other one becomes best
_SAME = 1e-6  # of chances that are too close to be told apart by hand


@dataclass(frozen=True, slots=True, kw_only=True)
class PigConfig(GameConfig):
    """The race, the die, and how many games are played from how near to the end."""

    opponent: str = knob("optimal", "who plays the other seat", choices=("optimal",))
    judge: str = knob(
        "value",
        "full marks for the best outcome, or for moves that never lose value",
        choices=("value",),
    )
    target: int = knob(20, "points that win a game", low=5, high=200)
    n_left: int = knob(8, "points that each player still needs, at most", low=2, high=30)
    n_faces: int = knob(6, "faces of the die", low=3, high=12)
    n_bad: int = knob(1, "faces, from 1, that lose the turn", low=1, high=2)
    n_games: int = knob(3, "games, from one position each", low=1, high=20)

    @classmethod
    def at(cls, difficulty: int) -> "PigConfig":
        """Positions farther from the end, other dice, and more games.

        Beyond level 10 there are more games, up to 20, from up to 30 points.
        """
        target, left, faces, bad, games = _LEVELS[min(difficulty, len(_LEVELS) - 1)]
        more = max(0, difficulty - len(_LEVELS) + 1)
        return cls(
            target=target,
            n_left=min(30, left + more // 2),
            n_faces=faces,
            n_bad=bad,
            n_games=min(20, games + more),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PigProblem(GameProblem):
    """The race and the die; for each game the agent's score, the opponent's, and the turn's."""

    target: int
    n_faces: int
    n_bad: int
    positions: tuple[tuple[int, int, int], ...]


@register("Pig-v0", domain="puzzles", max_turns=TURNS_AT_MOST)
class PigTask(GameTask[PigConfig, PigProblem]):
    r"""Roll or hold in the dice game Pig, always with the better chance of winning.

    Description:
        In a turn a player rolls a die as often as it likes and adds up the points, or holds and
        keeps them; a bad face loses the points of the turn. Who first has enough points wins. The
        agent plays several games from positions near the end against a perfect opponent.

    Observation:
        The rules; before each decision both scores and the points of the turn.

    Action:
        A message with `roll` or `hold` in `\boxed{}`.

    Reward:
        1 if every decision had the best chance of winning, otherwise 0. Luck pays nothing.

    Verification:
        Chances by value iteration, to within 1e-12. Decisions whose values differ by less than
        1e-9 are both best. No known gaps.

    Difficulty:
        Near the end few sequences of rolls must be compared; farther away the opponent's coming
        turns count, and the chances of two positions depend on each other. To roll is best at
        first in every second game, to hold in the others. The baseline holds at as many points as
        the die has faces, or to win.

    References:
        Neller and Presser, "Optimal Play of the Dice Game Pig", 2004.
    """

    opponents = ("optimal",)

    def generate(self, rng: Rng) -> PigProblem:
        config = self.config
        seat = config.seat if config.seat >= 0 else integer(rng, 0, 1)
        game = Pig(config.target, config.n_faces, config.n_bad)
        return PigProblem(
            seat=seat,
            seed=draw_seed(rng),
            target=config.target,
            n_faces=config.n_faces,
            n_bad=config.n_bad,
            positions=self._positions(rng, game),
        )

    def _positions(self, rng: Rng, game: Pig) -> tuple[tuple[int, int, int], ...]:
        """Draw positions in which to roll and to hold are best by turns, so that neither pays."""
        first = integer(rng, 0, 1)
        moves = [(ROLL, HOLD)[(first + place) % 2] for place in range(self.config.n_games)]
        return tuple(self._position(rng, game, move) for move in moves)

    def _position(self, rng: Rng, game: Pig, wanted: str) -> tuple[int, int, int]:
        """Draw a position with that best move where the rule of thumb fails or chances are near."""
        values = pig_values(game)
        found, least = self._drawn(rng, game), (2, 0.0)
        for _ in range(_DRAWS):
            position = self._drawn(rng, game)
            state = _state(position, 0)
            worth = {m: values.value(game.after(state, m)) for m in (ROLL, HOLD)}
            gap = 2 * worth[wanted] - sum(worth.values())
            rank = (int(_rule_of_thumb(game, state) == wanted), gap)
            if gap > _SAME and rank < least:
                found, least = position, rank
        return found

    def _drawn(self, rng: Rng, game: Pig) -> tuple[int, int, int]:
        left = [integer(rng, 2, self.config.n_left) for _ in range(2)]
        own, other = (max(0, game.target - each) for each in left)
        return own, other, integer(rng, 0, game.target - own - 1)

    def game(self, problem: PigProblem) -> Match:
        game = Pig(problem.target, problem.n_faces, problem.n_bad)
        starts = tuple(_state(position, problem.seat) for position in problem.positions)
        return Match(game, len(starts), starts)

    def _race_rules(self, problem: PigProblem) -> str:
        bad = "a 1" if problem.n_bad == 1 else f"a number from 1 to {problem.n_bad}"
        return (
            f"Pig is a race to {problem.target} points for two players, who take turns. In a turn "
            "the player rolls a die or holds. After a roll the player decides again, unless "
            f"the die shows {bad}: then all points of the turn are lost and the turn ends. Any "
            "other number is added to the points of the turn. To hold is to add the points of the "
            "turn to the score and to end the turn. A player whose score is then at least "
            f"{problem.target} wins at once. The die has the faces 1 to {problem.n_faces}, all "
            "equally likely. "
        )

    def rules(self, problem: PigProblem) -> str:
        starts = "; ".join(f"{own}, {other}, {turn}" for own, other, turn in problem.positions)
        return (
            f"{self._race_rules(problem)}"
            f"You play {len(problem.positions)} games, each from a position in "
            "your turn. These are the positions, each as your score, the opponent's score and the "
            f"points of your turn so far: {starts}. The opponent always decides so as to win with "
            "the greatest chance. What "
            "counts is not luck: you earn full marks if every decision of yours gives the greatest "
            "chance of winning the game, and nothing otherwise."
        )

    def seat_rules(self, problem: PigProblem, seat: int) -> str:
        whose = "your turn" if seat == problem.seat else "the opponent's turn"
        order = 1 if seat == problem.seat else -1
        starts = "; ".join(
            f"{', '.join(map(str, scores[::order]))}, {turn}" for *scores, turn in problem.positions
        )
        return (
            f"{self._race_rules(problem)}"
            f"You play {len(problem.positions)} games, each from a position in {whose}. These are "
            "the positions, each as your score, the opponent's score and the points of the turn so "
            f"far: {starts}. Who wins more games wins. {AIM}"
        )

    def move_help(self, problem: PigProblem) -> str:
        return "the word roll or hold"

    def move_values(self, problem: PigProblem, state: Rounds) -> Mapping[str, float | Fraction]:
        game = self.game(problem).game
        values, sign = pig_values(game), 1 if problem.seat == 0 else -1
        return {move: sign * values.value(game.after(state.inner, move)) for move in (ROLL, HOLD)}

    def player(self, problem: PigProblem, name: str) -> Mover | None:
        game: Pig = self.game(problem).game
        if name != "optimal":
            return None
        best = optimal(game, pig_values(game))
        return lambda state, rng: best(state.inner, rng)

    def effort(self, problem: PigProblem) -> float:
        """Return how many states value iteration works out for the positions."""
        values = PigValues(self.game(problem).game)
        for own, other, turn in problem.positions:
            values.value(_state((own, other, turn), 0))
        return float(values.nodes * len(problem.positions))

    def hasty(self, rng: Rng, game: Game[Any], state: Any) -> str:
        """Hold at as many points as the die has faces, or to win."""
        return _rule_of_thumb(game.game, state.inner)  # type: ignore[attr-defined]


def _state(position: tuple[int, int, int], seat: int) -> Scores:
    own, other, turn = position
    return Scores((own, other) if seat == 0 else (other, own), seat, turn)


def _rule_of_thumb(game: Pig, state: Scores) -> str:
    enough = min(game.n_faces, game.target - state.scores[state.seat])
    return HOLD if state.turn >= enough else ROLL
