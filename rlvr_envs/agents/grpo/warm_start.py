"""The supervised steps before reinforcement learning: the oracle's episodes."""

from rlvr_envs.agents.grpo.demonstration import demonstrate
from rlvr_envs.agents.grpo.episode import Episode
from rlvr_envs.agents.grpo.run import Run
from rlvr_envs.agents.grpo.sources import fresh
from rlvr_envs.core.seeding import stream
from rlvr_envs.curricula.base import Proposal


def demonstrations(run: Run, step: int) -> list[Episode]:
    """Return the oracle's episodes for a supervised step."""
    chosen = run.config.optimiser
    found = []
    for place in range(chosen.warm_start_batch):
        task, level = cell = run.cells[place % len(run.cells)]
        if cell not in run.envs:
            run.envs[cell] = run.make_env(task, level)
        rng = stream("demonstrations", run.config.seed, step, place)
        kind = Proposal(task=task, difficulty=level)
        problem, another = (fresh(run.problems, kind, rng) for _ in range(2))
        mistaken = another if rng.random() < chosen.warm_start_noise else None
        env, worked = run.envs[cell], chosen.warm_start_worked
        found.append(
            demonstrate(env, run.chat, problem, mistaken=mistaken, group=place, worked=worked)
        )
    return found
