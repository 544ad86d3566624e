"""A move puzzle played turn by turn: a message is one move, and the position comes back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.task import Reply
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.moves.scoring import graded, plural
from rlvr_envs.generators.moves.search import State
from rlvr_envs.verifiers.markup import unmarked

_BOXED = answer_format("boxed")
UNDO = "undo"

# What the registration of a game states as its turn limit: more than any level allows.
TURNS_AT_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Rules(Generic[State]):
    """The rules of a game.

    Attributes:
        after: the state after a move, given as text, or why it is not possible.
        show: a state in words.
        is_goal: whether a state is the goal.
        may_undo: whether the last move may be taken back.
    """

    after: Callable[[State, str], State | str]
    show: Callable[[State], str]
    is_goal: Callable[[State], bool]
    may_undo: bool = False


class Turns(Generic[State]):
    """One episode: moves come one a message, and every message costs a turn."""

    def __init__(
        self, rules: Rules[State], start: State, *, n_turns: int, shortest: int, optimal_only: bool
    ) -> None:
        self._rules = rules
        self._states = [start]
        self._n_turns = n_turns
        self._shortest = shortest
        self._optimal_only = optimal_only
        self._turn = 0

    def reply(self, action: str) -> Reply:
        """Make the move of a message, if it is one, and return the position."""
        self._turn += 1
        found = _BOXED.extract(action)
        if found.answer is None:
            told = f"Your message contains no move: {found.reason}."
        else:
            told = self._move(unmarked(found.answer))
        state = self._states[-1]
        if self._rules.is_goal(state):
            verdict = graded(self._turn, self._shortest, optimal_only=self._optimal_only)
            return Reply(f"{self._rules.show(state)}\n\nSolved.", verdict)
        left = self._n_turns - self._turn
        void = found.answer is None
        if left <= 0:
            reason = f"not solved within {plural(self._n_turns, 'turn')}"
            verdict = Verdict.wrong(reason, moves=float(self._turn))
            return Reply("", verdict, void=void, out_of_turns=True)
        turns = f"({plural(left, 'turn')} left.)"
        lines = (told, self._rules.show(state), turns)
        return Reply("\n\n".join(filter(None, lines)), void=void)

    def _move(self, move: str) -> str:
        """Take a move or take one back; return a remark for the player, or the empty string."""
        if self._rules.may_undo and move.lower() == UNDO:
            if len(self._states) == 1:
                return "There is no move to take back."
            self._states.pop()
            return ""
        following = self._rules.after(self._states[-1], move)
        if isinstance(following, str):
            return f"That move is not possible: {following}."
        self._states.append(following)
        return ""


def boxed(move: str) -> str:
    """Return a message that makes a move."""
    return _BOXED.wrap(move)


def protocol(n_turns: int, example: str, meaning: str, *, may_undo: bool = False) -> str:
    """Return how the game is played, for the prompt; a move and what it means are the example."""
    undo = (
        f" To take back the last move, send {boxed(UNDO)}; this also costs a turn."
        if may_undo
        else ""
    )
    return (
        f"You play turn by turn. In each message, give one move in \\boxed{{}}: for example, "
        f"{boxed(example)} {meaning}. After each move you see the new position. A message without "
        f"a legal move changes nothing but also costs a turn.{undo} You have "
        f"{plural(n_turns, 'turn')}."
    )
