"""Games for PettingZoo: every game task as an AEC environment, in which all seats are agents.

    from rlvr_envs.integrations.pettingzoo import make_aec

    env = make_aec("rlvr/ConnectFour-v0", difficulty=3)
    env.reset(seed=7)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        env.step(None if termination else info["legal_moves"][0])

An observation is ``{"text": ...}``, what the seat may see, since PettingZoo's `api_test` takes no
bare text. An action is a move as text, in any spelling that the task reads. Sampling from an action
space gives a legal move of the agent whose turn it is.
"""

from collections.abc import Callable
from typing import Any

from gymnasium.spaces import Dict, Space

from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.extras import hint
from rlvr_envs.core.games import CHANCE, OVER, Game, GameProblem, GameTask, drawn
from rlvr_envs.core.registry import find, task_ids
from rlvr_envs.core.seeding import SEED_LIMIT, Rng, integer, stream
from rlvr_envs.core.spaces import UnicodeText
from rlvr_envs.core.task import configure

try:
    from pettingzoo import AECEnv
except ImportError as error:
    raise DependencyError(f"PettingZoo is not installed: {hint('pettingzoo')}") from error


class Moves(UnicodeText):
    """Every text, since any may be sent; samples are moves that are legal at the moment."""

    def __init__(self, legal: Callable[[], tuple[str, ...]]) -> None:
        super().__init__()
        self._legal = legal

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Draw a legal move; any short text where there is none."""
        legal = self._legal()
        if not legal:
            return super().sample(mask, probability)
        return legal[int(self.np_random.integers(len(legal)))]


class GameEnv(AECEnv):
    """The game of a task, from the positions that its problems start at.

    An agent gets what its seat gets at the end: from -1 to 1 on boards, chips or points summed over
    the games of a match. A move that is not legal ends the game: who made it gets -1 and the other
    1.

    Args:
        task: the task.
        name: the name of the environment.
        render_mode: "ansi" for `render` to return the text, None for no rendering.
    """

    agent_selection: str
    _state: Any

    def __init__(self, task: GameTask[Any, Any], name: str, render_mode: str | None) -> None:
        super().__init__()
        if render_mode not in (None, "ansi"):
            raise ConfigError(f"render_mode is None or 'ansi', got {render_mode!r}")
        self.metadata = {"name": name, "render_modes": ["ansi"], "is_parallelizable": False}
        self.render_mode = render_mode
        self._name = name
        self._task = task
        self._rng: Rng = stream("pettingzoo", name)
        self._new_game(self._task.generate(stream("pettingzoo", name, "first")))
        self.possible_agents = [f"player_{seat}" for seat in range(self._game.n_seats)]
        self._observations = {
            agent: Dict({"text": UnicodeText()}) for agent in self.possible_agents
        }
        self._moves = {agent: Moves(self._legal) for agent in self.possible_agents}
        self.agents = list[str]()

    def observation_space(self, agent: str) -> Space[Any]:
        return self._observations[agent]

    def action_space(self, agent: str) -> Space[Any]:
        return self._moves[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game; the same seed gives the same position, chance and later games."""
        if seed is not None:
            self._rng = stream("pettingzoo", self._name, seed)
        rng = stream("problem", integer(self._rng, 0, SEED_LIMIT - 1))
        self._new_game(self._task.generate(rng))
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._go_on()

    def observe(self, agent: str) -> dict[str, str]:
        """Return what the seat of an agent may see, under ``"text"``."""
        return {"text": self._game.view(self._state, self.possible_agents.index(agent))}

    def step(self, action: str | None) -> None:
        """Make the move of the agent whose turn it is; None where its game is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        move = self._task.read(str(action), self._legal())
        if move is None:
            self.rewards = {each: -1.0 if each == agent else 1.0 for each in self.agents}
            self._end()
        else:
            self._state = self._game.after(self._state, move)
            self._go_on()
        self._accumulate_rewards()

    def render(self) -> str | None:
        """Return what the agent whose turn it is may see, in the mode "ansi"."""
        return self.observe(self.agent_selection)["text"] if self.render_mode else None

    def close(self) -> None:
        """Nothing is open."""

    def _new_game(self, problem: GameProblem) -> None:
        self._game: Game[Any] = self._task.game(problem)
        self._state = self._task.state(problem)

    def _legal(self) -> tuple[str, ...]:
        over = self._game.mover(self._state) in (OVER, CHANCE)
        return () if over else self._game.actions(self._state)

    def _go_on(self) -> None:
        """Let chance move; then say whose turn it is, or end the game."""
        while (mover := self._game.mover(self._state)) == CHANCE:
            outcome = drawn(self._rng, self._game, self._state)
            self._state = self._game.after(self._state, outcome)
        if mover == OVER:
            returns = self._game.returns(self._state)
            self.rewards = dict(zip(self.possible_agents, map(float, returns), strict=True))
            self._end()
            return
        self.agent_selection = self.possible_agents[mover]
        self.infos = {agent: {} for agent in self.agents}
        self.infos[self.agent_selection] = {"legal_moves": self._legal()}

    def _end(self) -> None:
        self.terminations = dict.fromkeys(self.agents, True)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]


def make_aec(
    task_id: str, *, difficulty: int | None = None, render_mode: str | None = None, **knobs: Any
) -> GameEnv:
    """Return the AEC environment of a game task, with knobs as in ``gym.make``.

    Raises:
        ConfigError: the task is no game, or a knob does not exist or is out of range.
    """
    task_type = find(task_id).task_type
    if not issubclass(task_type, GameTask):
        raise ConfigError(f"{task_id} is no game; games are {', '.join(game_ids())}")
    task = task_type(configure(task_type, difficulty, knobs))
    return GameEnv(task, task_id, render_mode)


def game_ids() -> list[str]:
    """Return the ids of all tasks that are games, sorted."""
    return [each for each in task_ids() if issubclass(find(each).task_type, GameTask)]
