"""Choosing jobs that do not overlap, with rests and fees; made with `program_tasks`."""

from collections.abc import Mapping

from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.program_tasks.program_task import Kind, Program, ProgramTask, Values

SCALE = {"n": (3, 600), "days": (12, 5000), "pay": (30, 2000), "rules": (0, 6)}

READS: dict[str, Kind] = {"jobs": "rows"}


def statement(constants: Values) -> str:
    """Return the question, with the rules that this problem has."""
    rules = {
        "every": "Number the chosen jobs 1, 2, 3 and so on in the order of their days. A job whose "
        "number is a multiple of {every} pays double.",
        "most": "You may choose at most {most} jobs.",
    }
    return " ".join((_JOBS, *(rules[name] for name in rules if constants[name]), _ASKED))


_JOBS = (
    "Each row of `jobs` is one job: its first day, its last day and its pay. Choose jobs that do "
    "not share a day. The number of free days between the last day of a chosen job and the first "
    "day of the next chosen job must be at least {rest}. Every chosen job costs a fee of {fee}."
)
_ASKED = "Print the largest possible total of pay minus fees; choosing no job gives 0."


def constants(rng: Rng, scale: Mapping[str, int]) -> Values:
    """Draw the numbers of the rules; those of rules that there are not are 0."""
    return {
        "rest": integer(rng, 1, max(4, scale["days"] // 8)),
        "fee": integer(rng, 1, scale["pay"] // 3),
        "every": integer(rng, 2, 5) * (scale["rules"] >= 2),
        "most": integer(rng, 4, 9) * (scale["rules"] >= 3),
    }


def inputs(rng: Rng, scale: Mapping[str, int], constants: Values) -> Values:
    """Draw jobs: many of them just as long a rest after another or just worth the fee."""
    days, most_paid = _largest(scale, constants)
    fee, rest = int(constants["fee"]), int(constants["rest"])
    lasting, often_poor = pick(rng, (1, days // 4)), pick(rng, (0.1, 0.1, 1.0))
    jobs: list[tuple[int, int, int]] = []
    for _ in range(integer(rng, 2, 2 + scale["n"])):
        first = integer(rng, 1, days)
        if jobs and rng.random() < 0.5:
            first = pick(rng, jobs)[1] + rest + integer(rng, 0, 1)
        last = first + integer(rng, 0, integer(rng, 0, 1 + lasting))
        paid = integer(rng, 1, most_paid)
        if rng.random() < often_poor:
            paid = max(1, fee + pick(rng, (-1, 0, 1)))
        jobs.append((first, last, paid))
    return {"jobs": jobs}


def _largest(scale: Mapping[str, int], constants: Values) -> tuple[int, int]:
    """Return the last of the days drawn and the largest pay, beside which the rules matter."""
    days = max(scale["days"], 3 * int(constants["rest"]))
    return days, max(scale["pay"], 4 * int(constants["fee"]))


def limits(scale: Mapping[str, int], constants: Values) -> str:
    """Return how large the inputs get."""
    days, pay = _largest(scale, constants)
    most, longest = 2 + scale["n"], 2 + days // 4
    last = days + longest - 1 + (most - 1) * (int(constants["rest"]) + longest)
    return (
        f"There are from 2 to {most} jobs. Days are positive integers, at most {last}, and a job "
        f"lasts at most {longest} days. Each pay is an integer from 1 to {pay}."
    )


def solve(jobs: list[tuple[int, int, int]], rest: int, fee: int, every: int, most: int) -> int:
    """Go through the jobs by last day; keep the best total for each count of chosen jobs.

    Counts matter modulo ``every``, or up to ``most`` where so many may be chosen.
    """
    from bisect import bisect_left

    jobs = sorted(jobs, key=lambda job: job[1])
    lasts = [last for _, last, _ in jobs]
    counts = most + 1 if most else every or 1
    never = -(10**18)
    best = [[0] + [never] * (counts - 1)]
    for number, (first, _, pay) in enumerate(jobs):
        before = best[bisect_left(lasts, first - rest)]
        row = list(best[number])
        for taken in range(most or counts):
            paid = 2 * pay if every and (taken + 1) % every == 0 else pay
            after = (taken + 1) % counts
            row[after] = max(row[after], before[taken] + paid - fee)
        best.append(row)
    return max(best[-1])


def solve_plainly(
    jobs: list[tuple[int, int, int]], rest: int, fee: int, every: int, most: int
) -> int:
    """Extend every chain of jobs by every job, in the order of first days."""
    jobs = sorted(jobs)
    ending: list[dict[int, int]] = []
    for number, (first, _, pay) in enumerate(jobs):
        chains = {1: pay * (2 if every == 1 else 1) - fee}
        for earlier in range(number):
            if jobs[earlier][1] + rest < first:
                for count, total in ending[earlier].items():
                    if count != most:
                        gain = (2 * pay if every and (count + 1) % every == 0 else pay) - fee
                        chains[count + 1] = max(chains.get(count + 1, total + gain), total + gain)
        ending.append(chains)
    return max([0, *(total for chains in ending for total in chains.values())])


@register("WeightedIntervalScheduling-v0", domain="code", answer_format="fenced:python")
class WeightedIntervalSchedulingTask(ProgramTask):
    """Write a program that picks jobs for the largest profit.

    Description:
        Jobs have first and last days and pay, with a rest between them and a fee for each. Harder
        levels add double pay for every few jobs, and then a largest number of jobs. The numbers in
        the rules differ from problem to problem.

    Observation:
        The statement, the input format and two small examples.

    Action:
        A Python program that reads one input and prints one number.

    Reward:
        1 if every hidden test is passed, otherwise 0.

    Verification:
        The program runs in the sandbox on hidden inputs, each in a fresh process; outputs are
        compared outside. Inputs are drawn until programs with one operator or number wrong fail.
        Two independently written solutions agree on the expected outputs. CPU
        seconds per input are limited, far above what a quadratic program needs at the listed sizes.

    Difficulty:
        The number of jobs, the days and the pay; from difficulty 4 on every few jobs pay double,
        and from 7 on their number is limited.

    References:
        J. Kleinberg and E. Tardos, Algorithm Design, 2005, section 6.1; SCALER: Synthetic Scalable
        Adaptive Learning Environment for Reasoning, 2026, for environments made from programs.
    """

    program = Program(statement, SCALE, constants, READS, inputs, (solve, solve_plainly), limits)
