"""Liar's dice against an opponent whose habits are known: bid or challenge by expected value."""

import re
from dataclasses import dataclass
from typing import Any

from rlvr_envs.core.games import AIM, TURNS_AT_MOST, Game, read_move
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.games.dice import LIAR, LiarsDice, bids_of
from rlvr_envs.generators.games.matches import MatchConfig, MatchProblem, MatchTask
from rlvr_envs.generators.games.strategies import Node

# Faces, the agent's dice, the opponent's dice, games, doubts, and the step of probabilities.
_LEVELS = (
    (2, 1, 1, 2, 1, 5), (3, 1, 1, 2, 1, 10), (2, 2, 1, 4, 1, 10), (2, 2, 1, 5, 2, 10),
    (2, 1, 2, 6, 2, 10), (2, 1, 2, 7, 2, 10), (2, 2, 2, 5, 2, 10), (2, 2, 2, 6, 3, 10),
    (2, 2, 2, 7, 3, 5), (3, 1, 2, 6, 3, 5), (3, 1, 2, 7, 3, 5),
)  # fmt: skip
_WORDS = re.compile(r"\b(?:bid|dice|die|of|showing|show|faces?|i|call|player)\b", re.ASCII | re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiarsDiceConfig(MatchConfig):
    """The dice, and how fine the opponent's probabilities are."""

    n_faces: int = knob(3, "faces of a die", low=2, high=5)
    n_dice: int = knob(1, "dice of the agent", low=1, high=2)
    n_dice_opponent: int = knob(1, "dice of the opponent", low=1, high=2)
    n_doubts: int = knob(2, "how finely the opponent tells bids apart", low=1, high=3)
    step: int = knob(10, "probabilities are multiples of it, in per cent", low=5, high=50)

    @classmethod
    def at(cls, difficulty: int) -> "LiarsDiceConfig":
        """More faces and more dice, so that a bid tells more, and more games.

        Beyond level 10 there are more games.
        """
        faces, dice, other, games, doubts, step = _LEVELS[min(difficulty, len(_LEVELS) - 1)]
        more = max(0, difficulty - len(_LEVELS) + 1)
        return cls(
            n_faces=faces,
            n_dice=dice,
            n_dice_opponent=other,
            n_rounds=min(30, games + more),
            n_doubts=doubts,
            step=step,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LiarsDiceProblem(MatchProblem):
    """The dice of the agent and of the opponent, and the opponent's habits, in per cent.

    ``doubts`` is how often it challenges a bid that needs one die, two, ... beyond its own dice,
    the last of them for all higher numbers; ``bluffs`` how often it makes the lowest bid though it
    has an honest one.
    """

    n_faces: int
    n_dice: int
    n_dice_opponent: int
    doubts: tuple[int, ...]
    bluffs: int


@register("LiarsDice-v0", domain="puzzles", max_turns=TURNS_AT_MOST)
class LiarsDiceTask(MatchTask[LiarsDiceConfig, LiarsDiceProblem]):
    r"""Make the best move in each game of Liar's dice against an opponent who plays by a rule.

    Description:
        Both players roll hidden dice and make rising bids on how many of all dice show a face,
        until one challenges. The prompt states how the opponent bids and challenges, and the agent
        plays several games, from either seat.

    Observation:
        The rules and the opponent's rule; before each move the agent's dice and the bids so far.

    Action:
        A message with a bid, a number of dice and a face, or `liar` in `\boxed{}`.

    Reward:
        1 if every move was a best one, otherwise 0. Luck pays nothing.

    Verification:
        Exact: Bayes' rule over the opponent's dice, and the best response to the stated rule by
        backward induction over the whole tree. Moves of equal value are both best, within 1e-9.
        No known gaps.

    Difficulty:
        With few faces, counting decides. Then the opponent's bids tell about its dice, and a bid
        can be chosen for the answer that it draws. The baseline makes the lowest bid that its own
        dice make true, and challenges where there is none.

    References:
        Ferguson and Ferguson, "Models for the Game of Liar's Dice", 1991.
    """

    def generate(self, rng: Rng) -> LiarsDiceProblem:
        config = self.config
        most = 100 // config.step
        doubts = sorted(config.step * integer(rng, 0, most) for _ in range(config.n_doubts))
        public: dict[str, Any] = {
            "n_rounds": config.n_rounds,
            "seat": self.drawn_seat(rng),
            "n_faces": config.n_faces,
            "n_dice": config.n_dice,
            "n_dice_opponent": config.n_dice_opponent,
            "doubts": tuple(doubts),
            "bluffs": config.step * integer(rng, 0, most),
        }
        return LiarsDiceProblem(**public, **self.begun(rng, LiarsDiceProblem(**public)))

    def one_round(self, problem: LiarsDiceProblem) -> LiarsDice:
        dice = problem.n_dice, problem.n_dice_opponent
        return LiarsDice(dice if problem.seat == 0 else dice[::-1], problem.n_faces)

    def habits(self, problem: LiarsDiceProblem) -> tuple[int, ...]:
        return (*problem.doubts, problem.bluffs)

    @staticmethod
    def odds(game: LiarsDice, habits: tuple[int, ...], node: Node) -> dict[str, float]:
        head, _, told = node.view.partition("Moves: ")
        dice, last = head.removeprefix("Your dice: ").partition(".")[0], told[:-1].split("; ")[-1]
        odds = dict.fromkeys(node.moves, 0.0)
        bids = [move for move in node.moves if move != LIAR]
        if not bids:
            return odds | {LIAR: 1.0}
        needed = 0
        if LIAR in odds:
            count, face = last.split()
            needed = min(len(habits) - 1, max(0, int(count) - dice.count(face)))
            odds[LIAR] = habits[needed - 1] / 100 if needed else 0.0
        rest = 1 - odds.get(LIAR, 0.0)
        honest = [bid for bid in bids if dice.count(bid.split()[1]) >= int(bid.split()[0])]
        odds[bids[0]] += rest * (habits[-1] / 100 if honest else 1)
        if honest:
            odds[honest[0]] += rest * (1 - habits[-1] / 100)
        return odds

    def _bidding_rules(self, problem: LiarsDiceProblem, mine: int, other: int) -> str:
        """Return the rules for a seat with ``mine`` dice."""
        faces = problem.n_faces
        bids = bids_of(mine + other, faces)
        return (
            f"This is Liar's dice for two. At the start of a game you roll {_dice(mine)} "
            f"and the opponent rolls {_dice(other)}; each die has the faces 1 to "
            f"{faces}, all equally likely, and each player sees only its own dice. A bid names a "
            "number of dice and a face, and claims that at least so many of all dice show this "
            "face. Player 1 bids first. Then the players take turns: each makes a higher bid or "
            "calls liar. A bid is higher if its number is larger, or if its number is the same and "
            f"its face is larger, so the bids in ascending order are {', '.join(bids)}. After a "
            "call of liar the dice are shown: if the last bid is true, the player who made it "
            "wins 1 point from the other, otherwise it loses 1 point.\n"
        )

    def seat_rules(self, problem: LiarsDiceProblem, seat: int) -> str:
        dice = self.one_round(problem).n_dice
        return (
            f"{self._bidding_rules(problem, dice[seat], dice[1 - seat])}"
            f"You are player {seat + 1} in each of {problem.n_rounds} games; all dice are rolled "
            f"anew for each. Who has won more points in all games together wins. {AIM}"
        )

    def rules(self, problem: LiarsDiceProblem) -> str:
        bluffs = problem.bluffs
        return (
            f"{self._bidding_rules(problem, problem.n_dice, problem.n_dice_opponent)}"
            f"You are player {problem.seat + 1} in each of {problem.n_rounds} games; all dice are "
            "rolled anew for each. The opponent decides by chance, and by this rule:\n"
            "- To answer a bid, it counts how many dice beyond its own the bid needs. If it needs "
            f"0, the opponent never calls liar; {_doubts(problem.doubts)}. If no higher bid "
            "exists, it always calls liar.\n"
            "- If it does not call liar, it bids. An honest bid is a higher bid that its own dice "
            f"alone make true. If it has one, it makes the lowest honest bid with {100 - bluffs}% "
            f"and the lowest of all higher bids with {bluffs}%. Without an honest bid, it makes "
            "the lowest of all higher bids. For the first bid, every bid is higher.\n"
            "What counts is not luck: you earn full marks if every move of yours is a best one, "
            "and nothing otherwise. A best move is one that gets the most points on average, given "
            "your dice and all bids of the game so far, if you make best moves afterwards too."
        )

    def move_help(self, problem: LiarsDiceProblem) -> str:
        return r"\boxed{n f} to bid n dice of face f, or \boxed{liar}"

    def read(self, text: str, legal: tuple[str, ...]) -> str | None:
        """Read a move; words such as "bid" and "dice of" do not matter."""
        return read_move(_WORDS.sub(" ", text[:200]) if len(text) <= 200 else text, legal)

    def hasty(self, rng: Rng, game: Game[Any], state: Any) -> str:
        """Make the lowest bid that the own dice make true, else challenge, else the lowest bid."""
        moves = game.actions(state)
        view = game.view(state, game.mover(state))
        dice = view.partition("Your dice: ")[2].partition(".")[0]
        bids = [move.split() for move in moves if move != LIAR]
        honest = [" ".join(bid) for bid in bids if dice.count(bid[1]) >= int(bid[0])]
        return honest[0] if honest else LIAR if LIAR in moves else moves[0]


def _doubts(doubts: tuple[int, ...]) -> str:
    """Return how often the opponent challenges, in words."""
    *exact, last = (f"it calls liar with {percent}%" for percent in doubts)
    told = [f"if it needs {i}, {each}" for i, each in enumerate(exact, 1)]
    return "; ".join([*told, f"if it needs {len(doubts)} or more, {last}"])


def _dice(number: int) -> str:
    return "1 die" if number == 1 else f"{number} dice"
