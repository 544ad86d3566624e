"""RLTF: the second answer learned as a first one, and feedback that is foretold."""

import pytest

from rlvr_envs.core.source import open_source

POSED = open_source("Gcd-v0", difficulty=0).draw(5)
PROPOSAL = {"task": "Gcd-v0", "difficulty": 0, "problem_seed": 5}
TASK = {"tasks": ("Gcd-v0",), "difficulty": "0"}
RIGHT, WRONG, STILL_WRONG = POSED.solution(), r"\boxed{90001}", r"\boxed{90002}"


def by_feedback(heard, place):
    """One is right at once, one after the feedback, two never."""
    if "That is not right" in heard:
        return STILL_WRONG if place else RIGHT
    return WRONG if place else RIGHT


def test_the_last_answer_is_learned_as_one_to_the_bare_problem(learn):
    seen = learn(by_feedback, [PROPOSAL], "rltf_sd", **TASK)
    played = seen.batches[0]
    assert [len(e.actions) for e in played] == [1, 1, 1, 1]
    assert {e.segments[0] for e in played} == {played[0].segments[0]}
    assert played[1].actions[0].tokens == played[0].actions[0].tokens  # the right answer
    assert [e.info["attempt/0"] for e in played] == [1.0, 0.0, 0.0, 0.0]
    (inputs,) = seen.inputs
    # r - mean of the first attempts, which is 1/4: not 1/2, the mean of what is learned from.
    assert sorted(inputs.advantages[:, 0].tolist()) == [-0.25, -0.25, 0.75, 0.75]
    assert inputs.observed is None


def test_without_it_the_whole_conversation_is_learned(learn):
    seen = learn(by_feedback, [PROPOSAL], "rltf_sd", callbacks=(), **TASK)
    assert [len(e.actions) for e in seen.batches[0]] == [1, 2, 2, 2]


def test_the_second_answer_becomes_likelier_as_a_first_one(learn):
    seen = learn(by_feedback, [PROPOSAL], "rltf_sd", steps=6, **TASK)
    likely = [max((i.logp.detach() * i.mask).sum(1).tolist()) for i in seen.inputs]
    assert likely[-1] > likely[0] + 1.0


def observed_logp(inputs):
    return float((inputs.logp.detach() * inputs.observed).sum() / inputs.observed.sum())


@pytest.mark.parametrize("coef", [0.0, 0.5])
def test_feedback_is_foretold_even_where_nothing_has_an_advantage(learn, coef):
    seen = learn(
        lambda heard, place: WRONG,
        [PROPOSAL],
        "rltf_fm",
        steps=8,
        loss=f"feedback_modelling(coef={coef})",
        learning_rate=3e-3,
        **TASK,
    )
    assert {e.reward for e in seen.batches[0]} == {0.0}
    before, after = observed_logp(seen.inputs[0]), observed_logp(seen.inputs[-1])
    assert (after > before + 0.5) == bool(coef)
    said = "That is not right"
    assert said in seen.batches[0][0].heard[1]


def test_it_needs_attempts(learn):
    with pytest.raises(Exception, match="VerbalRetry"):
        learn(
            lambda heard, place: r"\boxed{1}",
            [{"task": "GuessNumber-v0", "difficulty": 0, "problem_seed": 1}],
            "rltf_sd",
            tasks=("GuessNumber-v0",),
            difficulty="0",
            wrappers=(),
        )
