"""Variants: right stays right, wrong stays wrong, the same by seed; text around a problem."""

import dataclasses
import re

import gymnasium as gym
import pytest

import rlvr_envs
from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.problem import from_json, to_json
from rlvr_envs.core.seeding import stream
from rlvr_envs.wrappers import CheckedVariants, PromptAugmentation, Recorder, UnaryRetry
from rlvr_envs.wrappers.variants import _DID, _STORIES, _WHEN, _WHO, rewritten, with_facts

TASKS = {
    "Game24-v0": {"order"},
    "GraphColoring-v0": {"names", "order"},
    "KnightsAndKnaves-v0": {"names", "order"},
    "LinearSystem-v0": {"names", "order", "negation"},
    "MaxSat-v0": {"negation", "names", "order"},
    "MaximumClique-v0": {"names", "order"},
    "Sudoku-v0": {"names", "order"},
    "SubsetSum-v0": {"order"},
    "WordProblem-v0": {"order"},
}


def drawn(task_id, level, count):
    task_type = registry.find(task_id).task_type
    task = task_type(task_type.Config.at(level))
    for i in range(count):
        problem = task.generate(stream("variants", task_id, level, i))
        made = rewritten(instance(task, problem), stream("variant", i))
        if made is not None:
            yield task, problem, made


def instance(task, problem):
    spec = next(s for s in map(registry.find, TASKS) if s.task_type is type(task))
    return Instance(spec, task, problem, None, None, spec.answer_format)


def test_the_documented_tasks_are_those_that_declare_one():
    declared = {
        task_id.removeprefix("rlvr/")
        for task_id in registry.task_ids()
        if "variant" in vars(registry.find(task_id).task_type)
    }
    assert declared == set(TASKS)


@pytest.mark.parametrize("level", [0, 2, 4])
@pytest.mark.parametrize("task_id", TASKS)
def test_what_is_right_stays_right(task_id, level):
    seen = 0
    for task, problem, made in drawn(task_id, level, 6):
        seen += 1
        assert set(made.changes) == TASKS[task_id]
        assert task.verify(made.problem, made.answer(task.solve(problem))).score == 1.0
        assert task.verify(made.problem, task.solve(made.problem)).score == 1.0
        assert from_json(type(problem), to_json(made.problem)) == made.problem
        again = task.variant(problem, stream("variant", 0))
        other = task.variant(problem, stream("variant", 0))
        assert (again and again.problem) == (other and other.problem)
    assert seen > 1


@pytest.mark.parametrize("task_id", TASKS)
def test_what_is_wrong_stays_wrong(task_id):
    """Answers of other problems, carried over, are worth in the variant what they were before."""
    scored = 0
    found = list(drawn(task_id, 1, 8))
    for task, problem, made in found:
        answers = [task.solve(other) for _, other, _ in found]
        answers += [task.baseline(stream("wrong", i), problem) for i in range(6)]
        for answer in answers:
            before = task.verify(problem, answer)
            if before.score == 1.0:
                continue
            try:
                carried = made.answer(answer)
            except (KeyError, ValueError, IndexError):
                continue  # it names what this problem does not have
            after = task.verify(made.problem, carried)
            assert after.score < 1.0
            parts = {"feasible", "ratio"} & before.parts.keys()
            assert {p: before.parts[p] for p in parts} == {p: after.parts[p] for p in parts}
            scored += 1
    assert scored


@pytest.mark.parametrize("task_id", TASKS)
def test_the_statement_is_another(task_id):
    found = list(drawn(task_id, 4, 6))
    changed = sum(
        task.prompt(problem) != task.prompt(made.problem) for task, problem, made in found
    )
    assert changed >= len(found) - 1 > 0


@pytest.mark.parametrize("task_id", TASKS)
def test_an_episode_is_judged_by_the_variant(task_id):
    env = CheckedVariants(gym.make(f"rlvr/{task_id}", difficulty=3), ("symmetry",))
    plain = gym.make(f"rlvr/{task_id}", difficulty=3)
    posed = 0
    for seed in range(4):
        prompt, info = env.reset(seed=seed)
        original, _ = plain.reset(seed=seed)
        instance = env.unwrapped.instance
        assert prompt == instance.prompt()
        posed += bool(info["variant"]) and prompt != original
        assert info["problem_seed"] == plain.unwrapped.instance.problem_seed
        assert info["difficulty"] == 3
        *_, terminated, _, info = env.step(instance.solution())
        assert terminated
        assert info["verdict"].score == 1.0
    assert posed > 1


