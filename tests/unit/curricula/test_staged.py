"""StagedDomains: which stage runs when."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula import Fixed, Proposal, Stage, StagedDomains

MATH = Stage(tasks=("math",), steps=3, response_tokens=8000, difficulty=2)
LONGER = Stage(tasks=("math",), steps=2, response_tokens=16000, difficulty=2)
CODE = Stage(tasks=("code",), horizon=4)


def step(curriculum, *scores, n=1):
    for _ in range(n):
        curriculum.record("any", None, scores)
        curriculum.end_step()


def test_stages_by_the_clock():
    curriculum, seen = StagedDomains([MATH, LONGER, CODE]), []
    for _ in range(7):
        seen.append(curriculum.propose())
        step(curriculum, 1.0)
    short = Proposal(task="math", difficulty=2, response_tokens=8000)
    long = Proposal(task="math", difficulty=2, response_tokens=16000)
    code = Proposal(task="code", horizon=4)
    assert seen == [short] * 3 + [long] * 2 + [code] * 2


def test_stages_by_success():
    curriculum = StagedDomains([Stage(tasks=("a",), promote_at=0.75), CODE], window=2)
    step(curriculum, 1.0)
    assert curriculum.stage == 0  # the window is not full
    step(curriculum, 0.0)
    step(curriculum)  # nothing scored
    step(curriculum, 1.0, 0.0, 1.0, 1.0)  # 0 and 0.75
    assert curriculum.stage == 0
    step(curriculum, 1.0, 0.5)  # 0.75 and 0.75
    assert curriculum.stage == 1
    step(curriculum, 1.0, n=9)
    assert curriculum.stage == 1


def test_the_window_of_a_new_stage_begins_empty():
    easy = Stage(tasks=("a",), promote_at=0.75)
    curriculum = StagedDomains([easy, easy, CODE], window=2)
    step(curriculum, 1.0, n=3)
    assert curriculum.stage == 1
    step(curriculum, 1.0)
    assert curriculum.stage == 2


def test_time_ends_what_success_does_not():
    curriculum = StagedDomains([Stage(tasks=("a",), steps=3, promote_at=0.9), CODE], window=1)
    step(curriculum, 0.1, n=3)
    assert curriculum.stage == 1


def test_one_domain_first_can_make_the_next_learnable(learner):
    """The papers' point: after mathematics alone, code improves that never did from scratch."""

    class Transferring(learner):
        def chance(self, task, difficulty):
            helped = task == "code" and self.skills["math"] - 1
            return super().chance(task, difficulty - helped)

    stages = [
        Stage(tasks=("math",), difficulty=2, steps=300, promote_at=0.9),
        Stage(tasks=("code",), difficulty=5),
    ]
    start = {"math": 1.0, "code": 0.0}
    curriculum = StagedDomains(stages)
    staged = Transferring(start).train(curriculum, 100)
    direct = Transferring(start).train(Fixed([Proposal(task="code", difficulty=5)]), 100)
    assert curriculum.stage == 1
    assert direct.chance("code", 5) < 0.1
    assert staged.chance("code", 5) > 0.8
    assert staged.chance("math", 2) > 0.8  # and it is not unlearnt


def test_states(check_resumes):
    stages = [Stage(tasks=("a", "b"), steps=4, promote_at=0.9), MATH, CODE]
    seen = check_resumes(lambda: StagedDomains(stages, window=3, seed=1), [("a", 0)])
    assert {proposal.task for proposal in seen} == {"a", "b", "math", "code"}


@pytest.mark.parametrize(
    "make",
    [
        lambda: StagedDomains([]),
        lambda: StagedDomains([CODE, MATH]),
        lambda: StagedDomains([CODE], window=0),
        lambda: Stage(tasks=()),
        lambda: Stage(tasks=("a", "a")),
        lambda: Stage(tasks=("a",), steps=0),
        lambda: Stage(tasks=("a",), promote_at=1.2),
        lambda: Stage(tasks=("a",), difficulty=-1),
        lambda: Stage(tasks=("a",), response_tokens=0),
    ],
)
def test_stages_that_cannot_work(make):
    with pytest.raises(ConfigError):
        make()
