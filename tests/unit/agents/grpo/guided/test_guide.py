"""Guide: a hint after a failure, and the ratio of an answer to the prompt without it."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.source import open_source

SEED = 5
WORDS = open_source("WordProblem-v0", difficulty=1).draw(SEED)
STEPS = WORDS.task.explain(WORDS.problem)
PROPOSAL = {"task": "WordProblem-v0", "difficulty": 1, "problem_seed": SEED}
RIGHT, WRONG = WORDS.solution(), r"\boxed{90001}"


def when_hinted(heard, place):
    """Right where there is a hint, for every second episode."""
    return RIGHT if "Hint" in heard and place % 2 else WRONG


def test_a_group_that_failed_is_played_again_with_a_hint(learn):
    seen = learn(when_hinted, [PROPOSAL], "guide")
    (episodes,) = seen.batches
    assert [episode.info.get("hint_level", 0) for episode in episodes] == [0] * 4 + [1] * 4
    assert [episode.score for episode in episodes] == [0.0] * 4 + [0.0, 1.0, 0.0, 1.0]
    assert episodes[4].heard[0].endswith(f"Hint, how a worked solution begins:\n{STEPS[0]}")
    assert len({episode.group for episode in episodes}) == 1


def test_what_was_sampled_with_a_hint_is_learned_as_an_answer_to_the_bare_prompt(learn):
    seen = learn(when_hinted, [PROPOSAL], "guide")
    bare, *_, hinted = seen.batches[0]
    assert hinted.segments[0] == bare.segments[0]
    assert WORDS.prompt() == bare.heard[0]
    (inputs,) = seen.inputs
    # The probability that it was sampled with is that with the hint; the ratio acts at once.
    sampled = [sum(each.segments[1].logps) for each in (bare, hinted)]
    found = {round(float(row.sum()), 4) for row in inputs.sampled}
    assert {round(value, 4) for value in sampled} <= found
    moved = ((inputs.logp - inputs.sampled).detach().abs() * inputs.mask).sum(1) > 1e-3
    assert sorted(moved.tolist()) == [False] * 4 + [True] * 4
    assert seen.metrics[1]["mismatch/max"] > 1e-2


def test_without_the_callback_it_is_an_answer_to_the_hint(learn):
    seen = learn(when_hinted, [PROPOSAL], "guide", callbacks=("hint_after_failure",))
    bare, *_, hinted = seen.batches[0]
    assert len(hinted.segments[0].tokens) > len(bare.segments[0].tokens)
    assert seen.metrics[1]["mismatch/max"] < 1e-4


@pytest.mark.parametrize("right_at", [1, 2, None])
def test_hints_grow_until_somebody_solves_it(learn, right_at):
    last = STEPS[right_at - 1] if right_at else "never"
    seen = learn(
        lambda heard, place: RIGHT if heard.rstrip().endswith(last) and place else WRONG,
        [PROPOSAL],
        "guide",
        difficulty="2",
        callbacks=("hint_after_failure(levels=(1, 2), samples=2)", "bare_prompts"),
    )
    levels = [episode.info.get("hint_level", 0) for episode in seen.batches[0]]
    assert levels == [0] * 4 + [1, 1] + ([2, 2] if right_at != 1 else [])


def test_a_group_with_a_success_gets_no_hint(learn):
    seen = learn(lambda heard, place: WRONG if place else RIGHT, [PROPOSAL], "guide")
    assert len(seen.batches[0]) == 4


def test_curricula_are_told_of_answers_without_hints(learn, monkeypatch):
    from rlvr_envs.curricula import Fixed

    told = []
    monkeypatch.setattr(Fixed, "record", lambda self, *given: told.append(given[2]))
    learn(when_hinted, [PROPOSAL], "guide")
    assert told == [[0.0] * 4]


def test_hints_come_to_a_problem_that_returns(learn):
    seen = learn(
        when_hinted,
        [PROPOSAL],
        "guide",
        steps=3,
        wrappers=("HintOnFailure(patience=4)",),
        callbacks=("bare_prompts",),
    )
    levels = [{e.info.get("hint_level", 0) for e in episodes} for episodes in seen.batches]
    assert levels == [{0}, {1}, {0}]  # two of four solved it, which takes the hint back


def test_a_hint_needs_a_wrapper_that_gives_one(learn):
    with pytest.raises(ConfigError, match="no reset option 'hint_level'"):
        learn(when_hinted, [PROPOSAL], "guide", wrappers=())