def test_a_seed_brings_the_same_variant_and_a_row_holds_it():
    env = CheckedVariants(gym.make("rlvr/KnightsAndKnaves-v0", difficulty=2))
    first, info = env.reset(seed=5)
    assert env.reset(seed=5)[0] == first
    assert env.reset(options={"problem_seed": info["problem_seed"]})[0] == first
    row = env.unwrapped.instance.to_row()
    assert Instance.from_row(row).prompt() == env.unwrapped.instance.prompt()
    assert rlvr_envs.verify(row, rlvr_envs.solve(row)).score == 1.0
    other = CheckedVariants(gym.make("rlvr/KnightsAndKnaves-v0", difficulty=2), seed=1)
    assert other.reset(seed=5)[0] != first
    following = [env.reset()[0] for _ in range(3)]
    assert len(set(following)) == 3
    env.reset(seed=5)
    assert [env.reset()[0] for _ in range(3)] == following


def test_sentences_are_added_around_any_task_and_change_no_answer():
    for task_id in ("rlvr/Gcd-v0", "rlvr/Totient-v0", "rlvr/Maze-v0", "rlvr/SqlQuery-v0"):
        env = CheckedVariants(gym.make(task_id), ("facts", "story"), n_facts=3)
        prompt, info = env.reset(seed=1)
        assert info["variant"] == ("facts", "story")
        assert sum(story in prompt for story in _STORIES) == 1
        assert sum(who in prompt for who in _WHO) >= 1
        left = re.sub(rf"({'|'.join(_WHO)}) ({'|'.join(_DID)}) ({'|'.join(_WHEN)})\.", "", prompt)
        left = left.replace(next(story for story in _STORIES if story in prompt), "")
        assert left.split() == env.unwrapped.instance.prompt().split()
        *_, info = env.step(env.unwrapped.instance.solution())
        assert info["verdict"].score == 1.0


def test_sentences_name_nothing_that_a_problem_is_about():
    assert not re.search(r"\d|\bone\b|\btwo\b|\ball\b|\bnone\b", " ".join([*_WHO, *_DID, *_WHEN]))
    grid = "Solve it.\n\n1 2\n3 4\n\nFill the grid."
    for seed in range(20):
        text = with_facts(grid, stream("facts", seed), 1)
        assert "1 2\n3 4\n\nFill the grid." in text
        assert "Solve it.\n\n1 2" in text
    prose = "This is one.\n\nThis is another."
    places = {
        [part in prose for part in with_facts(prose, stream("facts", seed), 1).split("\n\n")].index(
            False
        )
        for seed in range(30)
    }
    assert places == {0, 1, 2}


def test_it_composes_with_wrappers_around_it(tmp_path):
    env = CheckedVariants(gym.make("rlvr/SubsetSum-v0", difficulty=1), n_facts=2)
    env = Recorder(PromptAugmentation(UnaryRetry(env)), tmp_path / "episodes.jsonl")
    prompt, info = env.reset(seed=2)
    assert info["variant"]
    instance = env.unwrapped.instance
    assert "position" in prompt
    _, _, terminated, _, _ = env.step("\\boxed{1}")
    assert not terminated
    assert env.unwrapped.instance.problem == instance.problem
    _, _, terminated, _, info = env.step(instance.solution())
    assert terminated
    assert info["verdict"].score == 1.0
    env.close()


def test_interactive_tasks_stay_as_they_are():
    env = CheckedVariants(gym.make("rlvr/GuessNumber-v0"))
    prompt, info = env.reset(seed=1)
    assert prompt == env.unwrapped.instance.prompt()
    assert info["variant"] == ()


@pytest.mark.parametrize(
    "arguments",
    [{"kinds": ()}, {"kinds": ("names",)}, {"kinds": "facts"}, {"n_facts": 0}, {"n_facts": True}],
)
def test_arguments_are_checked(arguments):
    with pytest.raises(ConfigError, match=next(iter(arguments))):
        CheckedVariants(gym.make("rlvr/Gcd-v0"), **arguments)


def test_no_other_wrapper_may_be_inside():
    env = PromptAugmentation(gym.make("rlvr/Gcd-v0"))
    with pytest.raises(ConfigError, match="PromptAugmentation is inside"):
        CheckedVariants(env)


def test_default_tasks_declare_no_symmetry():
    task_type = registry.find("Gcd-v0").task_type
    task = task_type(task_type.Config.at(0))
    assert task.variant(task.generate(stream("gcd")), stream("v")) is None
    assert dataclasses.is_dataclass(rlvr_envs.core.task.Variant)
