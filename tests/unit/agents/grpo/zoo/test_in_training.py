"""Methods of the zoo inside `train`: each does what defines it, on a tiny model."""

import json
import math
from itertools import pairwise

import gymnasium
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from rlvr_envs.agents.grpo import plugins  # noqa: E402  (it needs torch)
from rlvr_envs.agents.grpo import train as loop  # noqa: E402
from rlvr_envs.agents.grpo.credit import Groups, credit  # noqa: E402
from rlvr_envs.agents.grpo.learner import recomputed  # noqa: E402
from rlvr_envs.agents.grpo.model import policy  # noqa: E402
from rlvr_envs.agents.grpo.parts import EnvMaker  # noqa: E402
from rlvr_envs.agents.grpo.presets import preset, recipes  # noqa: E402
from rlvr_envs.agents.grpo.run import Callback  # noqa: E402
from rlvr_envs.agents.grpo.tracking.metrics import read  # noqa: E402
from rlvr_envs.agents.grpo.zoo.limr import LEARNING_IMPACT  # noqa: E402

SMALL = {
    "tasks": ("Gcd-v0",),
    "wrappers": ("NoisyVerifier(rho0=0.4, rho1=0.3)",),  # rewards that differ
    "groups": 4,
    "group_size": 3,
    "max_tokens": 6,
    "overlong_buffer": 4,
    "context": 256,
    "steps": 1,
    "warmup": 0,
    "learning_rate": 1e-3,
    "max_rounds": 1,
    "threads": 1,
    "device": "cpu",
}


@pytest.fixture
def spy(monkeypatch):
    """A callback that keeps the run and each step's episodes, and may be told what else to do."""
    monkeypatch.setattr(plugins.callback, "_plugins", dict(plugins.callback._plugins))
    seen = {"batches": [], "run": None, "also": lambda run, episodes: None}

    @plugins.callback(name="spy")
    class Spy(Callback):
        def on_batch(self, run, episodes):
            seen["run"] = run
            seen["batches"].append(episodes)
            seen["also"](run, episodes)
            return episodes

    return seen


def small(name, tmp_path, **settings):
    own = preset(name).data.wrappers
    around = {"wrappers": (*own, *SMALL["wrappers"])}
    config = preset(name, **{**SMALL, **around, "out": str(tmp_path / "run"), **settings})
    most = config.sampling.groups
    return config.replace(minibatches=min(config.optimiser.minibatches, most))


# Those with wrappers are trained by the wrappers' own tests: they want tasks of their kind. Masks of
# turns leave out all that an untrained model says here; `guided/test_turn_masks` trains with them.
# SASR begins with supervised steps, in `test_callbacks_in_training`; self-play takes games.
ELSEWHERE = {"wrappers", "leave_out", "self_play"}
PLAIN = [
    each.name for each in recipes() if not ELSEWHERE & each.settings.keys() and each.name != "sasr"
]


@pytest.mark.parametrize("name", PLAIN)
def test_every_preset_moves_the_weights(name, tmp_path):
    config = small(name, tmp_path)
    loop.train(config, quiet=True)
    row = read(tmp_path / "run")[1]
    assert row["grad_norm"] > 0
    assert row["updates/skipped"] < config.updates
    if config.updates > 1:
        assert row["ratio/moved"] > 0


def test_beliefs_are_what_the_policy_gives_the_solution(tmp_path, spy):
    wanted = []

    def believe(run, episodes):
        """Each prefix by itself, with the solution after it: the mean of its log-probabilities."""
        for episode in episodes:
            values = []
            for place, segment in enumerate([*episode.segments, None]):
                if segment is None or segment.logps is not None:
                    before = [t for part in episode.segments[:place] for t in part.tokens]
                    ids = torch.tensor([[*before, *episode.target]])
                    with torch.no_grad():
                        logps, _ = policy.token_logps(run.learner.model, ids, torch.ones_like(ids))
                    values.append(logps[0, len(before) :].mean().item())
            wanted.append(values)

    spy["also"] = believe
    config = small(
        "a2tgpo", tmp_path, tasks=("GuessNumber-v0",), callbacks=("spy",), wrappers=(), context=512
    )
    loop.train(config, quiet=True)
    (episodes,) = spy["batches"]
    assert max(len(episode.actions) for episode in episodes) > 1
    for episode, values in zip(episodes, wanted, strict=True):
        assert episode.beliefs == pytest.approx(values, abs=1e-4)
    with torch.no_grad():
        found = credit(Groups(episodes, config))
    assert found[2].min() < 1 < found[2].max()


