"""Plays groups of episodes: the environments of all groups and one sampler, turn by turn.

Where one model plays both seats of a game, each seat is a player with an episode of its own, and
one of the two waits for the other. An episode's tokens are only ever added to. What fails in an
environment or on the way to a sampler makes an episode that was not scored, never a crash; what the
user has to mend is raised.
"""

import copy
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import gymnasium

from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.agents.grpo.demonstration import pose, text_env
from rlvr_envs.agents.grpo.episode import Episode, Group, Segment
from rlvr_envs.agents.grpo.parts import MakeEnv
from rlvr_envs.agents.grpo.sampling.sampler import Completion, Request, Sampler
from rlvr_envs.core.errors import ConfigError, DependencyError, RegistrationError, RlvrEnvsError
from rlvr_envs.core.seeding import draw_seed, stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.curricula.base import Proposal
from rlvr_envs.wrappers.horizon import TurnLimit

Key = tuple[str | None, int | None, int]  # task, difficulty, and how manieth of them
Step = tuple[str, float, bool, bool, dict[str, Any]]
T = TypeVar("T")

CONTEXT = "context"  # the status of an episode that did not fit

# What the user has to mend, as opposed to what may go well the next time.
_MENDABLE = (ConfigError, DependencyError, RegistrationError, gymnasium.error.Error)


