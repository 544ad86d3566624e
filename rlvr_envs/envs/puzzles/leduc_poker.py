"""Leduc poker against an opponent whose habits are known: two rounds of betting, one board card."""

from dataclasses import dataclass

from rlvr_envs.core.games import TURNS_AT_MOST
from rlvr_envs.core.registry import register
from rlvr_envs.generators.games.betting import PokerConfig, PokerProblem, PokerTask
from rlvr_envs.generators.games.cards import Poker

# Ranks, raises, games, and the step of probabilities.
_LEVELS = (
    (2, 1, 2, 25), (3, 1, 2, 25), (3, 1, 3, 25), (3, 1, 4, 10), (3, 1, 5, 10), (3, 2, 4, 10),
    (3, 2, 5, 10), (4, 2, 5, 10), (4, 2, 6, 10), (4, 2, 7, 5), (5, 2, 7, 5),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class LeducPokerConfig(PokerConfig):
    """The deck, the raises, the games of a match, and the opponent's probabilities."""

    size: int = 2

    @classmethod
    def at(cls, difficulty: int) -> "LeducPokerConfig":
        """More ranks, a second raise in each round of betting, and more games.

        Beyond level 10 there are more games, and up to 6 ranks.
        """
        ranks, raises, games, step = _LEVELS[min(difficulty, len(_LEVELS) - 1)]
        more = max(0, difficulty - len(_LEVELS) + 1)
        return cls(
            n_ranks=min(6, ranks + more // 5),
            n_raises=raises,
            n_rounds=min(30, games + more),
            step=step,
        )


@register("LeducPoker-v0", domain="puzzles", max_turns=TURNS_AT_MOST)
class LeducPokerTask(PokerTask[LeducPokerConfig]):
    r"""Make the best move in each hand of Leduc poker against an opponent who plays by a table.

    Description:
        Each player has one card; after a round of betting a card is put on the board, and a second
        round follows. Who pairs the board wins, else the higher card. The prompt states how often
        the opponent raises and folds with each kind of hand, and the agent plays several games,
        from either seat.

    Observation:
        The rules and the opponent's table; before each move the agent's card, the board and the
        moves so far.

    Action:
        A message with `fold`, `call` or `raise` in `\boxed{}`.

    Reward:
        1 if every move was a best one, otherwise 0. Luck pays nothing.

    Verification:
        Exact: Bayes' rule over the cards, and the best response to the stated table by backward
        induction over the whole tree. Moves of equal value are both best, within 1e-9 chips. No
        known gaps.

    Difficulty:
        A move of the first round must weigh what may come on the board and what the opponent
        then does; a second raise doubles what is to be thought through. The baseline raises with
        high cards and folds the lowest.

    References:
        Southey and others, "Bayes' Bluff: Opponent Modelling in Poker", 2005.
    """

    Config = LeducPokerConfig

    def one_round(self, problem: PokerProblem) -> Poker:
        return Poker(problem.ranks, 2, (problem.size, 2 * problem.size), problem.n_raises)

    @staticmethod
    def hands(ranks: str) -> tuple[str, ...]:
        first = tuple(f"first round, with {rank}" for rank in ranks)
        second = tuple(f"second round, with {rank} and no pair" for rank in ranks)
        return (*first, *second, "second round, with a pair")

    @staticmethod
    def row(game: Poker, view: str) -> int:
        card, board = view.removeprefix("Your card: ")[0], view.partition("Board: ")[2][:1]
        if board == card:
            return 2 * len(game.ranks)
        return game.ranks.index(card) + (len(game.ranks) if board else 0)

    def deal_rules(self, problem: PokerProblem) -> str:
        return (
            "This is Leduc poker for two. The deck has two cards of each rank, from low to high: "
            f"{', '.join(problem.ranks)}. Each player pays 1 chip into the pot and gets one card, "
            "which the opponent does not see. After a round of betting, one card is put on the "
            "board, for all to see, and a second round follows. Raises are of size "
            f"{problem.size} in the first round and {2 * problem.size} in the second. Then, if "
            "nobody has folded, a player whose card has the rank of the board card (a pair) wins "
            "the pot, else the higher card wins. If both cards have the same rank, the pot is "
            "shared."
        )