class TwoAgents(gymnasium.Wrapper):
    """Says that two agents act by turns."""

    def reset(self, **kwargs):
        observation, info = self.env.reset(**kwargs)
        self.turn = 0
        return observation, info | {"agent": 0}

    def step(self, action):
        *rest, info = self.env.step(action)
        self.turn += 1
        return *rest, info | {"agent": self.turn % 2}


def test_agents_are_those_that_the_environment_names(tmp_path, spy):
    config = small(
        "dr_mas", tmp_path, tasks=("GuessNumber-v0",), callbacks=("spy",), wrappers=(), context=512
    )
    maker = EnvMaker(config.data.tasks, (), {})
    loop.train(config, make_env=lambda *cell: TwoAgents(maker(*cell)), quiet=True)
    (episodes,) = spy["batches"]
    for episode in episodes:
        assert episode.agents == [turn % 2 for turn in range(len(episode.actions))]
    table = Groups(episodes, config).agents
    assert set(table.unique().tolist()) >= {0, 1}


@pytest.mark.parametrize("name", ["pacs", "drpo"])
def test_groups_learn_together_by_the_weights_as_they_are(name, tmp_path, spy, monkeypatch):
    parts, found = [], []
    plain = loop.move

    def move(learner, episodes, part, worth, old, tally, step):
        now = recomputed(learner, episodes, range(len(episodes)))
        shifts = {i: (now[i] - old[i]).sum() for i in old}
        wanted = credit(Groups(episodes, learner.config, shifts))[0]
        parts.append(part)
        found.append((worth[0][part], wanted[part]))
        return plain(learner, episodes, part, worth, old, tally, step)

    monkeypatch.setattr(loop, "move", move)
    config = small(name, tmp_path, callbacks=("spy",), minibatches=2, epochs=2, learning_rate=1e-2)
    loop.train(config, quiet=True)
    (episodes,) = spy["batches"]
    assert len(parts) == 4
    for part in parts:
        groups = [episodes[i].group for i in part]
        assert all(groups.count(group) == 3 for group in set(groups))
    for used, wanted in found:
        torch.testing.assert_close(used, wanted, rtol=1e-3, atol=1e-4)
    moved = [
        not torch.allclose(used, credit(Groups(episodes, config))[0][part], rtol=1e-3, atol=1e-4)
        for (used, _), part in zip(found, parts, strict=True)
    ]
    assert moved[0] is False
    assert any(moved[1:])


def test_turns_of_an_episode_have_advantages_of_their_own_in_igpo(tmp_path, spy):
    config = small(
        "igpo", tmp_path, tasks=("GuessNumber-v0",), callbacks=("spy",), wrappers=(), context=512
    )
    loop.train(config, quiet=True)
    (episodes,) = spy["batches"]
    advantages = credit(Groups(episodes, config))[0]
    several = [i for i, each in enumerate(episodes) if len(each.actions) > 1]
    assert several
    assert all(advantages[i, 0] != advantages[i, 1] for i in several)
    assert any(after != before for e in episodes for before, after in pairwise(e.beliefs))


def test_only_the_best_group_pays_for_length_in_grpo_lambda(tmp_path, spy):
    # After some imitation answers end by themselves, at different lengths.
    config = small(
        "grpo_lambda", tmp_path, callbacks=("spy",), groups=5, group_size=8,
        max_tokens=16, warm_start=15, warm_start_batch=16,
    )  # fmt: skip
    loop.train(config, quiet=True)
    (episodes,) = spy["batches"]
    advantages = credit(Groups(episodes, config))[0][:, 0].tolist()
    right = {group: [] for group in range(5)}
    for episode, advantage in zip(episodes, advantages, strict=True):
        if episode.reward == 1:
            right[episode.group].append((episode.n_trained, advantage))
    best = max(right, key=lambda group: len(right[group]))
    assert len({length for length, _ in right[best]}) > 1
    by_length = sorted(set(right[best]))
    assert all(a[1] > b[1] for a, b in pairwise(by_length))
    for group, found in right.items():
        assert group == best or len({advantage for _, advantage in found}) <= 1