class Rollout:
    """Plays episodes with environments that it makes once and resets after that.

    Args:
        make_env: returns an environment of a task and a difficulty, both as the proposal has them:
            None is the maker's own default.
        sampler: what writes the actions.
        chat: what frames texts as tokens.
        max_tokens: the most tokens of an action, unless the proposal says otherwise.
        context: the most tokens of an episode.
        temperature: of sampling.
        threads: how many environments run at a time.
        keeps_targets: whether episodes hold the oracle's response.
    """

    def __init__(  # noqa: PLR0913 - every argument is a part or a number of the run
        self,
        make_env: MakeEnv,
        sampler: Sampler,
        chat: Chat,
        *,
        max_tokens: int,
        context: int,
        temperature: float,
        threads: int = 8,
        keeps_targets: bool = False,
    ) -> None:
        for name, value in (("max_tokens", max_tokens), ("context", context), ("threads", threads)):
            if value < 1:
                raise ConfigError(f"{name} is an integer from 1, got {value!r}")
        self._make_env, self._sampler, self._chat = make_env, sampler, chat
        self._max_tokens, self._context = max_tokens, context
        self._temperature, self._threads = temperature, threads
        self._keeps_targets = keeps_targets
        self._envs: dict[Key, gymnasium.Env[str, str]] = {}

    def play(
        self,
        proposals: Sequence[Proposal],
        group_size: int,
        *,
        seed: int,
    ) -> list[Group]:
        """Return a group of episodes for each proposal, numbered in their order.

        Args:
            proposals: what to pose: a problem's seed, row or index; a `samples` of its own
                overrides `group_size`.
            group_size: the episodes of a group.
            seed: of the sampler's draws.

        Raises:
            ConfigError: a prompt does not fit into the context, or an argument of a task is wrong.
            DependencyError: a task or the sampler needs something that is missing here.
        """
        players = self._cast(proposals, group_size)
        with ThreadPoolExecutor(self._threads) as pool:
            prompts = list(pool.map(lambda player: _attempt(self._begin, player), players))
            openings: dict[str, tuple[int, ...]] = {}  # a group's prompt is tokenised once
            for player, prompt in zip(players, prompts, strict=True):
                if isinstance(prompt, Exception):
                    self._fault(player, prompt)
                else:
                    self._open(player, prompt, openings)
            players = [each for player in players for each in player.table]
            turn = 0
            while running := [each for each in players if not (each.over or each.waiting)]:
                completions = self._sample(running, draw_seed(stream("rollout", seed, turn)))
                acted = []
                for player, completion in zip(running, completions, strict=True):
                    if isinstance(completion, Exception):
                        _fail(player, completion)
                    else:
                        player.take(completion, self._chat)
                        acted.append(player)
                steps = pool.map(lambda player: _attempt(player.step), acted)
                for player, step in zip(acted, list(steps), strict=True):
                    self._after(player, step)
                turn += 1
        groups = [Group(proposal, []) for proposal in proposals]
        for player in players:
            if player.episode.segments or not player.waiting:  # else it never had a turn
                groups[player.episode.group].episodes.append(player.episode)
        return groups

    def close(self) -> None:
        """Close the environments."""
        while self._envs:
            self._envs.popitem()[1].close()

    def _cast(self, proposals: Sequence[Proposal], group_size: int) -> list["_Player"]:
        used: Counter[tuple[str | None, int | None]] = Counter()
        players = []
        for group, proposal in enumerate(proposals):
            kind = (proposal.task, proposal.difficulty)
            limit = proposal.response_tokens or self._max_tokens
            for _ in range(group_size if proposal.samples is None else proposal.samples):
                episode = Episode(
                    group=group,
                    task=proposal.task or "",
                    difficulty=proposal.difficulty,
                    problem_seed=proposal.problem_seed,
                    max_tokens=proposal.response_tokens,
                )
                players.append(_Player(episode, (*kind, used[kind]), proposal, limit))
                used[kind] += 1
        return players

    def _begin(self, player: "_Player") -> str:
        """Pose the player's problem and return the prompt; runs in a thread."""
        env = self._envs.get(player.key)
        if env is None:
            env = self._envs[player.key] = self._make_env(*player.key[:2])
        player.env = env
        proposal, episode = player.proposal, player.episode
        prompt, info = pose(env, proposal)
        if proposal.horizon is not None:
            TurnLimit(env.unwrapped, proposal.horizon).begin()
        episode.task = info.get("task", episode.task)
        episode.difficulty = info.get("difficulty", episode.difficulty)
        player.agent = int(info.get("agent", 0))
        if info.get("seats"):
            player.seat_the_other()
        if info.get("hint"):
            episode.bare_prompt = info["bare_prompt"]
            episode.hint_opening = info["hint_opening"]
            episode.info["hint_level"] = float(info["hint_level"])
        if self._keeps_targets:
            solution = text_env(env).instance.solution()
            said = solution if isinstance(solution, str) else solution[-1]
            episode.target = self._chat.action(said)
        return prompt

    def _open(self, player: "_Player", prompt: str, openings: dict[str, tuple[int, ...]]) -> None:
        if prompt not in openings:
            openings[prompt] = self._chat.opening(prompt)
        tokens = openings[prompt]
        if len(tokens) >= self._context:
            raise ConfigError(
                f"a prompt of {player.episode.task} has {len(tokens)} tokens, which leaves no "
                f"room in a context of {self._context}: raise `context` or lower the difficulty"
            )
        player.observe(tokens, prompt)

    def _sample(
        self, running: Sequence["_Player"], seed: int
    ) -> Sequence[Completion | RlvrEnvsError | OSError]:
        requests = [
            Request(tuple(p.tokens), min(p.max_tokens, self._context - len(p.tokens)))
            for p in running
        ]
        try:
            return self._sampler.generate(requests, temperature=self._temperature, seed=seed)
        except _MENDABLE:
            raise
        except (RlvrEnvsError, OSError) as error:  # a server away; a bug or full memory is raised
            return [error] * len(running)

    def _after(self, player: "_Player", step: Step | Exception) -> None:
        """Book what the environment answered, and let the model go on if it may."""
        if isinstance(step, Exception):
            self._fault(player, step)
            return
        text, reward, terminated, truncated, info = step
        player.episode.turn_rewards.append(float(reward))
        if info.get("void_turn"):
            player.episode.info["void_turn"] = 1.0
        if terminated or truncated:
            for each in player.table:
                each.end(info, truncated)
            return
        player = player.hand_over(int(info.get("agent", 0)))
        if not player.tokens:
            self._open(player, text, {})
            return
        tokens = self._chat.observation(text, finished=player.has_end)
        if len(player.tokens) + len(tokens) < self._context:
            player.observe(tokens, text)
        else:
            player.overflow()

    def _fault(self, player: "_Player", error: Exception) -> None:
        """Leave out an episode whose environment broke, and the environment as well."""
        env = self._envs.pop(player.key, None)
        if env is not None:
            with suppress(Exception):
                env.close()
        _fail(player, error)


def _fail(player: "_Player", error: Exception) -> None:
    for each in player.table:
        each.fail(error)


