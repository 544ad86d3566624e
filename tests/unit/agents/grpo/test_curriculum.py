"""The curricula as plug-ins: all of them, with their settings, over the tasks and levels of a run."""

import json

import pytest

from rlvr_envs import curricula
from rlvr_envs.agents.grpo import plugins
from rlvr_envs.agents.grpo.curriculum import different, make_curriculum
from rlvr_envs.agents.grpo.presets import preset
from rlvr_envs.agents.grpo.problems import Problems
from rlvr_envs.agents.grpo.sources import make_source
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.source import open_source

# Where each is registered; what is no curriculum by itself is not.
NAMES = {
    "AdaptiveGroups": "adaptive_group",
    "Dump": "dump",
    "Fixed": "fixed",
    "GrowingHorizon": "growing_horizon",
    "HardBrittlePairs": "pairs",
    "HardFocus": "hard_focus",
    "LearningProgress": "learning_progress",
    "Linear": "linear",
    "Oversampled": "oversampled",
    "PromptGdro": "prompt_gdro",
    "RisingWindow": "rising_window",
    "RolloutGdro": "rollout_gdro",
    "StagedDomains": "staged",
    "SuccessBand": "success_band",
    "Weakness": "weakness",
}
TASKS = ("MathDataset-v0", 'Math-v0(tasks=("Gcd-v0", "NextTerm-v0"))')
IDS = {"rlvr/MathDataset-v0", "rlvr/Gcd-v0", "rlvr/NextTerm-v0"}


def made(text, tasks=TASKS, **changes):
    config = preset(tasks=tasks, difficulty="0-2", curriculum=text, **changes)
    return make_curriculum(config, Problems(config.data))


def test_every_curriculum_of_the_package_has_a_name():
    parts = {"AdaptiveGroup", "Control", "Curation", "Curriculum", "Nested", "OnLevels"}
    parts |= {"PassRateBins", "Played", "Proposal", "Stage"}
    assert set(NAMES) == set(curricula.__all__) - parts
    assert {plugin.name for plugin in plugins.curriculum} >= set(NAMES.values())


@pytest.mark.parametrize("kind", NAMES)
def test_each_proposes_the_tasks_of_data_sets_and_mixtures_and_goes_on(kind):
    text = {"HardFocus": "hard_focus(problems=20)"}.get(kind, NAMES[kind])
    curriculum, again = made(text), made(text)
    assert type(curriculum).__name__ == kind
    seen = set()
    for step in range(6):
        for _ in range(8):
            proposal = curriculum.propose()
            assert again.propose() == proposal
            seen.add(proposal.task)
            difficulty = None if proposal.task == "rlvr/MathDataset-v0" else proposal.difficulty
            for each in (curriculum, again):
                each.record(proposal.task, difficulty, [0.0, 1.0, step % 2], proposal.problem)
        curriculum.end_step()
        again = made(text)
        again.load_state_dict(json.loads(json.dumps(curriculum.state_dict())))
    assert seen == ({"rlvr/MathDataset-v0"} if kind == "StagedDomains" else IDS)


@pytest.mark.parametrize("name", ["fixed", "linear", "success_band", "rising_window", "dump"])
def test_weights_of_tasks_hold_whatever_their_levels(name):
    curriculum = made(name, tasks=("Gcd-v0", "MathDataset-v0"), weights=(1, 3))
    drawn = [curriculum.propose().task for _ in range(1000)]
    assert drawn.count("rlvr/MathDataset-v0") / 1000 == pytest.approx(0.75, abs=0.05)


def test_they_nest_with_settings():
    curriculum = made("growing_horizon(stages=(2, 3), over=success_band(target=0.7, gain=3.0))")
    assert curriculum.propose().horizon == 2
    assert (curriculum.over.control.target, curriculum.over.control.gain) == (0.7, 3.0)
    deep = made("oversampled(over=adaptive_group(batch=3, over=prompt_gdro(eta=2.0)))")
    assert deep.propose().samples == 3
    assert deep.over.over.eta == 2.0


def test_a_climb_takes_the_run_or_as_long_as_it_is_told():
    assert made("linear", steps=70).steps == 70
    assert made("linear(over_steps=9)", steps=70).steps == 9


