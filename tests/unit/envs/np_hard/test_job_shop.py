"""Job shop: the whole small world, answers of other forms, configuration."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard.job_shop import JobShopConfig, JobShopProblem, JobShopTask
from rlvr_envs.generators.optimisation.task import BANDS, Reference

TASK = JobShopTask(dataclasses.replace(JobShopConfig.at(0), scheme="ratio"))
# Job 1: machine 1 for 3, machine 2 for 2. Job 2: machine 2 for 4, machine 1 for 1.
SMALL = JobShopProblem(
    (((1, 3), (2, 2)), ((2, 4), (1, 1))), Reference(6, 6, True, 10, "1, 2\n2, 1")
)


def finished(problem, orders):
    """Simulate minute by minute; None if a whole minute passes in which nothing can happen."""
    m = len(orders)
    queues = [list(order) for order in orders]
    steps = [list(job) for job in problem.jobs]
    running = {}  # machine: (job, minute of its end)
    now = 0
    while True:
        for machine, (job, end) in list(running.items()):
            if end == now:
                del running[machine]
                steps[job].pop(0)
        for machine in range(1, m + 1):
            queue = queues[machine - 1]
            if machine in running or not queue:
                continue
            job = queue[0] - 1
            if steps[job][0][0] == machine and job not in [j for j, _ in running.values()]:
                running[machine] = (job, now + steps[job][0][1])
                queue.pop(0)
        if not running:
            return None if any(steps) else now
        now += 1


@pytest.mark.parametrize("seed", range(10))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("JobShop", seed))
    n, m = len(problem.jobs), len(problem.jobs[0])
    reference = problem.reference
    orders = itertools.product(itertools.permutations(range(1, n + 1)), repeat=m)
    ends = {choice: finished(problem, choice) for choice in orders}
    best = min(end for end in ends.values() if end is not None)
    assert (reference.objective, reference.bound, reference.proven) == (best, best, True)
    for choice, end in ends.items():
        verdict = TASK.verify(problem, "\n".join(" ".join(map(str, order)) for order in choice))
        assert verdict.parts["feasible"] == (end is not None)
        if end is None or end > reference.trivial:
            assert verdict.score == 0.0
        else:
            assert verdict.parts["objective"] == end
            share = (reference.trivial - end) / (reference.trivial - best)
            assert verdict.score == pytest.approx(share)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1, 2\n2, 1", 1.0),
        ("[1 2]; [2 1]", 1.0),
        ("[[1, 2], [2, 1]]", 1.0),
        ("```\n1, 2\n2, 1\n```", 1.0),
        ("1, 2\n1, 2", 0.0),  # the baseline: 3, 5, 9, 10
        ("2, 1\n2, 1", 0.0),  # worse than the best: 4, 5, 8, 10
        ("2, 1\n1, 2", 0.0),  # each job waits for the other
        ("1, 2", 0.0),
        ("1, 2\n2, 1\n1, 2", 0.0),
        ("1, 2\n2, 2", 0.0),
        ("1\n2, 1", 0.0),
        ("1, 2, 1\n2, 1", 0.0),
        ("0, 1\n1, 0", 0.0),
        ("1, 3\n3, 1", 0.0),
        ("1.0, 2.0\n2, 1", 1.0),
        ("1, 2\nNaN", 0.0),
        ("machine 1: 1, 2\nmachine 2: 2, 1", 1.0),
        ("1, 2\n2, 1\n" * 3000, 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_waiting_in_a_circle_is_named():
    assert "wait for each other" in TASK.verify(SMALL, "2, 1\n1, 2").detail


def test_sizes_of_the_bands():
    configs = [JobShopConfig.at(level) for level in BANDS.values()]
    assert [(c.n_jobs, c.n_machines) for c in configs] == [(4, 4), (6, 5), (7, 7), (8, 8)]


@pytest.mark.parametrize(
    "knob",
    [
        {"n_jobs": 1},
        {"n_jobs": 33},
        {"n_machines": 1},
        {"n_machines": 33},
        {"max_duration": 0},
        {"max_duration": 10**6 + 1},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        JobShopConfig(**knob)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_and_its_neighbours_are_answers(seed):
    rng = stream("JobShop", "moves", seed)
    problem = JobShopTask(JobShopConfig.at(5)).generate(rng)
    answer = TASK.baseline(stream("baseline"), problem)
    assert TASK.verify(problem, answer).parts["feasible"] == 1.0
    for _ in range(20):
        assert TASK.verify(problem, TASK.neighbour(problem, answer, rng)).status != "unparsable"


def test_the_baseline_of_the_small_problem():
    # job 1 has as much to do as job 2, and comes first on machine 1
    assert TASK.baseline(stream("baseline"), SMALL) == "1, 2\n2, 1"
