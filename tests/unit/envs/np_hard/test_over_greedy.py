"""The default scheme of the optimisation tasks: the simple greedy earns 0, the best known 1."""

import dataclasses

import pytest

from rlvr_envs.core.registry import find, task_ids
from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.optimisation.task import Infeasible, OptimisationTask, Unreadable

NAMES = [name for name in task_ids("np_hard") if issubclass(find(name).task_type, OptimisationTask)]


def made(name, level):
    task_type = find(name).task_type
    return task_type(task_type.Config.at(level))


def problems(name, level, count):
    task = made(name, level)
    return task, [task.generate(stream("over_greedy", name, level, i)) for i in range(count)]


@pytest.mark.parametrize("level", [0, 3, 7])
@pytest.mark.parametrize("name", NAMES)
def test_the_greedy_earns_nothing_and_is_nearly_always_beaten(name, level):
    task, drawn = problems(name, level, 16)
    assert task.config.scheme == "over_greedy"
    beaten = 0
    for problem in drawn:
        answer = task.baseline(stream("baseline"), problem)
        verdict = task.verify(problem, answer)
        if problem.reference.greedy is None:
            assert verdict.parts["feasible"] == 0.0
            continue
        assert verdict.parts["objective"] == problem.reference.greedy
        if verdict.score < 1.0:
            beaten += 1
            assert verdict.score == verdict.parts["over_greedy"] == 0.0
    assert beaten >= 13


@pytest.mark.parametrize("name", NAMES)
def test_the_score_is_linear_from_the_greedy_to_the_best_known(name):
    task, drawn = problems(name, 5, 3)
    rng = stream("over_greedy", "moves", name)
    for problem in drawn:
        start, best = problem.reference.greedy, problem.reference.objective
        scores = set()
        for answer in (task.baseline(rng, problem), task.solve(problem)):
            tried = answer
            for _ in range(20):
                try:
                    value = task.measure(problem, tried)
                except (Infeasible, Unreadable):
                    value = None
                if value is not None and start not in (None, best):
                    share = (value - start) / (best - start)
                    scores.add(task.verify(problem, tried).score)
                    assert task.verify(problem, tried).score == pytest.approx(
                        min(1.0, max(0.0, share))
                    )
                tried = task.neighbour(problem, answer, rng)
        assert not scores or {0.0, 1.0} <= scores


@pytest.mark.parametrize("name", NAMES)
def test_the_prompt_names_the_greedy_in_the_default_scheme_alone(name):
    task, (problem,) = problems(name, 2, 1)
    credit = "earns partial credit only if"
    assert (credit in task.prompt(problem)) == (problem.reference.greedy is not None)
    for scheme in ("ratio", "graph_r1", "binary"):
        other = type(task)(dataclasses.replace(task.config, scheme=scheme))
        assert "only if" not in other.prompt(problem)


@pytest.mark.parametrize("name", NAMES)
def test_prompts_stay_short_and_every_level_can_be_drawn(name):
    for level in (15, 30):
        task, (problem,) = problems(name, level, 1)
        assert task.measure(problem, task.solve(problem)) == problem.reference.objective
        assert level > 15 or len(task.prompt(problem)) < 20_000
