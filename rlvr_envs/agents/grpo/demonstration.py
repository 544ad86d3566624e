"""What the oracle answers, as episodes to imitate and as texts to make a tokenizer from."""

from collections.abc import Iterator
from typing import Any

import gymnasium

from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.agents.grpo.episode import Episode, Segment
from rlvr_envs.agents.grpo.parts import MakeEnv
from rlvr_envs.agents.grpo.problems import Problems
from rlvr_envs.agents.grpo.sources import fresh
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.curricula.base import Proposal


def demonstrate(
    env: gymnasium.Env[str, str],
    chat: Chat,
    problem: Proposal,
    *,
    mistaken: Proposal | None = None,
    group: int = 0,
    worked: bool = False,
) -> Episode:
    """Return the episode in which the oracle answers a problem, as tokens to imitate.

    Every action ends with the chat's end token, so that the model learns to stop. ``mistaken`` is
    another problem, whose solution is given instead; with ``worked`` the worked
    solution comes before the answer, where the task has one.
    """
    segments: list[Segment] = []
    said = ""
    for place, (heard, said) in enumerate(oracle_play(env, problem, mistaken, worked)):
        opening = chat.observation(heard, finished=True) if place else chat.opening(heard)
        action = chat.action(said)
        segments += [Segment(opening), Segment(action, (0.0,) * len(action))]
    instance = text_env(env).instance
    return Episode(
        group=group,
        task=instance.spec.id,
        difficulty=instance.difficulty,
        problem_seed=instance.problem_seed,
        segments=segments,
        texts=[said],
        finished=True,
        demonstrated=True,
    )


def oracle_play(
    env: gymnasium.Env[str, str],
    problem: Proposal,
    mistaken: Proposal | None = None,
    worked: bool = False,
) -> Iterator[tuple[str, str]]:
    """Yield what the environment says and what the oracle answers, until the episode ends."""
    solution = None
    if mistaken is not None:
        pose(env, mistaken)
        solution = _response(env, worked)
    heard, _ = pose(env, problem)
    solution = solution or _response(env, worked)
    actions = [solution] if isinstance(solution, str) else solution
    for said in actions[:-1]:
        yield heard, said
        heard, _, terminated, truncated, _ = env.step(said)
        if terminated or truncated:
            return
    yield heard, actions[-1]  # whose verdict nobody asks for


def pose(env: gymnasium.Env[str, str], problem: Proposal) -> tuple[str, dict[str, Any]]:
    """Reset an environment to a proposal's problem, and return its prompt and what it tells.

    It is seeded as well, so that what a wrapper draws is the same again.
    """
    options = {name: getattr(problem, name) for name in ("problem_seed", "index")}
    options |= {"problem": problem.row, "hint_level": problem.hint}
    seed = problem.problem_seed if problem.reset_seed is None else problem.reset_seed
    given = {name: value for name, value in options.items() if value is not None}
    return env.reset(seed=seed, options=given)


def _response(env: gymnasium.Env[str, str], worked: bool) -> str | list[str]:
    instance = text_env(env).instance
    return instance.demonstration() if worked else instance.solution()


def texts(make_env: MakeEnv, problems: Problems, *, worked: bool = False) -> list[str]:
    """Return prompts, observations and solutions of 64 problems of each task and level."""
    found: list[str] = []
    for task, level in problems.cells:
        env = make_env(task, level)
        for place in range(64):
            rng = stream("texts", task, level or 0, place)
            problem = fresh(problems, Proposal(task=task, difficulty=level), rng)
            for pair in oracle_play(env, problem, worked=worked):
                found += pair
        env.close()
    return found


def text_env(env: gymnasium.Env[str, str]) -> TextEnv:
    """Return the environment of this package within wrappers.

    Raises:
        ConfigError: it is another's.
    """
    inner = env.unwrapped
    if not isinstance(inner, TextEnv):
        raise ConfigError(f"the oracle answers environments of this package, not {inner!r:.80}")
    return inner
