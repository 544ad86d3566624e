"""Stretches of a list that keep rules: two pointers, with what each rule has to remember."""

from collections.abc import Mapping

from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.generators.program_tasks.contest import Contest, ContestTask
from rlvr_envs.generators.program_tasks.program_task import Kind, Values

SCALE = {"level": (0, 30), "rules": (0, 7)}

READS: dict[str, Kind] = {"xs": "list"}

RULES = ("kinds", "few", "load", "least", "multiple")

STORIES = {
    "trail": {"thing": "height", "things": "heights", "source": "marks along a trail"},
    "shop": {"thing": "price", "things": "prices", "source": "days of a market"},
    "river": {"thing": "level", "things": "levels", "source": "days at a river"},
    "loads": {"thing": "weight", "things": "weights", "source": "wagons of a train"},
}

_COUNT, _LONGEST, _SUM = 0, 1, 2


def statement(constants: Values) -> str:
    """Return the question, with the rules that this problem has."""
    rules = {
        "kinds": "At most {kinds} different {things} occur in it.",
        "few": "At least {few} different {things} occur in it.",
        "load": "The sum of its {things} is at most {load}.",
        "least": "The sum of its {things} is at least {least}.",
        "multiple": "Its length is a multiple of {multiple}.",
    }
    base = "Its largest and its smallest {thing} differ by at most {spread}."
    listed = [base, *(rules[name] for name in RULES if constants[name])]
    numbered = "\n".join(f"{at}. {rule}" for at, rule in enumerate(listed, 1))
    kept = "this rule" if len(listed) == 1 else "all of these rules"
    return (
        "The list `xs` has the {things} at the {source}, in order. A stretch is one or more "
        "neighbouring entries of the list; its length is their number. Two stretches are different "
        "if they begin or end at different places, even if their {things} are the same. A stretch "
        f"is good if it keeps {kept}:\n\n{numbered}"
    )


def output(constants: Values) -> str:
    """Return what is to be printed."""
    return {
        _COUNT: "Print the number of good stretches.",
        _LONGEST: "Print the length of the longest good stretch, or 0 if there is none.",
        _SUM: "Print the largest sum of the {things} of a good stretch, or 0 if there is none.",
    }[int(constants["asked"])]


def constants(rng: Rng, scale: Mapping[str, int]) -> Values:
    """Draw the numbers of the rules; those of rules that there are not are 0."""
    chosen = list(RULES)
    rng.shuffle(chosen)
    on = set(chosen[: scale["rules"]])
    spread = integer(rng, 2, 60)
    least = integer(rng, spread, 5 * spread)
    return {
        "spread": spread,
        "kinds": integer(rng, 3, 6) * ("kinds" in on),
        "few": integer(rng, 2, 3) * ("few" in on),
        "load": integer(rng, 2 * least, 6 * least) * ("load" in on),
        "least": least * ("least" in on),
        "multiple": integer(rng, 2, 4) * ("multiple" in on),
        "asked": integer(rng, 0, min(2, scale["rules"])),
    }


