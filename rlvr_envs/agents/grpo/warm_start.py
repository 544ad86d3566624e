"""What the oracle answers, as episodes to imitate and as texts to make a tokenizer from."""

from collections.abc import Iterator, Sequence
from typing import Any

import gymnasium

from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.agents.grpo.episode import Episode, Segment
from rlvr_envs.agents.grpo.parts import Cell, MakeEnv
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import draw_seed, stream


def demonstrate(
    env: gymnasium.Env[str, str],
    chat: Chat,
    problem: int | dict[str, Any],
    *,
    mistaken: int | None = None,
    group: int = 0,
    worked: bool = False,
) -> Episode:
    """Return the episode in which the oracle answers a problem, as tokens to imitate.

    The problem is a seed, or reset options that name one. Every action ends with the end token of
    the chat, so that the model learns to stop. ``mistaken`` is
    the seed of another problem, whose solution is given instead; with ``worked`` the worked
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
    problem: int | dict[str, Any],
    mistaken: int | None = None,
    worked: bool = False,
) -> Iterator[tuple[str, str]]:
    """Yield what the environment says and what the oracle answers, until the episode ends."""
    solution = None
    if mistaken is not None:
        env.reset(seed=mistaken, options={"problem_seed": mistaken})
        solution = _response(env, worked)
    options = problem if isinstance(problem, dict) else {"problem_seed": problem}
    heard, _ = env.reset(seed=options.get("problem_seed"), options=options)
    solution = solution or _response(env, worked)
    if isinstance(solution, str):  # not stepped: wrappers would count it as the agent's success
        yield heard, solution
        return
    for said in solution:
        yield heard, said
        heard, _, terminated, truncated, _ = env.step(said)
        if terminated or truncated:
            return


def _response(env: gymnasium.Env[str, str], worked: bool) -> str | list[str]:
    instance = text_env(env).instance
    return instance.demonstration() if worked else instance.solution()


def texts(make_env: MakeEnv, cells: Sequence[Cell], *, worked: bool = False) -> list[str]:
    """Return prompts, observations and solutions of 64 problems of each task and rung."""
    found: list[str] = []
    for task, rung in cells:
        env = make_env(task, rung)
        for place in range(64):
            rng = stream("texts", task, rung or 0, place)
            for pair in oracle_play(env, draw_seed(rng), worked=worked):
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
