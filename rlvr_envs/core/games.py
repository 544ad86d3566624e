"""Games: the protocol of their rules, and the task in which an agent takes one of the seats.

`rlvr_envs.generators.games` has the rules of games and the players; nothing here knows one of them.
"""

import re
from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.seeding import Rng, pick, stream
from rlvr_envs.core.task import InteractiveTask, Reply
from rlvr_envs.core.verdict import Verdict

CHANCE, OVER = -1, -2  # what `Game.mover` returns where no seat is to move
TURNS_AT_MOST = 1000  # messages of one episode; what games are registered with
ILLEGAL_AT_MOST = 3  # messages without a legal move; the last one loses the game
# What a seat is told to play for where both seats are trained: `GameTask.seat_rules` ends in it.
AIM = "A win earns full marks, a draw half of them, and a loss nothing."
_SAME = 1e-9  # values that differ by less are equal

_BOXED = answer_format("boxed")
_WORD = re.compile(r"[a-z]+|\d+", re.ASCII)
_MOVE = re.compile(r"[A-Za-z0-9 ,;:()\[\]]*", re.ASCII)
_FILLERS = frozenset({"row", "r", "column", "col", "c", "heap", "from", "the", "tile", "move"})
_MARKS = re.compile(r"\\text(?:tt|bf)?\{|\}|[`$*]|\\[ ,]")
_LONGEST = 200  # characters of a move

State = TypeVar("State", bound=Hashable)
# Returns a move, given what the seat may see, the legal moves, and a source of chance.
Policy: TypeAlias = Callable[[str, tuple[str, ...], Rng], str]


class Game(Protocol[State]):
    """The rules of a game. A state is a frozen value; moves and outcomes of chance are text."""

    @property
    def n_seats(self) -> int:
        """How many seats there are: 1 or 2."""

    def start(self) -> State:
        """Return the first state."""

    def mover(self, state: State) -> int:
        """Return the seat to move, counted from 0, or `CHANCE` or `OVER`."""

    def actions(self, state: State) -> tuple[str, ...]:
        """Return the legal moves of the seat to move, in a fixed order."""

    def chances(self, state: State) -> tuple[tuple[str, Fraction], ...]:
        """Return the outcomes of a state where chance moves, with their probabilities."""

    def after(self, state: State, action: str) -> State:
        """Return the state after a legal move or an outcome of chance."""

    def returns(self, state: State) -> tuple[float, ...]:
        """Return what each seat gets at the end; two seats' sum is 0 unless said otherwise."""

    def view(self, state: State, seat: int) -> str:
        """Return all that a seat may see, as text: equal texts are one information state."""


_POLICIES: dict[str, Policy] = {}


def add_policy(name: str, policy: Policy) -> None:
    """Make a function the opponent of that name in this process: ``opponent=name``.

    Raises:
        ConfigError: the name has other characters than letters, digits, "_" and "-".
    """
    if not re.fullmatch(r"[\w-]+", name):
        raise ConfigError(f"the name of a policy has letters, digits, '_' and '-', got {name!r}")
    _POLICIES[name] = policy


def drawn(rng: Rng, game: Game[State], state: State) -> str:
    """Draw the outcome of a state where chance moves."""
    outcomes = game.chances(state)
    at = rng.random()
    for outcome, probability in outcomes:
        at -= float(probability)
        if at < 0:
            return outcome
    return outcomes[-1][0]


def read_move(text: str, legal: tuple[str, ...]) -> str | None:
    """Return the legal move that a text spells, or None.

    Marks around it, case, brackets, separators and words such as "row" do not matter.
    """
    text = _MARKS.sub("", text)
    if len(text) > _LONGEST or not _MOVE.fullmatch(text):
        return None
    words = _words(text)
    return next((move for move in legal if _words(move) == words), None) if words else None


def _words(text: str) -> list[str]:
    found = [word.lstrip("0") or "0" for word in _WORD.findall(text.lower())]
    return [word for word in found if word not in _FILLERS]


