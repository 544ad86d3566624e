"""Job shop: the order of jobs on each machine that minimises the makespan."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.optimisation.groups import grouped, read_groups
from rlvr_envs.generators.optimisation.task import (
    Infeasible,
    OptimisationConfig,
    OptimisationTask,
    Reference,
    budget_at,
)
from rlvr_envs.solvers import cp_sat

_MAX_SIZE, _MAX_DURATION = 32, 10**6  # far more than a level in use has


@dataclass(frozen=True, slots=True, kw_only=True)
class JobShopConfig(OptimisationConfig):
    """How many jobs and machines there are, and how long an operation takes."""

    n_jobs: int = knob(4, "jobs", low=2, high=_MAX_SIZE)
    n_machines: int = knob(3, "machines", low=2, high=_MAX_SIZE)
    max_duration: int = knob(9, "longest duration of an operation", low=1, high=_MAX_DURATION)

    @classmethod
    def at(cls, difficulty: int) -> "JobShopConfig":
        """A job and a machine are added in turn, and operations become longer."""
        return cls(
            budget=min(budget_at(difficulty), 0.2),
            n_jobs=min(_MAX_SIZE, 3 + (difficulty + 1) // 2),
            n_machines=min(_MAX_SIZE, 3 + difficulty // 2),
            max_duration=min(_MAX_DURATION, 5 + 2 * difficulty),
        )


Step: TypeAlias = tuple[int, int]  # the number of a machine, and the time on it
Jobs: TypeAlias = tuple[tuple[Step, ...], ...]


@dataclass(frozen=True, slots=True)
class JobShopProblem:
    """The steps of each job in their order; jobs and machines are numbered from 1."""

    jobs: Jobs
    reference: Reference = hidden()


@register("JobShop-v0", domain="np_hard", answer_format="tag")
class JobShopTask(OptimisationTask[JobShopConfig, JobShopProblem]):
    """Order the jobs on each machine so that the makespan is as short as possible.

    Description:
        Every job visits every machine once, in an order of its own. Problems in which neither the
        order of the jobs' numbers nor the first of several dispatching rules is outdone by another
        of these rules are drawn again.

    Observation:
        The operations of each job: a machine and a duration.

    Action:
        One line for each machine: all jobs, in the order in which the machine works on them.
        Start times follow, since every operation starts as soon as it can.

    Reward:
        Scheme ``over_greedy``: how far the makespan lies between that of always beginning the
        operation that can begin first, of the job with the most work left, which earns 0, and the
        best known, which earns 1; ``ratio`` begins instead at the order 1, 2, 3, ... on every
        machine. Orders in which jobs wait for each other in a circle earn 0.

    Verification:
        The operations are carried out in the given orders, and the makespan is measured. The best
        known orders come from CP-SAT, and the row says whether they are proven to be optimal. No
        known gaps.

    Difficulty:
        Only the size grows: more jobs and machines, and longer operations.

    References:
        Muth and Thompson, "Industrial Scheduling", 1963. Adams, Balas and Zawack, "The shifting
        bottleneck procedure for job shop scheduling", Management Science 34, 1988.
    """

    sense: ClassVar[Literal["max", "min"]] = "min"

    def draw(self, rng: Rng) -> JobShopProblem:
        config = self.config
        jobs = tuple(
            tuple(
                (machine + 1, integer(rng, 1, config.max_duration))
                for machine in rng.permutation(config.n_machines).tolist()
            )
            for _ in range(config.n_jobs)
        )
        plans = [dispatch(jobs, rule) for rule in RULES]
        spans = [makespan(jobs, orders) or 0 for orders in plans]
        known = min(spans)
        in_turn = [list(range(1, config.n_jobs + 1))] * config.n_machines
        trivial = makespan(jobs, in_turn)
        answer = grouped(plans[spans.index(known)])
        return JobShopProblem(jobs, Reference.known(known, answer, trivial=trivial))

    def improve(self, rng: Rng, problem: JobShopProblem) -> Reference:
        known = problem.reference
        hints = _starts(problem.jobs, read_groups(known.answer, what="machine")) or {}
        model = cp_sat.new_model()
        starts = {}
        intervals: dict[int, list[object]] = {}
        last = model.new_int_var(0, known.objective, "")
        for j, steps in enumerate(problem.jobs):
            before = None
            for machine, duration in steps:
                start = model.new_int_var(0, known.objective - duration, "")
                starts[j, machine] = start
                model.add_hint(start, hints[j, machine])
                interval = model.new_fixed_size_interval_var(start, duration, "")
                intervals.setdefault(machine, []).append(interval)
                if before is not None:
                    model.add(start >= before)
                before = start + duration
            model.add(last >= before)
        for busy in intervals.values():
            model.add_no_overlap(busy)
        model.minimize(last)
        solved = cp_sat.solve(model, list(starts.values()), budget=self.config.budget)
        if solved is None:
            least = max(sum(duration for _, duration in steps) for steps in problem.jobs)
            return dataclasses.replace(known, bound=least)
        found = dict(zip(starts, solved.values, strict=True))
        orders = []
        for machine in sorted(intervals):
            begun = sorted((found[j, machine], j + 1) for j in range(len(problem.jobs)))
            orders.append([job for _, job in begun])
        return Reference(
            objective=solved.objective,
            bound=solved.bound,
            proven=solved.proven,
            trivial=known.trivial,
            answer=grouped(orders),
            effort=solved.effort,
        )

    def prompt(self, problem: JobShopProblem) -> str:
        jobs = "\n".join(
            f"job {j}: " + ", ".join(f"machine {m} for {duration}" for m, duration in steps)
            for j, steps in enumerate(problem.jobs, 1)
        )
        count = len(problem.jobs[0])
        credit = self.partial_credit(
            "its makespan is shorter than that of always starting, among the operations that can "
            "start first, the one of the job with the most working time left (in a tie, the lowest "
            "number)",
            "its makespan is shorter than that of the order 1, 2, 3, ... on every machine",
        )
        return (
            f"A job shop has {count} machines and {len(problem.jobs)} jobs. Each job has one "
            "operation on every machine. Here are the operations of each job in the order in which "
            f"they must be done, with durations in minutes:\n\n{jobs}\n\nA job is on one machine "
            "at a time, and a machine works on one job at a time. A machine finishes an operation "
            "before it starts the next. For each machine, choose the order in which it works on "
            "the jobs. Work begins at minute 0. Each operation starts as soon as the operation "
            "before it in its job, if any, and the operation before it on its machine, if any, are "
            "finished. The orders must not make jobs wait for each other forever.\n\nMinimise the "
            f"makespan: the time at which the last job finishes. {credit} Answer with {count} "
            "lines, one for each machine, beginning with machine 1. Each line lists the numbers of "
            "all jobs in the order in which the machine works on them, separated by commas."
        )

    def measure(self, problem: JobShopProblem, answer: str) -> int:
        orders = read_groups(answer, what="machine")
        if len(orders) != len(problem.jobs[0]):
            raise Infeasible(f"there are {len(problem.jobs[0])} machines, got {len(orders)} lines")
        everything = list(range(1, len(problem.jobs) + 1))
        for machine, order in enumerate(orders, 1):
            if sorted(order) != everything:
                raise Infeasible(f"machine {machine} does not work on every job once")
        finished = makespan(problem.jobs, orders)
        if finished is None:
            raise Infeasible("in these orders, jobs wait for each other forever")
        return finished

    def explain(self, problem: JobShopProblem) -> list[str]:
        """Return the steps of the jobs in the order in which they begin."""
        starts = _starts(problem.jobs, read_groups(self.solve(problem), what="machine")) or {}
        times = {(j, m): time for j, steps in enumerate(problem.jobs) for m, time in steps}
        order = sorted(starts, key=lambda step: (starts[step], step))
        return [
            *(
                f"Job {job + 1} is on machine {machine} from {starts[job, machine]} to "
                f"{starts[job, machine] + times[job, machine]}."
                for job, machine in order
            ),
            self.conclusion(problem, "The makespan"),
        ]

    def baseline(self, rng: Rng, problem: JobShopProblem) -> str:
        """Always begin the step that can begin first, of the job with the most work left."""
        return grouped(dispatch(problem.jobs))

    def neighbour(self, problem: JobShopProblem, answer: str, rng: Rng) -> str:
        """Swap two neighbours in the order of a machine."""
        orders = read_groups(answer, what="machine")
        order = orders[integer(rng, 0, len(orders) - 1)]
        place = integer(rng, 0, len(order) - 2)
        order[place], order[place + 1] = order[place + 1], order[place]
        return grouped(orders)


def _starts(jobs: Jobs, orders: Sequence[Sequence[int]]) -> dict[tuple[int, int], int] | None:
    """Return (job from 0, machine) → start of the step, or None if jobs wait in a circle."""
    begun = [0] * len(jobs)  # steps of each job
    served = [0] * len(orders)  # jobs of each machine
    job_free = [0] * len(jobs)
    machine_free = [0] * len(orders)
    starts: dict[tuple[int, int], int] = {}
    ready = list(range(len(orders)))
    while ready:
        machine = ready.pop()
        if served[machine] == len(jobs):
            continue
        job = orders[machine][served[machine]] - 1
        on, duration = jobs[job][begun[job]]
        if on != machine + 1:
            continue
        start = max(job_free[job], machine_free[machine])
        starts[job, on] = start
        job_free[job] = machine_free[machine] = start + duration
        begun[job] += 1
        served[machine] += 1
        ready.append(machine)
        if begun[job] < len(jobs[job]):
            ready.append(jobs[job][begun[job]][0] - 1)
    return starts if len(starts) == len(jobs) * len(orders) else None


def makespan(jobs: Jobs, orders: Sequence[Sequence[int]]) -> int | None:
    """Return when everything is finished, or None if jobs wait for each other in a circle."""
    starts = _starts(jobs, orders)
    if starts is None:
        return None
    return max(
        starts[j, machine] + duration for j, steps in enumerate(jobs) for machine, duration in steps
    )


Rule: TypeAlias = Callable[[int, int], int]

# What a dispatching rule makes small, of the work left in a job and the time of its next step;
# the first rule prefers the most work left.
RULES: tuple[Rule, ...] = (
    lambda left, time: -left,
    lambda left, time: left,
    lambda left, time: -time,
    lambda left, time: time,
    lambda left, time: time - left,
)


def dispatch(jobs: Jobs, rule: Rule = RULES[0]) -> list[list[int]]:
    """Return the orders of always beginning the step that can begin first; a rule breaks ties."""
    orders: list[list[int]] = [[] for _ in jobs[0]]
    begun = [0] * len(jobs)
    job_free = [0] * len(jobs)
    machine_free = [0] * len(orders)
    left = [sum(duration for _, duration in steps) for steps in jobs]
    for _ in range(len(jobs) * len(orders)):
        start, _, job = min(
            (max(job_free[j], machine_free[machine - 1]), rule(left[j], duration), j)
            for j, steps in enumerate(jobs)
            for machine, duration in steps[begun[j] : begun[j] + 1]
        )
        machine, duration = jobs[job][begun[job]]
        job_free[job] = machine_free[machine - 1] = start + duration
        orders[machine - 1].append(job + 1)
        begun[job] += 1
        left[job] -= duration
    return orders