@dataclass(slots=True)
class _Player:
    """A running episode; of a game whose seats are both played, that of one seat."""

    episode: Episode
    key: Key
    proposal: Proposal
    max_tokens: int
    env: Any = None  # an environment of Gymnasium, once there is one
    agent: int = 0  # who is to act next, where an environment says so; of two seats, which it is
    other: "_Player | None" = None  # who has the other seat
    waiting: bool = False  # for the other seat
    tokens: list[int] = field(default_factory=list)  # of all segments
    finished: bool = False  # of the last action
    has_end: bool = False  # whether the last action has its end token
    over: bool = False

    @property
    def table(self) -> list["_Player"]:
        """It, and who has the other seat if anybody has."""
        return [self] if self.other is None else [self, self.other]

    def seat_the_other(self) -> None:
        """Let another player have the other seat of the game that is about to begin."""
        episode = copy.deepcopy(self.episode)
        self.other = replace(self, episode=episode, agent=1 - self.agent, tokens=[], waiting=True)
        self.other.other = self
        for each in self.table:
            each.episode.seat = each.agent
            each.episode.info["seat"] = float(each.agent)

    def hand_over(self, agent: int) -> "_Player":
        """Return whose turn it is; of two seats, the other one waits from now on."""
        if self.other is None:
            self.agent = agent
            return self
        turn = self if agent == self.agent else self.other
        for each in self.table:
            each.waiting = each is not turn
        return turn

    def observe(self, tokens: tuple[int, ...], text: str) -> None:
        self.tokens += tokens
        self.episode.heard.append(text)
        self.episode.segments.append(Segment(tokens))

    def take(self, completion: Completion, chat: Chat) -> None:
        """Add an action."""
        tokens = completion.tokens
        self.tokens += tokens
        self.episode.segments.append(Segment(tokens, completion.logps, completion.versions))
        self.episode.texts.append(chat.text(tokens))
        self.episode.agents.append(self.agent)
        self.finished = completion.finished
        self.has_end = bool(tokens) and tokens[-1] in chat.end_tokens

    def step(self) -> Step:
        """Give the environment the last action; runs in a thread."""
        step: Step = self.env.step(self.episode.texts[-1])
        return step

    def end(self, info: dict[str, Any], truncated: bool) -> None:
        """Take down the verdict, and what a wrapper says of the reward."""
        episode, verdict = self.episode, info["verdict"]
        over_turn = info.get("out_of_turns", False)
        if self.other is not None:
            verdict = info["verdicts"][self.agent]
            if self.waiting:  # the reward of the step was the other's
                over_turn = truncated
                if episode.turn_rewards:
                    episode.turn_rewards[-1] += float(verdict.score)
        if info["scored"]:
            episode.reward, episode.score = sum(episode.turn_rewards), float(verdict.score)
        episode.finished, episode.status = self.finished, str(verdict.status)
        episode.texts.append(f"[{verdict.status}: {verdict.score:g}] {verdict.detail}".strip())
        shares = info.get("reward_parts", {})
        episode.info |= {**verdict.parts, **{f"reward/{name}": shares[name] for name in shares}}
        attempts = info.get("attempt_scores", ())
        episode.info |= {f"attempt/{k}": float(score) for k, score in enumerate(attempts)}
        episode.info["over_turn"] = float(over_turn)
        self.over = True

    def overflow(self) -> None:
        """End an episode that does not fit: no answer, so no credit beyond what was paid."""
        self.episode.reward, self.episode.score = sum(self.episode.turn_rewards), 0.0
        self.episode.status = CONTEXT
        self.episode.texts.append("[context: 0] the context is full")
        self.over = True
        if self.other is not None:  # nobody knows how the game would have ended for it
            self.other.episode.status = CONTEXT
            self.other.episode.texts.append(f"[{CONTEXT}] the other seat's context is full")
            self.other.over = True

    def fail(self, error: Exception) -> None:
        """End an episode of which nothing can be said."""
        self.episode.status = str(Status.VERIFIER_ERROR)
        self.episode.texts.append(f"[{self.episode.status}] {type(error).__name__}: {error}")
        self.over = True


def _attempt(function: Callable[..., T], *arguments: Any) -> T | Exception:
    """Return the result, or the exception of a broken environment."""
    try:
        return function(*arguments)
    except _MENDABLE:
        raise
    except Exception as error:  # noqa: BLE001 - one broken environment must not end the training
        return error
