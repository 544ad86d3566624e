"""VerilogTranslation: the style and the function, both or nothing."""

import dataclasses

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import public_view
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog import verilog_translation
from rlvr_envs.envs.verilog.verilog_translation import (
    VerilogTranslationConfig,
    VerilogTranslationTask,
    level_for,
)
from rlvr_envs.generators.hardware.styles import FLIP_FLOP, NAMES, flip_flop, style_of


def drawn(difficulty, seed, **knobs):
    config = dataclasses.replace(VerilogTranslationConfig.at(difficulty), **knobs)
    task = VerilogTranslationTask(config)
    return task, task.generate(stream("translation", difficulty, seed))


@pytest.mark.parametrize("style", NAMES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_text_as_shown_earns_nothing_and_a_translation_all(style, seed):
    task, problem = drawn(4, seed, styles=(style,))
    assert problem.style == style
    verdict = task.verify(problem, problem.source)
    assert (verdict.score, verdict.parts["style"]) == (0.0, 0.0)
    assert "not written" in verdict.detail
    assert task.verify(problem, task.solve(problem)).score == 1.0


def test_a_text_in_the_style_has_to_do_the_same():
    task, problem = drawn(3, 0, styles=("structural",), families=("UpDownCounter-v0",))
    right = task.solve(problem)
    place = right.rindex(" & ")
    wrong = right[:place] + " | " + right[place + 3 :]
    assert style_of("structural").broken_by(wrong, problem.clocking) == ""
    assert "differently" in task.verify(problem, wrong).detail
    assert task.verify(problem, wrong).score == 0.0


def test_the_flip_flop_is_given_and_not_to_be_changed():
    task, problem = drawn(2, 0, styles=("dataflow",), families=("UpDownCounter-v0",))
    given = flip_flop(problem.clocking)
    assert given.strip() in task.prompt(problem)
    right = task.solve(problem)
    assert FLIP_FLOP in right
    assert task.verify(problem, right).score == 1.0
    assert task.verify(problem, right + given).score == 0.0
    own = given.replace(FLIP_FLOP, "Own")
    assert task.verify(problem, right.replace(FLIP_FLOP, "Own") + own).score == 0.0
    assert task.verify(problem, right + " // the end").score == 1.0
    assert task.verify(problem, right + " /* no end").score == 0.0


@pytest.mark.parametrize("style", NAMES)
def test_a_style_that_is_only_claimed_earns_nothing(style):
    task, problem = drawn(2, 1, styles=(style,), families=("UpDownCounter-v0",))
    dead = task.solve(problem).replace("TopModule", "Dead")
    for claim in (
        f"// {style}: always_ff always_comb logic assign\n{problem.source}",
        f"{dead}\n{problem.source}",
        f"{problem.source}\n{dead}",
        f"`define always always_ff\n{problem.source}",
        f"/*\n{task.solve(problem)}\n*/\n{problem.source}",
    ):
        assert task.verify(problem, claim).score == 0.0


def test_with_graded_rewards_the_style_comes_first():
    task, problem = drawn(1, 0, styles=("two_blocks",), reward="graded")
    assert task.verify(problem, problem.source).score == 0.0
    assert task.verify(problem, task.solve(problem)).score == 1.0


def test_where_all_sources_are_in_the_style_another_one_is_asked_for(monkeypatch):
    monkeypatch.setattr(verilog_translation, "_can_be_written", lambda *_: False)
    task, problem = drawn(3, 0, styles=("structural",))
    assert problem.style == "systemverilog"
    assert task.verify(problem, problem.source).score == 0.0
    assert task.verify(problem, task.solve(problem)).score == 1.0


def test_netlists_that_are_too_long_are_not_asked_for(monkeypatch):
    monkeypatch.setattr(verilog_translation, "_LONGEST", 1500)
    for seed in range(3):
        task, problem = drawn(6, seed, styles=("structural",), families=("UpDownCounter-v0",))
        assert len(task.solve(problem)) <= 1500
    assert level_for("structural", 9) == 4
    assert level_for("two_blocks", 40) == 16
    assert level_for("systemverilog", 40) == 40


def test_the_prompt_tells_all_rules_and_no_other_source():
    for style in NAMES:
        task, problem = drawn(5, 2, styles=(style,))
        prompt = task.prompt(problem)
        rules = style_of(style).rules.splitlines()
        state = problem.clocking is not None
        assert all((rule in prompt) == (state or FLIP_FLOP not in rule) for rule in rules)
        assert problem.source.strip() in prompt
        for value in public_view(problem).values():
            assert problem.other.strip() not in str(value)


@pytest.mark.parametrize(
    ("knobs", "named"),
    [
        ({"level": -1}, "level"),
        ({"styles": ()}, "styles"),
        ({"styles": ("gates",)}, "structural"),
        ({"families": ("Lfsr",)}, "Lfsr-v0"),
    ],
)
def test_knobs_out_of_range_are_refused(knobs, named):
    with pytest.raises(ConfigError, match=named):
        VerilogTranslationConfig(**knobs)
