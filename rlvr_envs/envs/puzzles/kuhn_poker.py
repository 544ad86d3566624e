"""Kuhn poker against an opponent whose habits are known: find the best move by expected value."""

from dataclasses import dataclass

from rlvr_envs.core.games import TURNS_AT_MOST
from rlvr_envs.core.registry import register
from rlvr_envs.generators.games.betting import PokerConfig, PokerProblem, PokerTask
from rlvr_envs.generators.games.cards import Poker

# Ranks, raises, chips of a raise, games, and the step of probabilities.
_LEVELS = (
    (3, 1, 1, 4, 25), (3, 1, 1, 5, 25), (3, 1, 2, 6, 10), (4, 1, 1, 6, 10), (4, 1, 2, 7, 10),
    (4, 2, 1, 7, 10), (5, 2, 1, 8, 10), (5, 2, 2, 8, 10), (5, 3, 1, 9, 10), (6, 3, 2, 9, 10),
    (7, 3, 2, 10, 5),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class KuhnPokerConfig(PokerConfig):
    """The deck, the raises, the games of a match, and the opponent's probabilities."""

    @classmethod
    def at(cls, difficulty: int) -> "KuhnPokerConfig":
        """More ranks and more raises, so that beliefs and later moves count, and more games.

        Beyond level 10 there are more games, then more ranks and raises.
        """
        ranks, raises, size, games, step = _LEVELS[min(difficulty, len(_LEVELS) - 1)]
        more = max(0, difficulty - len(_LEVELS) + 1)
        return cls(
            n_ranks=min(13, ranks + more // 3),
            n_raises=min(6, raises + more // 4),
            size=size,
            n_rounds=min(30, games + more),
            step=step,
        )


@register("KuhnPoker-v0", domain="puzzles", max_turns=TURNS_AT_MOST)
class KuhnPokerTask(PokerTask[KuhnPokerConfig]):
    r"""Make the best move in each hand of Kuhn poker against an opponent who plays by a table.

    Description:
        Each player has one card and bets on its being the higher one. The prompt states how often
        the opponent raises and folds with each card, and the agent plays several games, from
        either seat.

    Observation:
        The rules and the opponent's table; before each move the agent's card and the moves so far.

    Action:
        A message with `fold`, `call` or `raise` in `\boxed{}`.

    Reward:
        1 if every move was a best one, otherwise 0. Luck pays nothing.

    Verification:
        Exact: Bayes' rule over the cards, and the best response to the stated table by backward
        induction over the whole tree. Moves of equal value are both best, within 1e-9 chips. No
        known gaps.

    Difficulty:
        First the chance of winning now; then beliefs about the card after the opponent's moves;
        then bluffs against an opponent who folds, and answers to further raises. The baseline
        raises with high cards and folds the lowest.

    References:
        Kuhn, "A Simplified Two-Person Poker", 1950.
    """

    Config = KuhnPokerConfig
    draws = 60

    def one_round(self, problem: PokerProblem) -> Poker:
        return Poker(problem.ranks, 1, (problem.size,), problem.n_raises)

    @staticmethod
    def hands(ranks: str) -> tuple[str, ...]:
        return tuple(f"with {rank}" for rank in ranks)

    @staticmethod
    def row(game: Poker, view: str) -> int:
        return game.ranks.index(view.removeprefix("Your card: ")[0])

    def deal_rules(self, problem: PokerProblem) -> str:
        return (
            f"This is Kuhn poker for two. The deck has {len(problem.ranks)} cards, from low to "
            f"high: {', '.join(problem.ranks)}. Each player pays 1 chip into the pot and gets one "
            "card, which the opponent does not see. One round of betting follows; a raise is of "
            f"size {problem.size}. Then, if nobody has folded, the higher card wins the pot."
        )
