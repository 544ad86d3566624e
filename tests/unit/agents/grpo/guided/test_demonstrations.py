"""HPT, ReLIFT and CHORD: demonstrations of the oracle among what was sampled."""

import json
from math import exp

import pytest
import torch

from rlvr_envs.agents.grpo.plugins import loss
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.source import open_source

WRONG = r"\boxed{90001}"
SEEDS = (3, 4, 5)
POSED = [open_source("WordProblem-v0", difficulty=1).draw(seed) for seed in SEEDS]
PROPOSALS = [{"task": "WordProblem-v0", "difficulty": 1, "problem_seed": seed} for seed in SEEDS]
SOLVED = POSED[0].solution()


def mixed(heard, place):
    """The first problem is solved every second time, the others never."""
    first = heard.strip().startswith(POSED[0].prompt().strip())
    return SOLVED if first and place % 2 else WRONG


def likelihood(learn, name, answer=mixed, proposals=PROPOSALS, **settings):
    """Train for some steps; return how likely each demonstration was at each step."""
    seen = learn(answer, proposals, name, groups=len(proposals), **settings)
    found = []
    for inputs in seen.inputs:
        rows = inputs.demonstrated.nonzero()[:, 0]
        found += (inputs.logp.detach() * inputs.mask).sum(1)[rows].tolist()
    return seen, found


def test_hpt_replaces_groups_that_failed_by_a_demonstration(learn):
    seen, likely = likelihood(learn, "hpt", steps=4)
    for episodes in seen.batches:
        given = [e for e in episodes if e.demonstrated]
        assert [e.problem_seed for e in given] == [4, 5]
        assert [e.weight for e in given] == [4.0, 4.0]
        assert [e.left_out for e in episodes if not e.demonstrated] == [False] * 4 + [True] * 8
    # The worked solution, then the answer.
    (said,) = seen.batches[0][8].texts
    assert said == POSED[1].demonstration()
    assert said.startswith(POSED[1].task.explain(POSED[1].problem)[0])
    # Learned from: two demonstrations and the group that has something to compare.
    assert sum(len(inputs.mask) for inputs in seen.inputs) == 4 * (4 + 2)
    assert likely[-2] > likely[0] + 5
    assert likely[-1] > likely[1] + 5
    # What was played is what counts.
    assert seen.metrics[1]["score/mean"] == pytest.approx(2 / 12)


def test_the_gate_of_hpt(learn):
    seen, _ = likelihood(learn, "hpt", callbacks=("hpt(gate=0.5, weight=0.5)",))
    assert [e.problem_seed for e in seen.batches[0] if e.demonstrated] == list(SEEDS)
    assert {e.weight for e in seen.batches[0] if e.demonstrated} == {2.0}


def test_without_demonstrations_nothing_is_learned_of_what_failed(learn):
    seen, likely = likelihood(learn, "hpt", callbacks=(), proposals=PROPOSALS[1:], steps=2)
    assert likely == []
    assert seen.inputs == []


def test_demonstrations_make_a_group_worth_keeping(learn):
    seen = learn(mixed, PROPOSALS[1:], "hpt", groups=2, dynamic_sampling=True, max_rounds=3)
    assert seen.metrics[1]["groups/drawn"] == 2


def test_a_demonstration_that_does_not_fit_is_none(learn, tmp_path):
    (given,) = [e for e in learn(mixed, PROPOSALS[1:2], "hpt").batches[0] if e.demonstrated]
    for context, count in ((given.n_tokens, 1), (given.n_tokens - 1, 0)):
        out = str(tmp_path / str(context))
        seen = learn(mixed, PROPOSALS[1:2], "hpt", context=context, out=out)
        assert sum(e.demonstrated for e in seen.batches[0]) == count


