"""Cutting a row of numbers where neighbours differ most; made with `program_tasks`."""

from collections.abc import Mapping

from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.program_tasks.program_task import Kind, Program, ProgramTask, Values

SCALE = {"n": (4, 900), "value": (16, 5000), "rules": (0, 6)}

READS: dict[str, Kind] = {"numbers": "list"}


def statement(constants: Values) -> str:
    """Return the question, with the rules that this problem has."""
    rules = {
        "width": "The length of every part must be at least {width}.",
        "longest": "The length of every part must be at most {longest}.",
        "most": "You may make at most {most} cuts.",
    }
    return " ".join((_PARTS, *(rules[name] for name in rules if constants[name]), _ASKED))


_PARTS = (
    "Cut the list `numbers` into consecutive, non-empty parts. You choose the number of parts; a "
    "single part, with no cut, is allowed unless a rule forbids it."
)
_ASKED = (
    "A cut between two neighbours a and b earns the smaller of |a - b| and {cap}, and every cut "
    "costs {price}. Print the largest possible total of what the cuts earn minus what they cost (0 "
    "without a cut)."
)


def constants(rng: Rng, scale: Mapping[str, int]) -> Values:
    """Draw the numbers of the rules; those of rules that there are not are 0."""
    rules, few = scale["rules"], rng.random() < 0.5
    cap = integer(rng, max(4, scale["value"] // 3), scale["value"])
    width = integer(rng, 2, 3 + rules) * (rules >= 1)
    return {
        "width": width,
        "longest": integer(rng, 2 * width, 3 * width) * (rules >= 3 and not few),
        "cap": cap,
        "price": integer(rng, 1, cap // 2),
        "most": integer(rng, 2, 3 + rules) * (rules >= 3 and few),
    }


def inputs(rng: Rng, scale: Mapping[str, int], constants: Values) -> Values:
    """Draw numbers, enough for a cut or two; many differences are near the price or the cap."""
    least, most, largest = _sizes(scale, constants)
    price, cap = int(constants["price"]), int(constants["cap"])
    count, flat = integer(rng, least, most), rng.random() < 0.2
    if constants["longest"] and rng.random() < 0.5:
        count = max(least, count - count % int(constants["longest"]))
    numbers = [integer(rng, 0, largest)]
    while len(numbers) < count:
        step = integer(rng, 0, 1) if flat else pick(rng, (price, cap)) + integer(rng, -1, 1)
        near = numbers[-1] + step if numbers[-1] + step <= largest else numbers[-1] - step
        edge = rng.random() < (0.9 if flat else 0.4) and 0 <= near <= largest
        numbers.append(near if edge else integer(rng, 0, largest))
    return {"numbers": numbers}


def _sizes(scale: Mapping[str, int], constants: Values) -> tuple[int, int, int]:
    """Return the least and the greatest length of the list, and the largest number."""
    least = 2 * max(1, int(constants["width"]))
    return least, least + scale["n"], 2 * int(constants["cap"])


def limits(scale: Mapping[str, int], constants: Values) -> str:
    """Return how large the inputs get."""
    least, most, largest = _sizes(scale, constants)
    return (
        f"The list has from {least} to {most} numbers, and each is an integer from 0 to {largest}."
    )


def solve(numbers: list[int], width: int, longest: int, cap: int, price: int, most: int) -> int:
    """Find the best total for each beginning that is cut into whole parts, part by part."""
    from collections import deque

    n = len(numbers)
    never = -(10**18)
    earned = [0]
    for place in range(1, n):
        earned.append(min(abs(numbers[place] - numbers[place - 1]), cap) - price)

    def add_part(before: list[int], after: list[int]) -> None:
        """Fill in the totals after one more part; a queue holds the best places to begin it."""
        starts: deque[int] = deque()
        for end in range(max(1, width), n + 1):
            start = end - max(1, width)
            total = before[start] + earned[start]
            while starts and before[starts[-1]] + earned[starts[-1]] <= total:
                starts.pop()
            starts.append(start)
            if longest and starts[0] < end - longest:
                starts.popleft()
            after[end] = before[starts[0]] + earned[starts[0]]

    totals = [0] + [never] * n
    if not most:
        add_part(totals, totals)
        return totals[n]
    best = never
    for _ in range(most + 1):
        following = [never] * (n + 1)
        add_part(totals, following)
        totals = following
        best = max(best, totals[n])
    return best


def solve_plainly(
    numbers: list[int], width: int, longest: int, cap: int, price: int, most: int
) -> int:
    """Try every length of the last part, for each beginning and each number of cuts."""
    found: list[dict[int, int]] = [{-1: 0}]
    for end in range(1, len(numbers) + 1):
        totals: dict[int, int] = {}
        for start in range(end):
            if end - start < width or (longest and end - start > longest):
                continue
            worth = min(abs(numbers[start] - numbers[start - 1]), cap) - price if start else 0
            for cuts, total in found[start].items():
                if not most or cuts < most:
                    after = cuts + 1 if most else 0
                    totals[after] = max(totals.get(after, total + worth), total + worth)
        found.append(totals)
    return max(found[-1].values())


@register("MaximumGapSplit-v0", domain="code", answer_format="fenced:python")
class MaximumGapSplitTask(ProgramTask):
    """Write a program that cuts a list where its neighbours differ most.

    Description:
        A cut earns the difference of the numbers beside it, up to a cap, and has a price. Harder
        levels add a least length of a part, and then either a greatest length or a largest number
        of cuts. The numbers in the rules differ from problem to problem.

    Observation:
        The statement, the input format and two small examples.

    Action:
        A Python program that reads one input and prints one number.

    Reward:
        1 if every hidden test is passed, otherwise 0.

    Verification:
        The program runs in the sandbox on hidden inputs, each in a fresh process; outputs are
        compared outside. Inputs are drawn until programs with one operator or number wrong fail.
        Two independently written solutions agree on the expected outputs.

    Difficulty:
        The list and its numbers; from difficulty 2 on parts have a least length, and from 7 on a
        greatest length, or there is a limit on the cuts.

    References:
        SCALER: Synthetic Scalable Adaptive Learning Environment for Reasoning, 2026, for
        environments made from programs.
    """

    program = Program(statement, SCALE, constants, READS, inputs, (solve, solve_plainly), limits)
