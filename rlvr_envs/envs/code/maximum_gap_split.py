"""Cutting a row of numbers where neighbours differ most; made with `program_tasks`."""

from collections.abc import Mapping

from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers
from rlvr_envs.generators.program_tasks.program_task import Kind, Program, ProgramTask, Values

STATEMENT = (
    "Cut the list `numbers` into consecutive parts. You choose the number of parts; a single part, "
    "with no cut, is allowed. The length of every part must be at least {width}. A cut between two "
    "neighbours a and b earns the smaller of |a - b| and {cap}, and every cut costs {price}. Print "
    "the largest possible total of what the cuts earn minus what they cost (0 without a cut)."
)

SCALE = {"n": (4, 900), "value": (12, 5000)}

READS: dict[str, Kind] = {"numbers": "list"}


def constants(rng: Rng, scale: Mapping[str, int]) -> Values:
    """Draw the least width of a part, and what bounds the worth of a cut."""
    cap = integer(rng, max(4, scale["value"] // 3), max(6, scale["value"]))
    return {"width": integer(rng, 1, 3), "cap": cap, "price": integer(rng, 0, cap // 3)}


def inputs(rng: Rng, scale: Mapping[str, int], constants: Values) -> Values:
    """Draw numbers, enough for a cut or two."""
    least = 2 * int(constants["width"])
    return {
        "numbers": integers(rng, 0, scale["value"], integer(rng, least, least + scale["n"])),
    }


def limits(scale: Mapping[str, int], constants: Values) -> str:
    """Return how large the inputs get."""
    least = 2 * int(constants["width"])
    return (
        f"The list has from {least} to {least + scale['n']} numbers, "
        f"and each is an integer from 0 to {scale['value']}."
    )


def solve(numbers: list[int], width: int, cap: int, price: int) -> int:
    """Keep the best total of cuts for each beginning that ends in a cut, and the best of those."""
    n = len(numbers)
    never = -(10**18)
    cut_at = [never] * (n + 1)  # the best with a cut before this place
    reach = [never] * (n + 1)  # the best of cut_at up to this place
    cut_at[0] = reach[0] = 0
    for place in range(1, n):
        worth = min(abs(numbers[place] - numbers[place - 1]), cap) - price
        if place >= width:
            cut_at[place] = reach[place - width] + worth
        reach[place] = max(reach[place - 1], cut_at[place])
    return reach[n - width]


def solve_plainly(numbers: list[int], width: int, cap: int, price: int) -> int:
    """Try every length of the last part, for each beginning of the list."""
    best: list[int | None] = [0]
    for length in range(1, len(numbers) + 1):
        found: int | None = None
        for last in range(width, length + 1):
            before = best[length - last]
            if before is None:
                continue
            total = before
            if last < length:
                gap = abs(numbers[length - last] - numbers[length - last - 1])
                total += min(gap, cap) - price
            found = total if found is None else max(found, total)
        best.append(found)
    return best[-1] or 0


@register("MaximumGapSplit-v0", domain="code", answer_format="fenced:python")
class MaximumGapSplitTask(ProgramTask):
    """Write a program that cuts a list where its neighbours differ most.

    Description:
        The least length of a part, the cap on a cut's worth and the price of a cut are part of the
        statement and differ from problem to problem.

    Observation:
        The statement, the input format and two small examples.

    Action:
        A Python program that reads one input and prints one number.

    Reward:
        1 if every hidden test is passed, otherwise 0.

    Verification:
        The program runs in the sandbox on hidden inputs, each in a fresh process; outputs are
        compared outside. Two independently written solutions agree on the expected outputs.

    Difficulty:
        The length of the list and the size of its numbers.

    References:
        SCALER: Synthetic Scalable Adaptive Learning Environment for Reasoning, 2026, for
        environments made from programs.
    """

    program = Program(STATEMENT, SCALE, constants, READS, inputs, (solve, solve_plainly), limits)