@dataclass(frozen=True, slots=True, kw_only=True)
class GameConfig(TaskConfig):
    """What every game can be asked for."""

    opponent: str = knob("optimal", "who plays the other seat: optimal, random, mcts:N or a policy")
    seat: int = knob(-1, "the agent's seat, from 0; -1 to draw it", low=-1, high=1)
    judge: str = knob(
        "outcome",
        "full marks for the best outcome, or for moves that never lose value",
        choices=("outcome", "value"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GameProblem:
    """A position, told by the moves and outcomes of chance that lead to it, and the agent's seat.

    The seed fixes all that chance and the opponent do afterwards.
    """

    opening: tuple[str, ...] = ()
    seat: int = 0
    seed: int = hidden(0)


GameConfigT = TypeVar("GameConfigT", bound=GameConfig)
GameProblemT = TypeVar("GameProblemT", bound=GameProblem)
Mover: TypeAlias = Callable[[Any, Rng], str]  # returns the opponent's move in a state


class GameTask(InteractiveTask[GameConfigT, GameProblemT]):
    """A game in which the agent has one seat, and chance and an opponent make the other moves.

    Problems are positions that the agent can play for a known best value, so that the oracle
    always earns full marks.

    Episode End:
        With the game, or with the third message that has no legal move, which loses it.
    """

    # names for `opponent` that a message about a wrong one lists
    opponents: ClassVar[tuple[str, ...]] = ("optimal", "random", "mcts:100")

    @abstractmethod
    def game(self, problem: GameProblemT) -> Game[Any]:
        """Return the rules."""

    @abstractmethod
    def rules(self, problem: GameProblemT) -> str:
        """Return the rules in words, with the aim."""

    @abstractmethod
    def move_help(self, problem: GameProblemT) -> str:
        """Return how a move is written, as a clause that ends in an example."""

    @abstractmethod
    def move_values(self, problem: GameProblemT, state: Any) -> Mapping[str, float | Fraction]:
        """Return what each legal move is worth for the seat that moves, given what it sees."""

    @abstractmethod
    def player(self, problem: GameProblemT, name: str) -> Mover | None:
        """Return the opponent of a name, None where there is none of that name."""

    def opponent(self, problem: GameProblemT, name: str | None = None) -> Mover:
        """Return who makes the moves of the other seats: the configured opponent, or one by name.

        Raises:
            ConfigError: nobody has that name.
        """
        name, game = name or self.config.opponent, self.game(problem)
        if name == "random":
            return lambda state, rng: pick(rng, game.actions(state))
        if (policy := _POLICIES.get(name)) is not None:
            return lambda state, rng: _chosen(name, policy, game, state, rng)
        if (known := self.player(problem, name)) is not None:
            return known
        names = (*self.opponents, *sorted(_POLICIES))
        raise ConfigError(
            f"no opponent {name!r}{did_you_mean(name, names)} (opponents: {', '.join(names)}; "
            "rlvr_envs.core.games.add_policy adds one)"
        )

    def state(self, problem: GameProblemT) -> Any:
        """Return the state after the opening."""
        game = self.game(problem)
        state = game.start()
        for move in problem.opening:
            state = game.after(state, move)
        return state

    def first_view(self, problem: GameProblemT) -> str:
        """Return what the agent sees at first."""
        return self.game(problem).view(self.state(problem), problem.seat)

    def prompt(self, problem: GameProblemT) -> str:
        return self._prompt(problem, self.rules(problem), self.first_view(problem))

    def seat_rules(self, problem: GameProblemT, seat: int) -> str:
        """Return the rules in words for a seat whose opponent is not known, with the aim.

        It is what `core.both_seats` tells each seat: nothing of how the other one plays, and
        nothing that only the other one may see.
        """
        raise ConfigError(f"{type(self).__name__} has no rules for both seats: define seat_rules")

    def seat_verdict(self, problem: GameProblemT, outcome: float) -> Verdict:
        """Return a seat's verdict on what the rules give it: two seats' scores sum to 1."""
        if outcome > 0:
            return Verdict.correct("won", outcome=float(outcome))
        if outcome < 0:
            return Verdict.wrong("lost", outcome=float(outcome))
        return Verdict.graded(0.5, "drawn", outcome=0.0)

    def seat_prompt(self, problem: GameProblemT, state: Any, seat: int) -> str:
        """Return the first message to a seat whose opponent is not known."""
        view = self.game(problem).view(state, seat)
        return self._prompt(problem, self.seat_rules(problem, seat), view)

    def _prompt(self, problem: GameProblemT, rules: str, view: str) -> str:
        return (
            f"{rules}\n\n{view}\n\nIt is your move. In each message, give one move "
            f"in \\boxed{{}}: {self.move_help(problem)}. Then you see what happened up to your "
            f"next move. A message without a legal move changes nothing; the third one loses the "
            f"game."
        )

    def moved(self, problem: GameProblemT, state: Any, message: str) -> tuple[str | None, bool]:
        """Return a message's legal move, None without one, and whether it holds no move at all."""
        found = _BOXED.extract(message).answer
        if found is None:
            return None, True
        return self.read(found, self.game(problem).actions(state)), False

    def refusal(self, problem: GameProblemT, view: str, void: bool) -> str:
        """Return what is said to a message without a legal move; ``void`` if it holds none."""
        told = "Your message contains no move" if void else "That is not a legal move"
        return f"{told}. Give one legal move in \\boxed{{}}: {self.move_help(problem)}.\n\n{view}"

    def begin(self, problem: GameProblemT) -> "GameSession":
        return GameSession(self, problem)

    def best(self, problem: GameProblemT, state: Any) -> str:
        """Return the first of the best moves."""
        values = self.move_values(problem, state)
        return max(values, key=lambda move: values[move])

    def play(self, problem: GameProblemT) -> list[str]:
        """Make a best move each time."""
        return self.moves(problem, lambda state: self.best(problem, state))

    def moves(self, problem: GameProblemT, choose: Callable[[Any], str]) -> list[str]:
        """Return the messages of a player who chooses a move by the state, to the game's end."""
        session, actions = self.begin(problem), list[str]()
        while True:
            actions.append(_BOXED.wrap(choose(session.state)))
            if session.reply(actions[-1]).verdict is not None:
                return actions

    def baseline(self, rng: Rng, problem: GameProblemT) -> list[str]:
        """Play as `hasty` does."""
        game = self.game(problem)
        return self.moves(problem, lambda state: self.hasty(rng, game, state))

    def read(self, text: str, legal: tuple[str, ...]) -> str | None:
        """Return the legal move that a text spells, or None."""
        return read_move(text, legal)

    def drawn_verdict(self) -> Verdict:
        """Return what a draw earns."""
        return Verdict.wrong("drawn", outcome=0.0)

    def hasty(self, rng: Rng, game: Game[Any], state: Any) -> str:
        """Return the move of a hurried player, by default a random one.

        It sees no more than the seat does.
        """
        return pick(rng, game.actions(state))


def _chosen(name: str, policy: Policy, game: Game[State], state: State, rng: Rng) -> str:
    legal = game.actions(state)
    move = policy(game.view(state, game.mover(state)), legal, rng)
    if move not in legal:
        raise ConfigError(f"the policy {name!r} chose {move!r:.80}; legal are {', '.join(legal)}")
    return move


class GameSession:
    """One game."""

    def __init__(self, task: GameTask[Any, Any], problem: GameProblem) -> None:
        self._task = task
        self._problem = problem
        self._game = task.game(problem)
        self._rng = stream("game", problem.seed)
        self._opponent: Mover | None = None
        self._illegal = 0
        self._regret: float | Fraction = 0
        self.state = task.state(problem)

    def reply(self, action: str) -> Reply:
        """Make the move of a message, then those of chance and of the opponent."""
        move, void = self._task.moved(self._problem, self.state, action)
        if move is None:
            return self._refused(void)
        if self._task.config.judge == "value":
            values = self._task.move_values(self._problem, self.state)
            self._regret += max(values.values()) - values[move]
        told = [f"You: {move}.", *self._go_on(move)]
        if self._game.mover(self.state) == OVER:
            return Reply(" ".join(told), self._verdict())
        view = self._game.view(self.state, self._problem.seat)
        return Reply(f"{' '.join(told)}\n\n{view}\n\nIt is your move.")

    def _refused(self, void: bool) -> Reply:
        self._illegal += 1
        if self._illegal >= ILLEGAL_AT_MOST:
            reason = f"{ILLEGAL_AT_MOST} messages without a legal move"
            return Reply("", Verdict.wrong(reason), void=void, out_of_turns=True)
        view = self._game.view(self.state, self._problem.seat)
        return Reply(self._task.refusal(self._problem, view, void), void=void)

    def _go_on(self, move: str) -> list[str]:
        """Make a move and go on to the agent's next one; return what the agent sees of it."""
        game, told = self._game, list[str]()
        self.state = game.after(self.state, move)
        while (mover := game.mover(self.state)) not in (OVER, self._problem.seat):
            if mover == CHANCE:
                self.state = game.after(self.state, drawn(self._rng, game, self.state))
                continue
            if self._opponent is None:
                self._opponent = self._task.opponent(self._problem)
            answer = self._opponent(self.state, self._rng)
            told.append(f"Opponent: {answer}.")
            self.state = game.after(self.state, answer)
        return told

    def _verdict(self) -> Verdict:
        outcome = float(self._game.returns(self.state)[self._problem.seat])
        if self._task.config.judge == "value":
            regret = float(self._regret)
            if regret < _SAME:
                return Verdict.correct("every move was a best one", regret=0.0, outcome=outcome)
            return Verdict.wrong("a move lost value", regret=regret, outcome=outcome)
        if outcome > 0:
            return Verdict.correct("won", outcome=outcome)
        if outcome < 0:
            return Verdict.wrong("lost", outcome=outcome)
        return self._task.drawn_verdict()
