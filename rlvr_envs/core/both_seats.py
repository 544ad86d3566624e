r"""A game in which the same agent makes the moves of both seats, each of which sees only its own.

    import gymnasium
    from rlvr_envs.core.both_seats import BothSeats

    env = BothSeats(gymnasium.make("rlvr/KuhnPoker-v0", difficulty=0))
    prompt, info = env.reset(seed=0)
    text, reward, terminated, truncated, info = env.step(r"\boxed{call}")

The texts are of two conversations: each `reset` and `step` returns what the seat that is to move
now is told, and ``info["agent"]`` says which that is. A seat's first text is its prompt.
"""

from typing import Any

import gymnasium

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, UsageError
from rlvr_envs.core.games import CHANCE, ILLEGAL_AT_MOST, OVER, GameProblem, GameTask, drawn
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.task import Reply, Task
from rlvr_envs.core.verdict import Verdict


def two_seats(task: Task[Any, Any], problem: Any) -> GameTask[Any, Any] | None:
    """Return the task of a problem if it is of a game for two, else None."""
    if isinstance(task, GameTask) and task.game(problem).n_seats > 1:
        return task
    return None


class SharedSession:
    """One game of two seats.

    Attributes:
        seat: which is to move.
        verdicts: of each seat, once the game is over.
    """

    def __init__(self, task: GameTask[Any, Any], problem: GameProblem) -> None:
        self._task, self._problem, self._game = task, problem, task.game(problem)
        self._rng = stream("game", problem.seed)  # so that all games of a problem have its chance
        self._state = task.state(problem)
        self._told: dict[int, list[str]] = {}  # what happened since the seat was last spoken to
        self._illegal = [0, 0]
        self.seat = self._game.mover(self._state)
        self.verdicts: tuple[Verdict, Verdict] | None = None

    def address(self) -> str:
        """Return what the seat to move is told: the prompt at first, then what happened."""
        told = self._told.get(self.seat)
        if told is None:
            self._told[self.seat] = []
            return self._task.seat_prompt(self._problem, self._state, self.seat)
        news = " ".join(told)
        told.clear()
        return f"{news}\n\n{self._view()}\n\nIt is your move."

    def reply(self, action: str) -> Reply:
        """Make the move of a message, and answer the seat that is to move then."""
        move, void = self._task.moved(self._problem, self._state, action)
        if move is None:
            return self._refused(void)
        for seat, told in self._told.items():
            told.append(f"{'You' if seat == self.seat else 'Opponent'}: {move}.")
        self._state = self._game.after(self._state, move)
        while (mover := self._game.mover(self._state)) == CHANCE:
            outcome = drawn(self._rng, self._game, self._state)
            self._state = self._game.after(self._state, outcome)
        if mover == OVER:
            got = self._game.returns(self._state)
            first, second = (self._task.seat_verdict(self._problem, each) for each in got)
            self.verdicts = first, second
            return Reply("", self.verdicts[self.seat])
        self.seat = mover
        return Reply(self.address())

    def _view(self) -> str:
        return self._game.view(self._state, self.seat)

    def _refused(self, void: bool) -> Reply:
        self._illegal[self.seat] += 1
        if self._illegal[self.seat] < ILLEGAL_AT_MOST:
            return Reply(self._task.refusal(self._problem, self._view(), void), void=void)
        reason = f"{ILLEGAL_AT_MOST} messages without a legal move"
        lost, won = Verdict.wrong(reason), Verdict.correct(f"the opponent gave {reason}")
        self.verdicts = (lost, won) if self.seat == 0 else (won, lost)
        return Reply("", lost, void=void, out_of_turns=True)


class BothSeats(gymnasium.Wrapper[str, str, str, str]):
    """Has the agent make the moves of both seats of a game task.

    The scores are those of `GameTask.seat_verdict`: 1 for a win, 0.5 for a draw and 0 for a loss,
    by the sign of what the game's rules give the seat, which is ``parts["outcome"]`` of its
    verdict; in a negotiation, where both may gain, the share of the points. The third message of a
    seat without a legal move loses the game for it. The task's own `opponent`, `judge` and the
    words of its prompt about them take no part.

    ``info["agent"]`` is the seat to move and ``info["seats"]`` is 2. At the end, the reward and
    ``info["verdict"]`` are those of the seat that moved last, and ``info["verdicts"]`` has one for
    each seat. A game that the turn limit cuts off is lost for both.

    Args:
        env: an environment of a game task, without wrappers that change texts or rewards.

    Raises:
        ConfigError: the environment is not of this package; at `reset`, a problem is of no game for
            two.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.core.both_seats import BothSeats
        >>> env = BothSeats(gymnasium.make("rlvr/Nim-v0", difficulty=0, seat=1))
        >>> prompt, info = env.reset(seed=0)
        >>> info["agent"]
        1
    """

    def __init__(self, env: gymnasium.Env[str, str]) -> None:
        super().__init__(env)
        if not isinstance(env.unwrapped, TextEnv):
            raise ConfigError(f"BothSeats wraps environments of this package, got {env!r:.80}")
        self._text_env = env.unwrapped
        self._session: SharedSession | None = None
        self._info: dict[str, Any] = {}
        self._turn = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Pose a problem, and return the prompt of the seat that is to move."""
        _, self._info = self.env.reset(seed=seed, options=options)
        instance = self._text_env.instance
        task = two_seats(instance.task, instance.problem)
        if task is None:
            raise ConfigError(f"{instance.spec.id} is no game for two: it has no two seats to play")
        self._session = SharedSession(task, instance.problem)
        self._turn = 0
        return self._session.address(), self._now(self._session)

    def _now(self, session: SharedSession) -> dict[str, Any]:
        return {**self._info, "turn": self._turn, "agent": session.seat, "seats": 2}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the message of the seat to move; return what the next one is told."""
        session, limit = self._session, self._text_env.turn_limit
        if session is None:
            raise UsageError("there is no running episode: call reset() before step()")
        seat, reply = session.seat, session.reply(action)
        self._turn += 1
        info = {**self._now(session), "void_turn": reply.void}
        truncated = session.verdicts is None and self._turn >= limit
        if truncated:
            cut = Verdict.wrong(f"the limit of {limit} turns is reached")
            session.verdicts = cut, cut
        if session.verdicts is None:
            return reply.text, 0.0, False, False, info
        self._session = None
        verdict = session.verdicts[seat]
        info |= {
            "verdict": verdict,
            "verdicts": session.verdicts,
            "scored": True,
            "out_of_turns": truncated or reply.out_of_turns,
        }
        return reply.text, verdict.score, not truncated, truncated, info