def test_a_demonstration_is_no_success_of_the_agent(learn):
    chosen = {"wrappers": ("HintOnFailure(patience=4)",), "steps": 3}
    seen = learn(lambda heard, place: WRONG, PROPOSALS[1:2], "hpt", **chosen)
    levels = [{e.info.get("hint_level") for e in batch[:4]} for batch in seen.batches]
    assert levels == [{None}, {1.0}, {2.0}]
    openings = {e.segments[0] for batch in seen.batches for e in batch if e.demonstrated}
    assert openings == {seen.batches[0][0].segments[0]}  # of the prompt without a hint


def test_a_demonstration_has_no_correction_and_no_mismatch(learn):
    seen, _ = likelihood(learn, "hpt", epochs=2, correction="truncate(most=2.0)")
    assert any(bool(inputs.demonstrated.any()) for inputs in seen.inputs)
    assert seen.metrics[1]["mismatch/max"] < 1e-4


def test_relift_takes_a_supervised_step_once_there_are_enough(learn):
    seen, likely = likelihood(learn, "relift", steps=3, callbacks=("relift(size=3)",))
    assert likely == []  # they are no part of RL's batches
    # Two hard problems a step; three make a supervised step, and the rest stays.
    collected = [seen.metrics[step]["relift/collected"] for step in (1, 2, 3)]
    assert collected == [2.0, 4.0, 3.0]
    assert ["relift/loss" in seen.metrics[step] for step in (1, 2, 3)] == [False, True, True]
    assert seen.metrics[3]["relift/loss"] < seen.metrics[2]["relift/loss"]


def test_relift_goes_on_with_what_it_collected(learn, tmp_path):
    settings = {"callbacks": ("relift(size=5)",), "save_every": 1, "steps": 3}
    learn(mixed, PROPOSALS, "relift", groups=3, stop_after=2, **settings)
    seen = learn(mixed, PROPOSALS, "relift", groups=3, resume=True, **settings)
    assert [seen.metrics[step]["relift/collected"] for step in (1, 2, 3)] == [2.0, 4.0, 6.0]
    assert "relift/loss" in seen.metrics[3]
    rows = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(row)["step"] for row in rows] == [1, 2, 3]


def test_chord_weighs_demonstrations_by_mu(learn):
    chosen = ("chord(high=0.9, low=0.1, decay=2)",)
    seen, _ = likelihood(learn, "chord_mu", steps=4, callbacks=chosen)
    for step, mu in enumerate((0.9, 0.5, 0.1, 0.1)):
        assert seen.metrics[step + 1]["chord/mu"] == pytest.approx(mu)
        inputs = [each for each in seen.inputs if each.step == step]
        assert len(inputs) == 1
        share = inputs[0].weights * inputs[0].mask.sum(1)
        given = float(share[inputs[0].demonstrated].sum())
        assert given == pytest.approx(mu, rel=1e-4)
    assert [e.problem_seed for e in seen.batches[0] if e.demonstrated] == list(SEEDS)


def test_the_loss_of_chord():
    logp = torch.tensor([[-0.5, -2.0], [-0.5, -2.0]], requires_grad=True)
    known = {
        "logp": logp,
        "ratio": torch.exp(logp - logp.detach()),
        "mask": torch.tensor([[True, True], [True, True]]),
        "advantages": torch.tensor([[2.0], [0.0]]),
        "demonstrated": torch.tensor([False, True]),
    }
    loss.choose("chord(phi=True)")(known).sum().backward()
    weights = [exp(p) * (1 - exp(p)) for p in (-0.5, -2.0)]
    assert logp.grad.flatten().tolist() == pytest.approx([-2.0, -2.0, *(-w for w in weights)])
    logp.grad = None
    known["ratio"] = torch.exp(logp - logp.detach())
    loss.choose("chord(phi=False)")(known).sum().backward()
    assert logp.grad.flatten().tolist() == pytest.approx([-2.0, -2.0, -1.0, -1.0])


def test_settings_of_chord_out_of_range(learn):
    with pytest.raises(ConfigError, match="low <= high"):
        learn(mixed, PROPOSALS, "chord_mu", callbacks=("chord(high=0.1, low=0.2)",))
