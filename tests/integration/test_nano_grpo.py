"""The example that explains GRPO: its parts, and a run of a few steps."""

import argparse
import importlib.util
import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

PATH = Path(__file__).resolve().parents[2] / "examples" / "nano_grpo.py"


@pytest.fixture(scope="module")
def nano():
    spec = importlib.util.spec_from_file_location("nano_grpo", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.HELD_OUT, module.BATCH = 8, 8
    torch.set_num_threads(1)
    return module


@pytest.fixture(scope="module")
def tokenizer(nano):
    problems = nano.Problems("rlvr/Derivative-v0", 0)
    return nano.Tokenizer([text for _ in range(200) for text in problems.solved()])


@pytest.fixture
def model(nano, tokenizer):
    torch.manual_seed(0)
    return nano.make_model(tokenizer)


def test_text_is_what_its_tokens_say(nano, tokenizer):
    problems = nano.Problems("rlvr/Derivative-v0", 0)
    for text in problems.solved():
        assert tokenizer.decode([*tokenizer.encode(text), nano.END, 7]) == text


def test_held_out_problems_are_never_posed(nano):
    problems = nano.Problems("rlvr/Derivative-v0", 0)
    assert len(problems.held_out) == 8
    posed = {problems.pose()[1] for _ in range(500)}
    assert not posed & set(problems.held_out)
    assert len(posed) > 300


def test_the_oracles_answer_is_paid(nano):
    problems = nano.Problems("rlvr/Derivative-v0", 0)
    _, solution = problems.solved()
    assert problems.reward(problems.seed, solution) == 1.0
    assert problems.reward(problems.seed, "no") == 0.0


def test_padding_changes_no_logits(nano, model):
    short, long = [5, 6, 7], [8, 9, 10, 11, 5]
    prompts = nano.padded([short, long], left=True)
    answers = nano.padded([[5, 6], [7, 8, nano.END]], left=False)
    together = nano.logits(model, prompts, answers)
    alone = nano.logits(model, torch.tensor([short]), torch.tensor([[5, 6]]))
    torch.testing.assert_close(together[0, :2], alone[0], rtol=0, atol=1e-5)


def test_a_paid_token_becomes_likelier(nano, tokenizer, model, monkeypatch):
    """Half of the first tokens are paid for: with plain steps, their probability rises."""
    monkeypatch.setattr(nano, "MAX_TOKENS", 1)
    paid = set(tokenizer.pieces[3::2])
    problems = nano.Problems("rlvr/Derivative-v0", 0)
    monkeypatch.setattr(problems, "reward", lambda seed, text: float(text in paid))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    rewards = [nano.reinforce(model, optimizer, tokenizer, problems, 4) for _ in range(8)]
    assert sum(rewards[:2]) / 2 < 0.75
    assert sum(rewards[-2:]) / 2 > 0.9


def test_a_short_run_prints_its_curve(nano, capsys):
    nano.main(
        argparse.Namespace(task="rlvr/Gcd-v0", difficulty=0, imitate=10, steps=5, groups=1, seed=0)
    )
    told = capsys.readouterr().out
    assert re.findall(r"held-out score: sampled \d\.\d\d, likeliest answer \d\.\d\d", told)
    assert re.search(r"imitation +10  loss \d", told)
    assert re.search(r"GRPO +5  reward \d", told)
