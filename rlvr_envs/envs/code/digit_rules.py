"""Numbers whose digits keep rules: how many there are, their sum, or one of them by its place."""

from collections.abc import Mapping
from math import comb, log

from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.program_tasks.contest import Contest, ContestTask
from rlvr_envs.generators.program_tasks.program_task import Kind, Values

SCALE = {"level": (0, 30), "rules": (0, 6)}

READS: dict[str, Kind] = {"top": "int", "queries": "rows"}

RULES = ("divisor", "jump", "kinds", "run", "banned", "balance")

STORIES = {
    "plates": {"things": "number plates", "thing": "plate", "clerk": "bureau", "fine": "valid"},
    "lockers": {"things": "lockers", "thing": "locker", "clerk": "school", "fine": "usable"},
    "tickets": {"things": "lottery tickets", "thing": "ticket", "clerk": "club", "fine": "lucky"},
    "stamps": {
        "things": "serial numbers",
        "thing": "serial number",
        "clerk": "mint",
        "fine": "sound",
    },
    "pages": {
        "things": "files of an archive",
        "thing": "file",
        "clerk": "museum",
        "fine": "marked",
    },
}

_COUNT, _SUM, _PLACE = 0, 1, 2


def statement(constants: Values) -> str:
    """Return the question, with the rules that this problem has."""
    rules = {
        "divisor": "The number itself leaves the remainder {left} when divided by {divisor}.",
        "jump": "Digits that stand side by side differ by at least {jump}.",
        "kinds": "Exactly {kinds} different digits occur in the number.",
        "run": "No digit stands more than {run} times in a row.",
        "banned": "No digit {banned_first} is directly followed, on its right, by a digit "
        "{banned_last}.",
        "balance": "Begin with 0 and go through the digits from left to right: add the first, "
        "subtract the second, add the third, and so on. After every digit the total is from "
        "-{balance} to {balance}.",
    }
    listed = [_TOTAL, *(rules[name] for name in RULES if constants[name])]
    numbered = "\n".join(f"{at}. {rule}" for at, rule in enumerate(listed, 1))
    kept = "this rule" if len(listed) == 1 else "all of these rules"
    asked = {
        _COUNT: "For each query, print how many {things} with numbers from a to b are {fine}.",
        _SUM: "For each query, print the sum of the numbers of all {fine} {things} with numbers "
        "from a to b, modulo 10007.",
        _PLACE: "For each query, print the b-th smallest of the numbers of {fine} {things} that "
        "are at least a, or -1 if there are fewer than b such {things}.",
    }[int(constants["asked"])]
    beyond = (
        ""
        if constants["asked"] == _PLACE
        else " There are no {things} beyond `top`, even if b is larger."
    )
    return (
        "The {things} of a {clerk} have the numbers 0, 1, 2, ..., `top`. Write such a number in "
        "base {base}, without leading zeros (0 is the single digit 0). A {thing} is {fine} if its "
        f"number, so written, keeps {kept}:\n\n{numbered}\n\n{asked}{beyond} All numbers of the "
        "input and the output are in decimal notation."
    )


_TOTAL = "The sum of the digits leaves the remainder {rest} when divided by {modulus}."


def output(constants: Values) -> str:
    """Return what is to be printed."""
    return "Print the answers in the order of the queries, separated by white space."


def constants(rng: Rng, scale: Mapping[str, int]) -> Values:
    """Draw rules until enough numbers keep them: some contradict each other."""
    while True:
        drawn = _draw(rng, scale)
        if _kept(drawn, 10**3) >= 6 and _kept(drawn, 10**6) >= 100:
            return drawn


def _kept(constants: Values, most: int) -> int:
    """Return how many numbers up to a largest one keep the rules."""
    return solve(top=most, queries=[(0, most)], **{**constants, "asked": _COUNT})[0]


