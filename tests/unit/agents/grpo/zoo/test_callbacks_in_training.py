"""Methods of the zoo that look at a run's groups, batches and steps, inside `train`."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from rlvr_envs.agents.grpo import plugins  # noqa: E402  (it needs torch)
from rlvr_envs.agents.grpo import train as loop  # noqa: E402
from rlvr_envs.agents.grpo.credit import Groups, credit  # noqa: E402
from rlvr_envs.agents.grpo.learner import recomputed  # noqa: E402
from rlvr_envs.agents.grpo.model.checkpoint import load_state  # noqa: E402
from rlvr_envs.agents.grpo.presets import preset  # noqa: E402
from rlvr_envs.agents.grpo.run import Callback  # noqa: E402
from rlvr_envs.agents.grpo.tracking.metrics import read  # noqa: E402
from rlvr_envs.core.errors import ConfigError  # noqa: E402

SMALL = {
    "tasks": ("Gcd-v0",),
    "wrappers": ("NoisyVerifier(rho0=0.4, rho1=0.3)",),  # rewards that differ
    "groups": 4,
    "group_size": 3,
    "max_tokens": 6,
    "context": 256,
    "steps": 1,
    "warmup": 0,
    "learning_rate": 1e-3,
    "minibatches": 1,
    "threads": 1,
    "device": "cpu",
}


@pytest.fixture
def seen(monkeypatch):
    """What a run learned from: its batches, the run, the inputs of its loss, and what to do."""
    plugins.load()
    monkeypatch.setattr(plugins.callback, "_plugins", dict(plugins.callback._plugins))
    found = {"batches": [], "run": None, "inputs": [], "also": lambda run, episodes: None}

    @plugins.callback(name="spy")
    class Spy(Callback):
        def on_batch(self, run, episodes):
            found["run"] = run
            found["batches"].append(list(episodes))
            found["also"](run, episodes)
            return episodes

    plain = loop.micro_loss

    def spied(config, inputs, tally):
        found["inputs"].append(inputs)
        return plain(config, inputs, tally)

    monkeypatch.setattr(loop, "micro_loss", spied)
    return found


def run(name, out, *more, **settings):
    """Train by a preset, with further callbacks, and return the metrics."""
    own = preset(name)
    callbacks = (*settings.pop("callbacks", own.algorithm.callbacks), *more)
    loop.train(
        preset(name, **{**SMALL, "callbacks": callbacks, "out": str(out), **settings}), quiet=True
    )
    return read(Path(out))


def weights(out, step):
    return (out / f"checkpoints/step-{step:08}/model.safetensors").read_bytes()


def test_only_mastered_tokens_of_right_answers_rest_in_ulorl(tmp_path, seen):
    peaked = {"warm_start": 15, "warm_start_batch": 16}
    rows = run("ulorl", tmp_path / "a", loss="ulorl(mastered=0.3, target=99.0)", **peaked)
    tokens = clipped = 0
    for inputs in seen["inputs"]:
        known = inputs.mask & (inputs.advantages > 0) & (inputs.old.exp() >= 0.3)
        clipped, tokens = clipped + int(known.sum()), tokens + int(inputs.mask.sum())
    assert clipped > 0
    # Answers without an advantage have no gradient to take away, and count among all tokens.
    assert rows[16]["clip_fraction"] == pytest.approx(clipped / rows[16]["tokens"])
    rows = run("ulorl", tmp_path / "b", loss="ulorl(mastered=0.3, target=0.0)", **peaked)
    assert rows[16]["clip_fraction"] == 0


def test_baselines_of_oblr_po_leave_no_gradient_of_a_groups_length(tmp_path, seen):
    run("oblr_po", tmp_path / "run", "spy", max_tokens=16, warm_start=15, warm_start_batch=16)
    (episodes,) = seen["batches"]
    worth = credit(Groups(episodes, seen["run"].config))[0][:, 0]
    assert worth.abs().sum() > 0
    lengths = [each.n_trained for each in episodes]
    assert len(set(lengths)) > 1
    for group in range(4):
        mine = [i for i, each in enumerate(episodes) if each.group == group]
        balance = sum(lengths[i] * float(worth[i]) for i in mine)
        assert balance == pytest.approx(0.0, abs=1e-5)


def test_rlpr_reads_no_reward(tmp_path, seen):
    found = []
    for noise in ("NoisyVerifier(rho0=0.4, rho1=0.3)", "NoisyVerifier(rho0=0.0, rho1=0.0)"):
        run("rlpr", tmp_path / noise[-5:], "spy", wrappers=(noise,), estimator="rlpr")
        episodes = seen["batches"].pop()
        found.append(credit(Groups(episodes, seen["run"].config))[0])
        assert all(len(each.beliefs) == 2 for each in episodes)
    torch.testing.assert_close(found[0], found[1])
    assert found[0].abs().sum() > 0


def test_outliers_of_a_batch_are_not_trained_on(tmp_path, seen):
    estimator = "within_deviations(most=1.0)"
    run("stable_reinforce", tmp_path / "run", "spy", estimator=estimator)
    (episodes,) = seen["batches"]
    rewards = torch.tensor([each.reward for each in episodes])
    rare = (rewards - rewards.mean()).abs() / rewards.std() > 1
    assert 0 < rare.sum() < len(episodes)
    used = sum(len(inputs.weights) for inputs in seen["inputs"])
    assert used == int((~rare).sum())


def test_turns_have_advantages_of_their_own_in_mapo(tmp_path, seen):
    run("mapo", tmp_path / "run", "spy", tasks=("GuessNumber-v0",), wrappers=(), context=512,
        estimator="mapo(discount=0.5)")  # fmt: skip
    (episodes,) = seen["batches"]
    worth = credit(Groups(episodes, seen["run"].config))[0]
    assert worth.shape[1] == max(len(each.actions) for each in episodes) > 1


def test_tokens_of_high_entropy_gain_more_in_mssr(tmp_path, seen):
    run("mssr", tmp_path / "run", groups=12, group_size=1)
    (inputs,) = [each for each in seen["inputs"] if (each.advantages != 0).any()][:1]
    assert inputs.entropy[inputs.mask].min() > 0
    again = replace(inputs, logp=inputs.logp.detach().requires_grad_())
    losses = preset("mssr").loss(again)
    (slope,) = torch.autograd.grad(losses[inputs.mask].sum(), again.logp)
    bonus = -slope - inputs.advantages
    wanted = torch.minimum(0.4 * inputs.entropy, inputs.advantages.abs() / 2)
    torch.testing.assert_close(bonus[inputs.mask], wanted.expand_as(bonus)[inputs.mask])


def test_the_reference_holds_right_answers_alone_in_apo(tmp_path, seen):
    """With a large weight, what pulls beside the reward is the distance of right answers."""
    rows = run("apo", tmp_path / "run", steps=3, minibatches=2, loss="apo(coef=100.0)")
    assert rows[3]["grad_norm"] > 0
    later = seen["inputs"][-1]
    assert later.reference is not None
    right = later.advantages[:, 0] > 0
    shifted = later.reference + 0.5
    plain, moved = (
        preset("apo", loss="apo(coef=100.0)").loss.plugin.make(
            later.ratio, later.logp, reference, later.advantages, later.mask, later.scales
        )
        for reference in (later.reference, shifted)
    )
    changed = ((plain - moved).abs() * later.mask).sum(1) > 0
    assert not changed[~right].any()
    assert changed[right & (later.scales[:, 0] > 0)].all()


@pytest.mark.parametrize(("anchor", "sign"), [(0.0, -1), (20.0, 1)])
def test_sirens_penalty_moves_entropy_towards_its_anchor(anchor, sign, tmp_path):
    rows = run(
        "siren", tmp_path / "run", steps=4, learning_rate=3e-3,
        loss=f"siren(coef=10.0, anchor={anchor}, share=1.0)",
    )  # fmt: skip
    found = [rows[step]["loss/top_entropy"] for step in rows]
    assert sign * (found[-1] - found[0]) > 0


def test_epo_knows_the_entropy_of_all_steps_before(tmp_path, seen):
    rows = run("epo", tmp_path / "whole", "spy", steps=3, save_every=1, keep=9)
    told = [batch[0].info["entropy_so_far"] for batch in seen["batches"]]
    entropies = [rows[step]["entropy/exact"] for step in (1, 2, 3)]
    assert math.isnan(told[0])
    assert told[1:] == pytest.approx([entropies[0], (entropies[0] + entropies[1]) / 2])
    run("epo", tmp_path / "cut", "spy", steps=3, stop_after=2)
    run("epo", tmp_path / "cut", "spy", steps=3, resume=True)
    assert weights(tmp_path / "whole", 3) == weights(tmp_path / "cut", 3)


def test_a_teacher_pulls_the_policy_to_itself(tmp_path, seen):
    """The teacher has learned by imitation; on its own samples the policy comes nearer to it."""
    teacher = loop.train(
        preset(
            **{**SMALL, "learning_rate": 1e-30},
            warm_start=12,
            warm_start_batch=16,
            out=str(tmp_path / "teacher"),
        ),
        quiet=True,
    )
    rows = run(
        "kdrl", tmp_path / "run", reference=str(teacher), steps=8, kl_coef=1.0, minibatches=2,
        learning_rate=3e-3,
    )  # fmt: skip
    found = [rows[step]["kl"] for step in rows]
    assert found[0] > 0.1
    assert sum(found[-2:]) < sum(found[:2])
    with pytest.raises(ConfigError, match="reference_every"):
        run("kdrl", tmp_path / "no", reference=str(teacher), reference_every=2)
    with pytest.raises(ConfigError, match="there is no model folder"):
        run("kdrl", tmp_path / "no", reference=str(tmp_path / "nowhere"))


def test_the_reference_follows_the_policy_in_t1(tmp_path, seen):
    before, after = [], []

    def look(run, episodes):
        reference = run.learner.reference._model.state_dict()
        before.append({name: each.clone() for name, each in reference.items()})
        after.append(run.learner.model.state_dict())

    seen["also"] = look
    settings = {"steps": 3, "save_every": 1, "keep": 9, "group_size": 3, "temperature": 1.0}
    more = ("spy", "moving_reference(rate=0.25)")
    run("t1", tmp_path / "whole", *more, callbacks=(), **settings)
    first, second = before[:2]
    # `after` of the second step is the model itself, as it was when the second step began.
    saved = load_state(tmp_path / "whole/checkpoints/step-00000001")["reference"]
    moved = [name for name in first if not torch.equal(first[name], second[name])]
    assert moved
    for name in moved:
        torch.testing.assert_close(second[name], saved[name])
    run("t1", tmp_path / "cut", *more, callbacks=(), stop_after=2, **settings)
    run("t1", tmp_path / "cut", *more, callbacks=(), resume=True, **settings)
    assert weights(tmp_path / "whole", 3) == weights(tmp_path / "cut", 3)


def test_a_reference_follows_by_a_share_of_the_way(tmp_path, seen):
    run("t1", tmp_path / "run", "spy", callbacks=())
    reference, model = seen["run"].learner.reference, seen["run"].learner.model
    before = {name: each.clone() for name, each in reference._model.state_dict().items()}
    reference.follow(model.state_dict(), 0.25)
    for name, now in model.state_dict().items():
        wanted = 0.75 * before[name] + 0.25 * now
        torch.testing.assert_close(reference._model.state_dict()[name], wanted)


def test_old_groups_come_again_whole_in_remix(tmp_path, seen):
    settings = {"steps": 4, "save_every": 1, "keep": 9, "epochs": 1}
    more = ("replay(share=0.5, keep=4, until=3)", "spy")
    rows = run("remix", tmp_path / "whole", *more, callbacks=(), **settings)
    sizes = [len({each.group for each in batch}) for batch in seen["batches"]]
    assert sizes == [4, 6, 6, 4]
    texts = [[tuple(each.texts) for each in batch] for batch in seen["batches"]]
    assert set(texts[1][12:]) <= set(texts[0])
    assert set(texts[2][12:]) <= set(texts[1][:12])  # four groups are kept: those of one step
    assert [rows[step]["replay/groups"] for step in rows] == [4, 4, 4, 0]
    # They have the probabilities that they were sampled with, which are not those of today.
    run_, again = seen["run"], seen["batches"][1][12:]
    now = recomputed(run_.learner, again, range(len(again)))
    told = [sum(part.logps) for each in again for part in each.actions]
    assert any(abs(told[i] - float(now[i].sum())) > 1e-3 for i in range(len(again)))
    run("remix", tmp_path / "cut", *more, callbacks=(), stop_after=2, **settings)
    run("remix", tmp_path / "cut", *more, callbacks=(), resume=True, **settings)
    assert weights(tmp_path / "whole", 4) == weights(tmp_path / "cut", 4)


def test_the_oracle_answers_in_each_group_of_rl_plus(tmp_path, seen):
    run("rl_plus", tmp_path / "run", "spy", max_tokens=64)
    (episodes,) = seen["batches"]
    groups = [[each for each in episodes if each.group == number] for number in range(4)]
    for group in groups:
        assert [each.demonstrated for each in group] == [False] * 3 + [True]
        assert group[-1].reward == 1.0
        assert math.isnan(group[-1].score)
    worth = credit(Groups(episodes, seen["run"].config))[0][:, 0]
    given = [i for i, each in enumerate(episodes) if each.demonstrated]
    assert (worth[given] >= 0).all()
    assert worth[given].max() > 0


def test_sasr_imitates_first_and_then_by_chance(tmp_path, seen):
    settings = {"steps": 12, "save_every": 1, "keep": 99, "learning_rate": 3e-3, "max_tokens": 32}
    more = ("sasr(first=3)", "spy")
    rows = run("sasr", tmp_path / "whole", *more, callbacks=(), **settings)
    supervised = ["imitation/loss" in rows[step] for step in rows]
    assert supervised[:3] == [True] * 3
    assert True in supervised[3:]
    assert False in supervised[3:]
    assert [not batch for batch in seen["batches"]] == supervised
    chances = [rows[step]["sasr/chance"] for step in rows]
    assert chances[:3] == [1.0] * 3
    lengths = [rows[step]["grad_norm"] for step in (1, 2, 3)]
    start = sum(lengths) / 3
    assert chances[3] == pytest.approx(lengths[2] / (lengths[2] + start))
    run("sasr", tmp_path / "cut", *more, callbacks=(), stop_after=5, **settings)
    run("sasr", tmp_path / "cut", *more, callbacks=(), resume=True, **settings)
    assert weights(tmp_path / "whole", 12) == weights(tmp_path / "cut", 12)


def test_layers_are_noisy_only_where_gradients_go(tmp_path, seen):
    changed = []

    def look(run, episodes):
        first, second = (recomputed(run.learner, episodes, range(3)) for _ in range(2))
        changed.append(any(not torch.equal(first[i], second[i]) for i in first))

    seen["also"] = look
    rows = run(
        "alp", tmp_path / "run", "layer_noise(scale=0.1)", "spy", callbacks=(), minibatches=2,
        learning_rate=1e-30,
    )  # fmt: skip
    assert changed == [False]
    # Nothing was learned, and yet ratios differ from 1: by the noise alone, where gradients go.
    pulled = sum(int(each.mask.sum()) for each in seen["inputs"])
    assert rows[1]["ratio/moved"] > 0.9 * pulled / rows[1]["tokens"] > 0.3
    rows = run("alp", tmp_path / "still", callbacks=(), minibatches=2, learning_rate=1e-30)
    assert rows[1]["ratio/moved"] == 0
    with pytest.raises(ConfigError, match="more than one update"):
        run("alp", tmp_path / "one")


@pytest.mark.parametrize(("compensation", "short"), [(0.0, True), (1.0, False)])
def test_rorecomp_learns_from_short_right_and_long_wrong_answers(
    compensation, short, tmp_path, seen
):
    more = (f"rorecomp(share=0.5, compensation={compensation}, decay=1000)", "spy")
    run(
        "rorecomp", tmp_path / "run", *more, callbacks=(), wrappers=(), max_tokens=16,
        warm_start=15, warm_start_batch=16, group_size=8,
    )  # fmt: skip
    (episodes,) = seen["batches"]
    split = 0
    for group in range(4):
        for right in (True, False):
            side = [e for e in episodes if e.group == group and (e.score >= 1) is right]
            first = [e.n_trained for e in side if e.left_out is not short]
            later = [e.n_trained for e in side if e.left_out is short]
            assert len(first) == round(0.5 * len(side))
            if first and later:
                split += 1
                assert max(first) <= min(later) if right else min(first) >= max(later)
    assert split


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rorecomp", "rorecomp(share=1.5)"),
        ("remix", "replay(share=0.0)"),
        ("sasr", "sasr(first=0)"),
        ("t1", "moving_reference(rate=0.0)"),
        ("alp", "layer_noise(scale=0.0)"),
    ],
)
def test_what_cannot_be_meant_is_refused(name, text, tmp_path):
    with pytest.raises(ConfigError, match=r"is above 0|is from 1|between 0"):
        run(name, tmp_path / "run", callbacks=(text,))
