"""Choosing jobs that do not overlap, with rests and fees; made with `program_tasks`."""

from collections.abc import Mapping

from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.program_tasks.program_task import Kind, Program, ProgramTask, Values

STATEMENT = (
    "Each row of `jobs` is one job: its first day, its last day and its pay. Choose jobs that do "
    "not share a day. The number of free days between the last day of a chosen job and the first "
    "day of the next chosen job must be at least {rest}. Every chosen job costs a fee of {fee}. "
    "Number the chosen jobs 1, 2, 3 and so on in the order of their days. A job whose number is a "
    "multiple of {every} pays double. Print the largest possible total of pay minus fees; choosing "
    "no job gives 0."
)

SCALE = {"n": (3, 600), "days": (8, 5000), "pay": (10, 2000)}

READS: dict[str, Kind] = {"jobs": "rows"}


def constants(rng: Rng, scale: Mapping[str, int]) -> Values:
    """Draw the rest, the fee, and which jobs are paid double."""
    return {
        "rest": integer(rng, 0, max(3, scale["days"] // 8)),
        "fee": integer(rng, 1, max(6, scale["pay"] // 3)),
        "every": integer(rng, 4, 6) - 2 * integer(rng, 0, 1),
    }


def inputs(rng: Rng, scale: Mapping[str, int], constants: Values) -> Values:
    """Draw jobs, most of them short, many of them just as long a rest after another."""
    jobs: list[tuple[int, int, int]] = []
    longest = 1 + scale["days"] // 4
    for _ in range(integer(rng, 2, 2 + scale["n"])):
        first = integer(rng, 1, scale["days"])
        if jobs and rng.random() < 0.5:
            first = pick(rng, jobs)[1] + int(constants["rest"]) + integer(rng, 0, 1)
        last = first + integer(rng, 0, integer(rng, 0, longest))
        jobs.append((first, last, integer(rng, 1, scale["pay"]) + int(constants["fee"]) // 2))
    return {"jobs": jobs}


def limits(scale: Mapping[str, int], constants: Values) -> str:
    """Return how large the inputs get."""
    most, longest = 2 + scale["n"], 2 + scale["days"] // 4
    last = scale["days"] + longest - 1 + (most - 1) * (int(constants["rest"]) + longest)
    half = int(constants["fee"]) // 2
    return (
        f"There are from 2 to {most} jobs. Days are positive integers, at most {last}, and a job "
        f"lasts at most {longest} days. Each pay is an integer from {1 + half} to "
        f"{scale['pay'] + half}."
    )


def solve(jobs: list[tuple[int, int, int]], rest: int, fee: int, every: int) -> int:
    """Go through the jobs by last day; keep the best total for each count modulo ``every``."""
    from bisect import bisect_left

    jobs = sorted(jobs, key=lambda job: job[1])
    lasts = [last for _, last, _ in jobs]
    never = -(10**18)
    best = [[0] + [never] * (every - 1)]
    for number, (first, _, pay) in enumerate(jobs):
        before = best[bisect_left(lasts, first - rest)]
        row = list(best[number])
        for taken in range(every):
            paid = 2 * pay if taken == every - 1 else pay
            after = (taken + 1) % every
            row[after] = max(row[after], before[taken] + paid - fee)
        best.append(row)
    return max(best[-1])


def solve_plainly(jobs: list[tuple[int, int, int]], rest: int, fee: int, every: int) -> int:
    """Extend every chain of jobs by every job, in the order of first days."""
    jobs = sorted(jobs)
    ending: list[dict[int, int]] = []
    for number, (first, _, pay) in enumerate(jobs):
        chains = {1: pay * (2 if every == 1 else 1) - fee}
        for earlier in range(number):
            if jobs[earlier][1] + rest < first:
                for count, total in ending[earlier].items():
                    gain = (2 * pay if (count + 1) % every == 0 else pay) - fee
                    chains[count + 1] = max(chains.get(count + 1, total + gain), total + gain)
        ending.append(chains)
    return max([0, *(total for chains in ending for total in chains.values())])


@register("WeightedIntervalScheduling-v0", domain="code", answer_format="fenced:python")
class WeightedIntervalSchedulingTask(ProgramTask):
    """Write a program that picks jobs for the largest profit.

    Description:
        Jobs have first and last days and pay; rests between jobs, a fee for each and double pay
        for every few are part of the statement, with numbers that differ from problem to problem.

    Observation:
        The statement, the input format and two small examples.

    Action:
        A Python program that reads one input and prints one number.

    Reward:
        1 if every hidden test is passed, otherwise 0.

    Verification:
        The program runs in the sandbox on hidden inputs, each in a fresh process; outputs are
        compared outside. Two independently written solutions agree on the expected outputs. CPU
        seconds per input are limited, far above what a quadratic program needs at the listed sizes.

    Difficulty:
        The number of jobs, the days and the pay.

    References:
        J. Kleinberg and E. Tardos, Algorithm Design, 2005, section 6.1; SCALER: Synthetic Scalable
        Adaptive Learning Environment for Reasoning, 2026, for environments made from programs.
    """

    program = Program(STATEMENT, SCALE, constants, READS, inputs, (solve, solve_plainly), limits)