def _draw(rng: Rng, scale: Mapping[str, int]) -> Values:
    """Draw the numbers of the rules; those of rules that there are not are 0."""
    # A jump makes runs impossible; kinds and balance together have too many states to be counted.
    chosen = ["divisor", pick(rng, ("jump", "run")), pick(rng, ("kinds", "balance")), "banned"]
    rng.shuffle(chosen)
    on = set(chosen[: scale["rules"]])
    base = integer(rng, 4, 6) if scale["rules"] else integer(rng, 3, 12)
    modulus = integer(rng, 2, 3 if scale["rules"] else 12)
    divisor = integer(rng, 2, 5) * ("divisor" in on)
    banned = integer(rng, 1, base - 1) * ("banned" in on)
    return {
        "base": base,
        "modulus": modulus,
        "rest": integer(rng, 0, modulus - 1),
        "divisor": divisor,
        "left": integer(rng, 0, divisor - 1) if divisor else 0,
        "jump": integer(rng, 1, base // 3) * ("jump" in on),
        "kinds": integer(rng, 2, 3) * ("kinds" in on),
        "run": integer(rng, 1, 2) * ("run" in on),
        "banned": int("banned" in on),
        "banned_first": banned,
        "banned_last": integer(rng, 0, base - 1) if banned else 0,
        "balance": integer(rng, base - 2, base) * ("balance" in on),
        "asked": integer(rng, 0, min(2, scale["rules"])),
    }


def _digits(scale: Mapping[str, int]) -> int:
    """Return how many decimal digits the largest number has, beside its first."""
    return min(2 + scale["level"] // 2, 30)


def inputs(rng: Rng, scale: Mapping[str, int], constants: Values) -> Values:
    """Draw queries: ends of ranges near each other, far apart, and just beside powers."""
    most, base = 10 ** _digits(scale), int(constants["base"])
    top = integer(rng, most // 2, most)
    queries = []
    for _ in range(integer(rng, 2, 4)):
        low, high = sorted((_number(rng, most, base), _number(rng, most, base)))
        low *= rng.random() < 0.7
        if constants["asked"] == _PLACE:
            high = integer(rng, 1, 10 ** integer(rng, 1, _digits(scale)))
        queries.append((low, high))
    return {"top": top, "queries": queries}


def _number(rng: Rng, most: int, base: int) -> int:
    """Draw a number, often one beside a digit and zeros."""
    if rng.random() < 0.3:
        power = base
        while power * base <= most and rng.random() < 0.9:
            power *= base
        return min(most, integer(rng, 1, base - 1) * power + integer(rng, -1, 1))
    return integer(rng, 0, most if rng.random() < 0.7 else max(1, most // 10))


def limits(scale: Mapping[str, int], constants: Values) -> str:
    """Return how large the inputs get."""
    most = f"10^{_digits(scale)}"
    ends = f"0 <= a <= b <= {most}"
    if constants["asked"] == _PLACE:
        ends = f"0 <= a <= {most} and 1 <= b <= {most}"
    return f"There are from 2 to 4 queries, with {ends}; `top` is from 1 to {most}."


def work(scale: Mapping[str, int], constants: Values) -> float:
    """Return the states of the digits: places, times what the rules remember, times digits."""
    base = int(constants["base"])
    places = _digits(scale) * log(10, base)
    states = int(constants["modulus"]) * max(1, int(constants["divisor"]))
    if constants["jump"] or constants["run"] or constants["banned"]:
        states *= base * max(1, int(constants["run"]))
    states *= comb(base, int(constants["kinds"])) * (1 + 2 * int(constants["balance"]))
    return places * base * states * (1 + int(constants["asked"]))


def solve(  # noqa: C901, PLR0913, PLR0915 - the text of this is the oracle's program
    top: int,
    queries: list[tuple[int, int]],
    base: int,
    modulus: int,
    rest: int,
    divisor: int,
    left: int,
    jump: int,
    kinds: int,
    run: int,
    banned: int,
    banned_first: int,
    banned_last: int,
    balance: int,
    asked: int,
) -> list[int]:
    """Count by digits: what may follow depends on a few numbers that the digits so far leave."""
    from functools import cache

    prime = 10007
    nothing: tuple[int, ...] = (
        0,
        0,
        -1,
        0,
        0,
        0,
    )  # remainders, last digit, its run, digits seen, running total

    def add(state: tuple[int, ...], digit: int) -> tuple[int, ...] | None:
        total, whole, last, length, seen, sway = state
        if last >= 0:
            if jump and abs(digit - last) < jump:
                return None
            if banned and last == banned_first and digit == banned_last:
                return None
        length = length + 1 if digit == last else 1
        if run and length > run:
            return None
        seen |= 1 << digit
        if kinds and seen.bit_count() > kinds:
            return None
        sway = digit - sway
        if balance and abs(sway) > balance:
            return None
        return (
            (total + digit) % modulus,
            (whole * base + digit) % divisor if divisor else 0,
            digit if jump or run or banned else 0,
            length if run else 0,
            seen if kinds else 0,
            sway if balance else 0,
        )

    def kept(state: tuple[int, ...]) -> bool:
        total, whole, _, _, seen, _ = state
        if total != rest or whole != left:
            return False
        return not kinds or seen.bit_count() == kinds

    @cache
    def ways(state: tuple[int, ...], places: int) -> tuple[int, int]:
        """Count and add up the endings of so many digits that keep all rules."""
        if places == 0:
            return int(kept(state)), 0
        count = total = 0
        for digit in range(base):
            after = add(state, digit)
            if after is not None:
                found, ends = ways(after, places - 1)
                count += found
                total += ends + digit * base ** (places - 1) * found
        return count, total

    def digits_of(number: int) -> list[int]:
        digits = []
        while number:
            number, digit = divmod(number, base)
            digits.append(digit)
        return digits[::-1]

    def shorter(places: int) -> list[tuple[tuple[int, ...], int, int]]:
        """Return all beginnings of numbers above 0 of exactly so many digits: the first digit."""
        found = []
        for digit in range(1, base):
            state = add(nothing, digit)
            if state is not None:
                found.append((state, digit, places - 1))
        return found

    zero = add(nothing, 0)
    zero_kept = zero is not None and kept(zero)

    def below(number: int) -> tuple[int, int]:
        """Count and add up the numbers from 0 to below a number that keep all rules."""
        if number <= 0:
            return 0, 0
        count, total = int(zero_kept), 0
        digits = digits_of(number)
        for places in range(1, len(digits)):
            for after, digit, free in shorter(places):
                found, ends = ways(after, free)
                count += found
                total += ends + digit * base**free * found
        state, prefix = nothing, 0
        for at, bound in enumerate(digits):
            free = len(digits) - at - 1
            for digit in range(0 if at else 1, bound):
                other = add(state, digit)
                if other is not None:
                    found, ends = ways(other, free)
                    count += found
                    total += ends + (prefix * base + digit) * base**free * found
            following = add(state, bound)
            if following is None:
                break
            state, prefix = following, prefix * base + bound
        return count, total

    def spelled(state: tuple[int, ...], number: int, places: int, place: int) -> int:
        """Return the number of a place among those with a beginning, digit by digit."""
        if places == 0:
            return number
        for digit in range(base):
            after = add(state, digit)
            if after is not None:
                found = ways(after, places - 1)[0]
                if place < found:
                    return spelled(after, number * base + digit, places - 1, place)
                place -= found
        return -1

    def number_at(place: int) -> int:
        """Return the number with so many numbers that keep all rules below it."""
        if zero_kept:
            if place == 0:
                return 0
            place -= 1
        places = 1
        while base ** (places - 1) <= top:
            for state, digit, free in shorter(places):
                found = ways(state, free)[0]
                if place < found:
                    number = spelled(state, digit, free, place)
                    return number if number <= top else -1
                place -= found
            places += 1
        return -1

    answers = []
    for low, high in queries:
        if asked == 2:
            answers.append(number_at(below(low)[0] + high - 1))
        else:
            end = min(high, top) + 1
            found = below(end)[asked] - below(low)[asked] if low < end else 0
            answers.append(found % prime if asked else found)
    return answers


def solve_plainly(  # noqa: C901, PLR0913 - arguments by name, as of the above
    top: int,
    queries: list[tuple[int, int]],
    base: int,
    modulus: int,
    rest: int,
    divisor: int,
    left: int,
    jump: int,
    kinds: int,
    run: int,
    banned: int,
    banned_first: int,
    banned_last: int,
    balance: int,
    asked: int,
) -> list[int]:
    """Look at every number, one after the other."""

    def fine(number: int) -> bool:
        digits = [number % base]
        while number >= base ** len(digits):
            digits.append(number // base ** len(digits) % base)
        if sum(digits) % modulus != rest or (divisor and number % divisor != left):
            return False
        pairs = list(zip(digits[1:], digits, strict=False))  # each with the one on its right
        if any(abs(a - b) < jump for a, b in pairs):
            return False
        if banned and (banned_first, banned_last) in pairs:
            return False
        if kinds and len(set(digits)) != kinds:
            return False
        if run:
            for start in range(len(digits) - run):
                if len(set(digits[start : start + run + 1])) == 1:
                    return False
        totals = [0]
        for at, digit in enumerate(digits[::-1]):
            totals.append(totals[-1] + (digit if at % 2 == 0 else -digit))
        return not balance or max(map(abs, totals)) <= balance

    answers = []
    for low, high in queries:
        if asked < 2:
            numbers = [number for number in range(low, min(high, top) + 1) if fine(number)]
            answers.append(sum(numbers) % 10007 if asked else len(numbers))
            continue
        number, place = low, high
        while number <= top:
            place -= fine(number)
            if place == 0:
                break
            number += 1
        answers.append(number if number <= top else -1)
    return answers


EDITS = (
    ("min(high, top) + 1", "min(high, top)"),
    ("min(high, top) + 1", "high + 1"),
    ("- below(low)[asked]", "- below(low + 1)[asked]"),
    ("below(low)[0] + high - 1", "below(low)[0] + high"),
    ("int(zero_kept), 0\n", "0, 0\n"),
    ("(total + digit) % modulus", "(total + 1) % modulus"),
    ("range(1, base)", "range(base)"),
    ("for digit in range(0 if at else 1, bound)", "for digit in range(bound)"),
    ("digit * base ** (places - 1) * found", "digit * base ** (places - 1)"),
    ("(prefix * base + digit) * base**free * found", "digit * base**free * found"),
    ("found % prime if asked else found", "found"),
    ("return number if number <= top else -1", "return number"),
    ("if following is None:\n                break", "following = following or nothing"),
    ("whole * base + digit", "whole + digit", "divisor"),
    ("whole * base + digit", "whole * 10 + digit", "divisor"),
    ("abs(digit - last) < jump", "digit - last < jump", "jump"),
    ("abs(digit - last) < jump", "abs(digit - last) <= jump", "jump"),
    ("length > run", "length >= run", "run"),
    ("length + 1 if digit == last else 1", "length + 1", "run"),
    ("seen.bit_count() == kinds", "seen.bit_count() <= kinds", "kinds"),
    ("seen.bit_count() > kinds", "seen.bit_count() >= kinds", "kinds"),
    (
        "== banned_first and digit == banned_last",
        "== banned_last and digit == banned_first",
        "banned",
    ),
    ("last == banned_first and digit == banned_last", "digit == banned_last", "banned"),
    ("digit - sway", "digit + sway", "balance"),
    ("abs(sway) > balance", "abs(sway) >= balance", "balance"),
)


@register("DigitRules-v0", domain="code", answer_format="fenced:python")
class DigitRulesTask(ContestTask):
    """Write a program about the numbers whose digits keep rules.

    Description:
        A number counts if its digits, in some base, have a sum with a given remainder and keep
        some of six further rules: the remainder of the number, the jumps between neighbours, how
        many different digits there are, how long runs are, a forbidden pair, and a running total
        that must stay small. Queries ask how many such numbers there are in a range, for their
        sum, or for the k-th from a number on.

    Observation:
        A story with the rules, the input format, bounds on the input, the limits and two examples.

    Action:
        A Python program that reads one input and prints the answers.

    Reward:
        1 if every hidden test is passed, otherwise 0.

    Verification:
        The program runs in the sandbox on hidden inputs, each in a fresh process; outputs are
        compared outside. Small inputs are chosen by the wrong programs that fail them; the last
        ones are of the full size, where looking at every number takes too long from difficulty 5
        or so on. Expected outputs come from a count by digits, which looking at every number
        confirms.

    Difficulty:
        The number of further rules, up to four together, the question (a count; then a sum; then
        the k-th number), and the length of the numbers.

    References:
        A. Laaksonen, Guide to Competitive Programming, 2020, for dynamic programming;
        D. E. Knuth, The Art of Computer Programming, volume 4A, 2011, for unranking.
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
        columns={"queries": ("a", "b")},
        meaning={"top": "the largest number of a {thing}", "queries": "the queries"},
        output=output,
        work=work,
        rules=RULES,
        edits=EDITS,
        tried=(0, 1, 2, 0, 2, 3, 4),
    )