def inputs(rng: Rng, scale: Mapping[str, int], constants: Values) -> Values:
    """Draw a list that is random, walks up and down, or repeats what it had."""
    most, highest = _most(scale), _highest(constants)
    n = most if most > 100 else integer(rng, 2, most)
    way = integer(rng, 0, 2)
    if way == 0:
        return {"xs": list(integers(rng, 1, highest, n))}
    if way == 1:
        some = integers(rng, 1, highest, 4)
        near = [min(highest, some[0] + integer(rng, 0, int(constants["spread"]))) for _ in some]
        places = integers(rng, 0, 3, n)
        rare = integers(rng, 0, 40, n)
        return {
            "xs": [(some if odd == 0 else near)[at] for at, odd in zip(places, rare, strict=True)]
        }
    step = pick(rng, (1, 2, max(1, int(constants["spread"]) // 3)))
    height, xs = integer(rng, 1, highest), []
    for change in integers(rng, -step, step, n):
        height = min(highest, max(1, height + change))
        xs.append(height)
    return {"xs": xs}


def _most(scale: Mapping[str, int]) -> int:
    """Return the length of the longest list."""
    return min(round(18 * 1.45 ** min(scale["level"], 40)), 100_000 + 1_000 * scale["level"])


def _highest(constants: Values) -> int:
    """Return the largest entry of a list."""
    return 2 * int(constants["spread"]) + 2


def limits(scale: Mapping[str, int], constants: Values) -> str:
    """Return how large the inputs get."""
    return (
        f"The list has from 1 to {_most(scale)} entries, which are integers from 1 to "
        f"{_highest(constants)}."
    )


def work(scale: Mapping[str, int], constants: Values) -> float:
    """Return the steps of the pointers: entries, times the rules that each has to look at."""
    return float(_most(scale) * (1 + sum(bool(constants[name]) for name in RULES)))


def solve(  # noqa: C901, PLR0912, PLR0913, PLR0915 - the text of this is the oracle's program
    xs: list[int],
    spread: int,
    kinds: int,
    few: int,
    load: int,
    least: int,
    multiple: int,
    asked: int,
) -> int:
    """For each end, find the first and the last place where a good stretch may begin."""
    from collections import Counter, deque

    largest: deque[int] = deque()  # places whose entries fall
    smallest: deque[int] = deque()  # places whose entries rise
    within: Counter[int] = Counter()
    beyond: Counter[int] = Counter()
    sums = [0]
    first = few_from = least_from = 0  # the last two: as many beginnings are early enough
    found = 0
    step = multiple or 1
    for end, x in enumerate(xs):
        sums.append(sums[-1] + x)
        within[x] += 1
        beyond[x] += 1
        while largest and xs[largest[-1]] <= x:
            largest.pop()
        while smallest and xs[smallest[-1]] >= x:
            smallest.pop()
        largest.append(end)
        smallest.append(end)
        while (
            xs[largest[0]] - xs[smallest[0]] > spread
            or (kinds and len(within) > kinds)
            or (load and sums[-1] - sums[first] > load)
        ):
            left = xs[first]
            within[left] -= 1
            if within[left] == 0:
                del within[left]
            first += 1
            if largest[0] < first:
                largest.popleft()
            if smallest[0] < first:
                smallest.popleft()
            if first > end:
                break
        last = end + 1
        if few:
            while len(beyond) >= few:
                left = xs[few_from]
                beyond[left] -= 1
                if beyond[left] == 0:
                    del beyond[left]
                few_from += 1
            last = min(last, few_from)
        if least:
            while sums[-1] - sums[least_from] >= least:
                least_from += 1
            last = min(last, least_from)
        begin = first + (end + 1 - first) % step
        if begin >= last:
            continue
        if asked == 0:
            found += (last - begin + step - 1) // step
        elif asked == 1:
            found = max(found, end + 1 - begin)
        else:
            found = max(found, sums[-1] - sums[begin])
    return found


def solve_plainly(  # noqa: PLR0913 - arguments by name, as of the above
    xs: list[int],
    spread: int,
    kinds: int,
    few: int,
    load: int,
    least: int,
    multiple: int,
    asked: int,
) -> int:
    """Look at every stretch."""
    answers = [0]
    for begin in range(len(xs)):
        seen: set[int] = set()
        total, low, high = 0, xs[begin], xs[begin]
        for end in range(begin, len(xs)):
            seen.add(xs[end])
            total += xs[end]
            low, high = min(low, xs[end]), max(high, xs[end])
            length = end - begin + 1
            good = high - low <= spread and len(seen) >= few and total >= least
            good = good and not (kinds and len(seen) > kinds) and not (load and total > load)
            if good and not (multiple and length % multiple):
                answers.append((1, length, total)[asked])
    return max(answers) if asked else sum(answers)


EDITS = (
    ("> spread", ">= spread"),
    ("xs[largest[-1]] <= x", "xs[largest[-1]] < x and x < 2"),
    ("            if largest[0] < first:\n                largest.popleft()\n", ""),
    ("            if smallest[0] < first:\n                smallest.popleft()\n", ""),
    ("last = end + 1", "last = end"),
    ("found += (last - begin + step - 1) // step", "found += 1"),
    ("found += (last - begin + step - 1) // step", "found += (last - begin) // step"),
    ("end + 1 - begin", "last - begin"),
    ("sums[-1] - sums[begin]", "sums[-1] - sums[first]"),
    ("len(within) > kinds", "len(within) >= kinds", "kinds"),
    ("del within[left]", "pass", "kinds"),
    ("len(beyond) >= few", "len(beyond) > few", "few"),
    ("del beyond[left]", "pass", "few"),
    ("sums[-1] - sums[first] > load", "sums[-1] - sums[first] >= load", "load"),
    ("sums[-1] - sums[first] > load", "sums[-1] > load", "load"),
    ("sums[least_from] >= least", "sums[least_from] > least", "least"),
    ("last = min(last, least_from)", "last = least_from", "least"),
    ("last = min(last, few_from)", "last = few_from - 1", "few"),
    ("(end + 1 - first) % step", "(end - first) % step", "multiple"),
    ("(end + 1 - first) % step", "0", "multiple"),
)


@register("WindowRules-v0", domain="code", answer_format="fenced:python")
class WindowRulesTask(ContestTask):
    """Write a program about the stretches of a list that keep rules.

    Description:
        A stretch of a list is good if its largest and smallest entries are near each other and it
        keeps some of five further rules: at most and at least so many different values, a sum that
        is neither too large nor too small, and a length that is a multiple of a number. The
        question is how many stretches are good, how long one can be, or what its sum can be. Some
        rules hold for every part of a good stretch, others for all that holds it, and one for
        neither: each kind needs a pointer, or arithmetic, of its own.

    Observation:
        A story with the rules, the input format, bounds on the input, the limits and two examples.

    Action:
        A Python program that reads one input and prints the answer.

    Reward:
        1 if every hidden test is passed, otherwise 0.

    Verification:
        The program runs in the sandbox on hidden inputs, each in a fresh process; outputs are
        compared outside. Small inputs are chosen by the wrong programs that fail them; the last
        ones are of the full size, where looking at every stretch takes too long from difficulty 9
        or so on. Expected outputs come from two pointers, which looking at every stretch confirms.

    Difficulty:
        The number of further rules, all five from difficulty 10 on, the question, and the length
        of the list.

    References:
        A. Laaksonen, Guide to Competitive Programming, 2020, chapter 8, for the two pointers method
        and sliding window minima.
    """

    contest = Contest(
        statement=statement,
        scale=SCALE,
        constants=constants,
        reads=READS,
        inputs=inputs,
        solutions=(solve, solve_plainly),
        limits=limits,
        stories=STORIES,
        meaning={"xs": "the {things}"},
        output=output,
        work=work,
        rules=RULES,
        edits=EDITS,
        tried=(0, 0, 0, 1, 1, 2, 2, 0, 1, 2, 3, 3, 4, 5, 6),
    )
