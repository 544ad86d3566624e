"""The best held-out evaluation, and the checkpoint that is kept for it."""

import pytest

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo.model import checkpoint  # noqa: E402  (needs torch)
from rlvr_envs.agents.grpo.tracking.best import Best  # noqa: E402


def test_an_equal_score_is_not_better():
    best = Best()
    for step, score in ((0, 0.25), (10, 0.5), (20, 0.5), (30, 0.4)):
        best.record(step, score)
    assert (best.score, best.step, best.since) == (0.5, 10, 2)
    assert [best.over(patience) for patience in (0, 1, 2, 3)] == [False, True, True, False]
    best.record(40, 0.6)
    assert (best.step, best.since) == (40, 0)
    assert Best(**best.state_dict()) == best


def test_what_has_no_score_says_nothing():
    best = Best()
    best.record(0, float("nan"))
    assert best == Best()
    best.record(10, 0.5)
    best.record(20, float("nan"))
    assert best.since == 0


def test_supervised_steps_make_nobody_impatient():
    best = Best()
    best.record(0, 0.5)
    best.record(10, 0.5, counts=False)
    assert best.since == 0
    best.record(20, 0.75, counts=False)
    assert (best.score, best.step) == (0.75, 20)


class Written:
    """Stands for a model and a tokenizer."""

    def save_pretrained(self, folder):
        (folder / "model").write_text("weights")


def saved(folder, step, **given):
    return checkpoint.save(folder, step, {"step": step}, Written(), Written(), **given)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_best_is_kept_besides_the_newest(tmp_path):
    for step in (10, 20, 30, 40):
        saved(tmp_path, step, keep=1, best=step == 20)
    assert names(tmp_path) == ["best", "step-00000020", "step-00000040"]
    assert checkpoint.best_of(tmp_path) == tmp_path / "step-00000020"
    assert checkpoint.load_state(tmp_path / "best") == {"step": 20}
    assert checkpoint.newest(tmp_path) == tmp_path / "step-00000040"
    saved(tmp_path, 50, keep=1, best=True)
    assert names(tmp_path) == ["best", "step-00000040", "step-00000050"]


def test_a_link_that_leads_nowhere_is_no_best(tmp_path):
    saved(tmp_path, 10, keep=1)
    assert checkpoint.best_of(tmp_path) is None
    (tmp_path / "best").symlink_to("step-00000007")
    assert checkpoint.best_of(tmp_path) is None
    (tmp_path / ".unfinished-best").symlink_to("step-00000007")  # as a kill leaves it
    saved(tmp_path, 20, keep=1, best=True)
    assert checkpoint.best_of(tmp_path) == tmp_path / "step-00000020"
    assert names(tmp_path) == ["best", "step-00000010", "step-00000020"]