def test_stages_name_tasks_and_limits():
    text = 'staged(stages=("MathDataset-v0", "Gcd-v0 NextTerm-v0"), lengths=(2,), horizon=(None, 4)'
    curriculum = made(text + ", response_tokens=(8, 16))", weights=(1, 2))
    first = curriculum.propose()
    assert (first.task, first.difficulty, first.horizon) == ("rlvr/MathDataset-v0", None, None)
    assert first.response_tokens == 8
    curriculum.end_step()
    curriculum.end_step()
    later = [curriculum.propose() for _ in range(60)]
    assert {each.task for each in later} == {"rlvr/Gcd-v0", "rlvr/NextTerm-v0"}
    assert {each.difficulty for each in later} == {0, 1, 2}
    assert {(each.horizon, each.response_tokens) for each in later} == {(4, 16)}


def test_stages_without_lengths_are_parts_of_the_run():
    stages = made("staged(lengths=(7,), promote_at=(None, 0.9))", steps=30).stages
    assert [stage.steps for stage in stages] == [7, None, 10]
    assert [stage.promote_at for stage in stages] == [None, 0.9, None]


def test_problems_of_their_own_are_different_and_to_be_trained_on():
    config = preset(tasks=TASKS, weights=(1, 1), splits="train=0.5,test=0.5")
    problems = Problems(config.data)
    found = different(problems, 30, seed=3)
    assert found == different(problems, 30, seed=3)
    assert found != different(problems, 30, seed=4)
    assert len({(each.task, each.problem) for each in found}) == 30
    assert all(problems.admits(problems.instance(each).fingerprint()) for each in found)
    few = problems.indices("rlvr/MathDataset-v0")
    alone = Problems(preset(tasks=TASKS[:1], splits="train=0.5,test=0.5").data)
    assert {each.index for each in different(alone, 99, seed=0)} == set(few)


def test_rows_without_tasks_come_as_they_are_unless_a_curriculum_chooses(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = [open_source("Gcd-v0", difficulty=n % 3).draw(n).to_row() for n in range(9)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = f"rows(path={str(path)!r})"
    assert made("fixed", (), source=source).propose() == curricula.Proposal()
    levels = [made("linear", (), source=source, steps=1).propose().difficulty]
    assert levels == [0]
    pairs = made("pairs(problems=4)", (), source=source)
    assert {each.row["fingerprint"] for each in pairs.problems} <= {r["fingerprint"] for r in rows}


@pytest.mark.parametrize("name", ["linear", "success_band", "rising_window"])
def test_rows_of_data_sets_alone_have_no_level_to_climb(name, tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = [open_source("MathDataset-v0").draw(n).to_row() for n in range(4)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    proposal = made(name, (), source=f"rows(path={str(path)!r})").propose()
    assert (proposal.task, proposal.difficulty) == ("rlvr/MathDataset-v0", None)


@pytest.mark.parametrize("score", [0.0, 1.0])
@pytest.mark.parametrize("kind", NAMES)
def test_whatever_is_proposed_over_rows_is_among_them(kind, score, tmp_path):
    path = tmp_path / "rows.jsonl"
    drawn = [open_source("Gcd-v0", difficulty=level).draw(n) for level in (2, 5) for n in range(4)]
    path.write_text("".join(json.dumps(each.to_row()) + "\n" for each in drawn))
    config = preset(tasks=("Gcd-v0",), curriculum=NAMES[kind], source=f"rows(path={str(path)!r})")
    problems = Problems(config.data)
    source = make_source(config.data.source, problems, seed=0)
    curriculum = make_curriculum(config, problems)
    for step in range(200):
        (given,) = source.draw([curriculum.propose()], step, 0)
        assert given.row["difficulty"] == given.difficulty
        curriculum.record(given.task, given.difficulty, [score] * 8, given.problem)
        curriculum.end_step()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("fixd", "no curriculum 'fixd'; did you mean 'fixed'"),
        ("linear(step=3)", "no setting 'step'"),
        ("linear(over_steps='9')", "takes over_steps"),
        ("adaptive_group(keep=3)", "keep is even"),
        ("growing_horizon(over=fixd)", "did you mean 'fixed'"),
        ("success_band(active=9)", "active is at most the 3 tasks"),
        ("prompt_gdro(use='draws', by='problem')", "there must be a curriculum"),
    ],
)
def test_what_cannot_be_is_named(text, told):
    with pytest.raises(ConfigError, match=told):
        made(text)


def test_help_tells_the_settings():
    told = {plugin.name: plugin.help for plugin in plugins.curriculum}
    assert "target: float = 0.5" in told["success_band"]
    assert "(SCALER)" in told["success_band"]
    assert "over: str = 'fixed'" in told["growing_horizon"]