def test_groups_without_a_signal_count_nowhere_in_scalerl(tmp_path, spy):
    config = small(
        "scalerl", tmp_path, callbacks=("spy",), groups=12, group_size=2, minibatches=2,
        overlong="count",
    )  # fmt: skip
    loop.train(config, quiet=True)
    (episodes,) = spy["batches"]
    rewards = {}
    for episode in episodes:
        rewards.setdefault(episode.group, set()).add(episode.reward)
    counted = sum(e.n_trained for e in episodes if len(rewards[e.group]) > 1)
    assert 0 < counted < sum(episode.n_trained for episode in episodes)
    assert read(tmp_path / "run")[1]["tokens"] == counted


def test_rapos_penalty_grows_as_the_policy_leaves_its_reference(tmp_path):
    loop.train(small("rapo", tmp_path, steps=3, loss="rapo(least=1.0)"), quiet=True)
    found = [row["loss/forward_kl"] for row in read(tmp_path / "run").values()]
    assert 0 <= found[0] < found[-1]


def replayed(tmp_path, spy, coef, out, **settings):
    """Train by DPH-RL, and return the stored answers with their log-probabilities at the end."""
    spy["batches"].clear()
    config = small(
        "dph_rl",
        tmp_path,
        tasks=("Derivative-v0",),
        wrappers=(),
        estimator="reinforce",
        loss=f"dph_rl(coef={coef})",
        callbacks=("initial_solutions(problems=24, replay=4)", "spy"),
        group_size=1,
        groups=8,
        max_tokens=16,
        warm_start=60,
        warm_start_batch=32,
        warmup=2,
        steps=4,
        save_every=1,
        keep=99,
        minibatches=2,
        out=str(tmp_path / out),
        **settings,
    )
    loop.train(config, quiet=True)
    return config


def test_dph_rl_stores_what_the_initial_policy_solved_and_holds_on_to_it(tmp_path, spy):
    log = []

    def check(run, episodes):
        stored = [each for each in episodes if each.demonstrated]
        drawn = [each for each in episodes if not each.demonstrated]
        assert len(drawn) == 8
        assert 0 < len(stored) <= 4
        assert all(each.score == 1 for each in stored)
        assert {each.group for each in stored}.isdisjoint(each.group for each in drawn)
        now = recomputed(run.learner, stored, range(len(stored)))
        told = [sum(part.logps) for each in stored for part in each.actions]
        log.append(sum(told) - sum(float(now[i].sum()) for i in range(len(stored))))

    spy["also"] = check
    replayed(tmp_path, spy, 0.0, "free")
    free = log.copy()
    log.clear()
    replayed(tmp_path, spy, 1.0, "held")
    # At first the stored log-probabilities are the policy's own; then they are held.
    assert free[0] == pytest.approx(0.0, abs=1e-3)
    assert log[0] == pytest.approx(0.0, abs=1e-3)
    assert sum(log[1:]) < sum(free[1:])
    rows = read(tmp_path / "held")
    assert rows[62]["initial_solutions"] >= 1
    assert math.isclose(rows[61]["score/mean"] * 8, round(rows[61]["score/mean"] * 8))  # of 8


def test_stored_answers_are_there_after_a_resume(tmp_path, spy):
    replayed(tmp_path, spy, 1.0, "whole")
    config = replayed(tmp_path, spy, 1.0, "cut", stop_after=62)
    assert not (tmp_path / "cut" / "checkpoints" / "step-00000064").exists()
    loop.train(config.replace(resume=True, stop_after=None), quiet=True)
    last = [
        (tmp_path / out / "checkpoints" / "step-00000064" / "model.safetensors").read_bytes()
        for out in ("whole", "cut")
    ]
    assert last[0] == last[1]


def test_learning_impact_is_written_for_problems_that_return(tmp_path, monkeypatch):
    from dataclasses import replace

    from rlvr_envs.agents.grpo.sources import Stream

    draw = Stream.draw

    def returning(self, proposals, step, attempt):
        return [
            replace(each, problem_seed=each.problem_seed % 5)
            for each in draw(self, proposals, step, attempt)
        ]

    monkeypatch.setattr(Stream, "draw", returning)
    loop.train(small("default", tmp_path, callbacks=("learning_impact",), steps=4), quiet=True)
    rows = json.loads((tmp_path / "run" / LEARNING_IMPACT).read_text("utf-8"))
    assert 2 <= len(rows) <= 5
    assert all(row[0] == "rlvr/Gcd-v0" and len(row[4]) >= 2 for row in rows)
