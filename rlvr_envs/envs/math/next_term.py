"""Sequences with a stated rule: find a term far ahead."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import comb, lcm

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, nonzero, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.latex import linear, signed_sum
from rlvr_envs.generators.mathematics.steps import differences, operand, times
from rlvr_envs.generators.mathematics.words import listed
from rlvr_envs.verifiers.symbolic import judge_math

# The rules of sequences.
#
# ``draw(rng, max_value, max_order)`` draws the numbers of a rule, ``ask(numbers)`` states the rule
# in full, ``term(numbers, index)`` computes a term, counted from 1, and
# ``explain(numbers, index)`` gives the steps that lead to it.

Numbers = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of sequence; a term of a ``far`` one is found without those before it."""

    draw: Callable[[Rng, int, int], Numbers]
    ask: Callable[[Numbers], str]
    term: Callable[[Numbers, int], int]
    explain: Callable[[Numbers, int], list[str]]
    far: bool = False


def _two_values(rng: Rng, limit: int, order: int) -> Numbers:
    return nonzero(rng, limit), nonzero(rng, limit)


def _first_and_ratio(rng: Rng, limit: int, order: int) -> Numbers:
    ratio = integer(rng, 2, 2 + order)
    return nonzero(rng, limit), ratio if integer(rng, 0, 1) else -ratio


def _first_and_line(rng: Rng, limit: int, order: int) -> Numbers:
    return nonzero(rng, limit), nonzero(rng, limit), integer(rng, -limit, limit)


def _first_terms(rng: Rng, limit: int, order: int) -> Numbers:
    count = integer(rng, 3, 2 + order)
    return integers(rng, -limit, limit, count)


def _recurrence(rng: Rng, limit: int, order: int) -> Numbers:
    """Draw the constant, then the coefficients, then as many first terms."""
    order = integer(rng, (order + 1) // 2, order)
    coefficients = (*integers(rng, -2, 2, order - 1), nonzero(rng, 3))
    first = integers(rng, 1, limit, order)
    return (nonzero(rng, limit), *coefficients, *first)


def _remainders(rng: Rng, limit: int, order: int) -> Numbers:
    """Draw the modulus, the factor, the constant and the first term."""
    modulus = integer(rng, 10, 10 * limit)
    return modulus, *integers(rng, 2, modulus - 1, 3)


def _first_and_addend(rng: Rng, limit: int, order: int) -> Numbers:
    return integer(rng, 1, limit**2), integer(rng, 1, 9)


def _branching(rng: Rng, limit: int, order: int) -> Numbers:
    """Draw the first term, then the odd factor and the odd addend for odd terms."""
    return integer(rng, 1, limit**2), 3, 2 * integer(rng, 0, limit // 2) + 1


def _interleaved(rng: Rng, limit: int, order: int) -> Numbers:
    return nonzero(rng, limit), nonzero(rng, limit), integer(rng, 1, limit), integer(rng, 2, 3)


def _skipping(rng: Rng, limit: int, order: int) -> Numbers:
    """Draw two divisors, neither a multiple of the other."""
    low = integer(rng, 2, 4 + limit // 4)
    high = integer(rng, low + 1, 2 * low + 4 + order)
    return low, high + (high % low == 0)


def _cycle(rng: Rng, limit: int, order: int) -> Numbers:
    """Draw remainders as above, of a modulus so small that they soon repeat."""
    modulus = integer(rng, 8 + 2 * order, 12 + 10 * order)
    return modulus, *integers(rng, 2, modulus - 1, 3)


def _runs(rng: Rng, limit: int, order: int) -> Numbers:
    """Draw how long the run of k is: so many times k, and so many more."""
    return integer(rng, 1, 2 + order), integer(rng, 0, 4 + 2 * order)


def _ask_differences(numbers: Numbers) -> str:
    order = len(numbers) - 1
    name = {2: "second", 3: "third"}.get(order, f"{order}th")
    return (
        f"The first terms of the sequence $a_1, a_2, a_3, \\ldots$ are "
        f"{listed([str(value) for value in numbers])}. The {name} differences of the sequence are "
        f"constant: $a_n$ is a polynomial in $n$ of degree at most {order}."
    )


def _split(numbers: Numbers) -> tuple[int, Numbers, Numbers]:
    """Return the constant, the coefficients and the first terms of a recurrence."""
    order = (len(numbers) - 1) // 2
    return numbers[0], numbers[1 : order + 1], numbers[order + 1 :]


def _ask_recurrence(numbers: Numbers) -> str:
    constant, coefficients, first = _split(numbers)
    terms = [(c, f"a_{{n-{back}}}") for back, c in enumerate(coefficients, 1)]
    start = listed(
        [
            f"$a_{i} = {value}$" if i < 10 else f"$a_{{{i}}} = {value}$"
            for i, value in enumerate(first, 1)
        ]
    )
    return (
        f"A sequence starts with {start}. For all $n > {len(first)}$, "
        f"$a_n = {signed_sum([*terms, (constant, '')])}$."
    )


def _repeat(step: Callable[[Numbers, int], int]) -> Callable[[Numbers, int], int]:
    """Return the term of a sequence from its rule, ``step(numbers, last term)``."""

    def term(numbers: Numbers, index: int) -> int:
        value = numbers[0]
        for _ in range(index - 1):
            value = step(numbers, value)
        return value

    return term


def _term_of_differences(numbers: Numbers, index: int) -> int:
    """Return the term by Newton's forward differences."""
    total, row = 0, list(numbers)
    for order in range(len(numbers)):
        total += comb(index - 1, order) * row[0]
        row = [after - before for before, after in pairwise(row)]
    return total


def _term_of_recurrence(numbers: Numbers, index: int) -> int:
    constant, coefficients, first = _split(numbers)
    terms = list(first)
    while len(terms) < index:
        recent = terms[: -len(first) - 1 : -1]
        terms.append(constant + sum(c * t for c, t in zip(coefficients, recent, strict=True)))
    return terms[index - 1]


def _term_of_remainders(numbers: Numbers, index: int) -> int:
    modulus, factor, addend, value = numbers
    for _ in range(index - 1):
        value = (factor * value + addend) % modulus
    return value


def _term_of_interleaved(numbers: Numbers, index: int) -> int:
    odd, difference, even, ratio = numbers
    step = (index - 1) // 2
    return odd + step * difference if index % 2 else even * ratio**step


def _term_of_skipping(numbers: Numbers, index: int) -> int:
    low, high = numbers
    both = lcm(low, high)
    bottom, top = index, 4 * index * high  # the term lies above the one, and not above the other
    while bottom < top:
        middle = (bottom + top) // 2
        if middle - middle // low - middle // high + middle // both < index:
            bottom = middle + 1
        else:
            top = middle
    return bottom


def _cycle_of(numbers: Numbers) -> tuple[list[int], int]:
    """Return the remainders until the first that returns, and the place where that was before."""
    modulus, factor, addend, value = numbers
    seen: dict[int, int] = {}
    while value not in seen:
        seen[value] = len(seen)
        value = (factor * value + addend) % modulus
    return list(seen), seen[value]


def _term_of_cycle(numbers: Numbers, index: int) -> int:
    seen, start = _cycle_of(numbers)
    place = index - 1
    return seen[place if place < start else start + (place - start) % (len(seen) - start)]


def _term_of_runs(numbers: Numbers, index: int) -> int:
    """Return the least k whose runs up to its own hold the index."""
    slope, more = numbers
    bottom, top = 1, index
    while bottom < top:
        middle = (bottom + top) // 2
        if slope * middle * (middle + 1) // 2 + more * middle < index:
            bottom = middle + 1
        else:
            top = middle
    return bottom


def _next_by_parity(numbers: Numbers, last: int) -> int:
    return last // 2 if last % 2 == 0 else numbers[1] * last + numbers[2]


def _explain_arithmetic(numbers: Numbers, index: int) -> list[str]:
    first, step = numbers
    return [
        f"The common difference is {first + step} - {operand(first)} = {step}.",
        f"Term {index} is term 1 and {index - 1} times the difference.",
        f"{first} + {index - 1} * {operand(step)} = {first + (index - 1) * step}",
    ]


def _explain_geometric(numbers: Numbers, index: int) -> list[str]:
    first, ratio = numbers
    power = ratio ** (index - 1)
    return [
        f"The common ratio is {first * ratio} / {operand(first)} = {ratio}.",
        f"Term {index} is term 1 times the ratio to the power {index - 1}.",
        f"{operand(ratio)}^{index - 1} = {power}",
        f"{first} * {operand(power)} = {first * power}",
    ]


def _explain_increments(numbers: Numbers, index: int) -> list[str]:
    first, slope, constant = numbers
    count = index * (index + 1) // 2 - 1
    value = first + slope * count + constant * (index - 1)
    return [
        f"Add the increments for n = 2 to n = {index} to term 1.",
        f"The numbers from 2 to {index} add up to {index} * {index + 1} / 2 - 1 = {count}.",
        f"There are {index - 1} increments, each with the constant {constant}.",
        f"{first} + {operand(slope)} * {count} + {operand(constant)} * {index - 1} = {value}",
    ]


def _explain_differences(numbers: Numbers, index: int) -> list[str]:
    """Return the table of differences and Newton's formula."""
    table = differences(numbers)
    steps = [f"The terms: {', '.join(map(str, numbers))}"]
    steps += [f"Differences {k}: {', '.join(map(str, row))}" for k, row in enumerate(table[1:], 1)]
    steps.append("Take the first entry of each row times a binomial coefficient.")
    parts = [(comb(index - 1, k), row[0]) for k, row in enumerate(table)]
    chosen = ", ".join(f"C({index - 1}, {k}) = {count}" for k, (count, _) in enumerate(parts))
    work = " + ".join(times(part) for part in parts)
    return [*steps, f"{chosen}", f"{work} = {sum(count * value for count, value in parts)}"]


def _explain_recurrence(numbers: Numbers, index: int) -> list[str]:
    constant, coefficients, first = _split(numbers)
    terms = list(first)
    steps = []
    while len(terms) < index:
        recent = terms[: -len(first) - 1 : -1]
        used = [pair for pair in zip(coefficients, recent, strict=True) if pair[0]]
        work = " + ".join(times(pair) for pair in used)
        terms.append(constant + sum(c * t for c, t in used))
        sign = "+" if constant > 0 else "-"
        steps.append(f"Term {len(terms)}: {work} {sign} {abs(constant)} = {terms[-1]}")
    return steps


def _explain_remainders(numbers: Numbers, index: int) -> list[str]:
    modulus, factor, addend, value = numbers
    steps = []
    for place in range(2, index + 1):
        work = f"({factor} * {value} + {addend}) mod {modulus}"
        value = (factor * value + addend) % modulus
        steps.append(f"Term {place}: {work} = {value}")
    return steps


def _explain_digits(numbers: Numbers, index: int) -> list[str]:
    value = numbers[0]
    steps = []
    for place in range(2, index + 1):
        digits = list(map(int, str(value)))
        work = f"{value} + {numbers[1]} + {' + '.join(map(str, digits))}"
        value += numbers[1] + sum(digits)
        steps.append(f"Term {place}: {work} = {value}")
    return steps


def _explain_branching(numbers: Numbers, index: int) -> list[str]:
    value = numbers[0]
    steps = []
    for place in range(2, index + 1):
        parity = "odd" if value % 2 else "even"
        work = f"{numbers[1]} * {value} + {numbers[2]}" if value % 2 else f"{value} / 2"
        steps.append(f"{value} is {parity}, so term {place} is ")
        value = _next_by_parity(numbers, value)
        steps[-1] += f"{work} = {value}."
    return steps


def _explain_interleaved(numbers: Numbers, index: int) -> list[str]:
    odd, difference, even, ratio = numbers
    step = (index - 1) // 2
    parity, kind = ("odd", "arithmetic") if index % 2 else ("even", "geometric")
    value = _term_of_interleaved(numbers, index)
    work = f"{odd} + {step} * {operand(difference)}" if index % 2 else f"{even} * {ratio}^{step}"
    return [
        f"{index} is {parity}, so the term belongs to the {kind} sequence.",
        f"It is number {step + 1} there, which is {step} steps after the first.",
        f"{work} = {value}",
    ]


def _explain_skipping(numbers: Numbers, index: int) -> list[str]:
    """Return the count of whole blocks of the common period, and the place in the last one."""
    low, high = numbers
    period = lcm(low, high)
    block = [k for k in range(1, period + 1) if k % low and k % high]
    whole, place = divmod(index - 1, len(block))
    value = whole * period + block[place]
    listed_up_to = ", ".join(map(str, block[: place + 1][-8:]))
    return [
        f"The pattern repeats after lcm({low}, {high}) = {period} numbers.",
        f"Of these, {period // low} + {period // high} - 1 = {period - len(block)} are skipped.",
        f"{period} - {period - len(block)} = {len(block)} stay.",
        f"{index} = {whole} * {len(block)} + {place + 1}, so {whole} whole blocks come before.",
        f"Take number {place + 1} of the next block.",
        f"A block's numbers up to there end in {listed_up_to}.",
        f"{whole} * {period} + {block[place]} = {value}",
    ]


def _explain_cycle(numbers: Numbers, index: int) -> list[str]:
    seen, start = _cycle_of(numbers)
    length = len(seen) - start
    steps = _explain_remainders(numbers, len(seen) + 1)
    steps.append(f"This is term {start + 1} again, so from there on {length} terms repeat.")
    place = start + (index - 1 - start) % length
    return [
        *steps,
        f"({index} - {start + 1}) mod {length} = {place - start}",
        f"Term {index} is term {place + 1}: {seen[place]}",
    ]


def _explain_runs(numbers: Numbers, index: int) -> list[str]:
    slope, more = numbers
    k = _term_of_runs(numbers, index)
    steps = [f"The runs of 1 to k hold {slope} * k * (k + 1) / 2 + {more} * k terms."]
    for last in (k - 1, k):
        count = slope * last * (last + 1) // 2 + more * last
        work = f"{slope} * {last} * {last + 1} / 2 + {more} * {last}"
        steps.append(f"For k = {last}: {work} = {count}")
    return [*steps, f"{index} lies above the first and not above the second, so the term is {k}."]


RULES: dict[str, Rule] = {
    "arithmetic": Rule(
        _two_values,
        lambda n: f"An arithmetic sequence has $a_1 = {n[0]}$ and $a_2 = {n[0] + n[1]}$.",
        lambda n, index: n[0] + (index - 1) * n[1],
        _explain_arithmetic,
        far=True,
    ),
    "geometric": Rule(
        _first_and_ratio,
        lambda n: f"A geometric sequence has $a_1 = {n[0]}$ and $a_2 = {n[0] * n[1]}$.",
        lambda n, index: n[0] * n[1] ** (index - 1),
        _explain_geometric,
    ),
    "increments": Rule(
        _first_and_line,
        lambda n: (
            f"A sequence starts with $a_1 = {n[0]}$. For all $n > 1$, "
            f"$a_n - a_{{n-1}} = {linear(n[1:2], 'n', n[2])}$."
        ),
        lambda n, index: n[0] + n[1] * (index * (index + 1) // 2 - 1) + n[2] * (index - 1),
        _explain_increments,
        far=True,
    ),
    "differences": Rule(_first_terms, _ask_differences, _term_of_differences, _explain_differences),
    "recurrence": Rule(_recurrence, _ask_recurrence, _term_of_recurrence, _explain_recurrence),
    "remainders": Rule(
        _remainders,
        lambda n: (
            f"A sequence starts with $a_1 = {n[3]}$. For all $n > 1$, $a_n$ is the remainder when "
            f"${n[1]}a_{{n-1}} + {n[2]}$ is divided by {n[0]}."
        ),
        _term_of_remainders,
        _explain_remainders,
    ),
    "cycle": Rule(
        _cycle,
        lambda n: (
            f"A sequence starts with $a_1 = {n[3]}$. For all $n > 1$, $a_n$ is the remainder when "
            f"${n[1]}a_{{n-1}} + {n[2]}$ is divided by {n[0]}."
        ),
        _term_of_cycle,
        _explain_cycle,
        far=True,
    ),
    "runs": Rule(
        _runs,
        lambda n: (
            "The sequence $a_1, a_2, a_3, \\ldots$ lists each positive integer $k$ exactly "
            f"${linear(n[:1], 'k', n[1])}$ times, in increasing order."
        ),
        _term_of_runs,
        _explain_runs,
        far=True,
    ),
    "digits": Rule(
        _first_and_addend,
        lambda n: (
            f"A sequence starts with $a_1 = {n[0]}$. For all $n > 1$, "
            f"$a_n = a_{{n-1}} + {n[1]} + s$, where $s$ is the sum of the decimal digits of "
            "$a_{n-1}$."
        ),
        _repeat(lambda n, last: last + n[1] + sum(map(int, str(last)))),
        _explain_digits,
    ),
    "branching": Rule(
        _branching,
        lambda n: (
            f"A sequence starts with $a_1 = {n[0]}$. For all $n > 1$, $a_n = a_{{n-1}} / 2$ if "
            f"$a_{{n-1}}$ is even, and $a_n = {n[1]}a_{{n-1}} + {n[2]}$ if $a_{{n-1}}$ is odd."
        ),
        _repeat(_next_by_parity),
        _explain_branching,
    ),
    "interleaved": Rule(
        _interleaved,
        lambda n: (
            "A sequence $a_1, a_2, a_3, \\ldots$ interleaves two sequences. The terms "
            "$a_1, a_3, a_5, \\ldots$ form an arithmetic sequence with first term "
            f"{n[0]} and common difference {n[1]}. The terms $a_2, a_4, a_6, \\ldots$ form a "
            f"geometric sequence with first term {n[2]} and common ratio {n[3]}."
        ),
        _term_of_interleaved,
        _explain_interleaved,
    ),
    "skipping": Rule(
        _skipping,
        lambda n: (
            "The sequence $a_1, a_2, a_3, \\ldots$ lists the positive integers that are not "
            f"divisible by {n[0]} and not divisible by {n[1]}, in increasing order."
        ),
        _term_of_skipping,
        _explain_skipping,
        far=True,
    ),
}


# The levels at which each rule occurs.
_LEVELS = {
    **dict.fromkeys(("arithmetic", "geometric", "interleaved"), range(4)),
    "increments": range(6),
    **dict.fromkeys(("recurrence", "digits"), range(10**9)),
    **dict.fromkeys(("differences", "skipping"), range(1, 10**9)),
    **dict.fromkeys(("remainders", "branching"), range(2, 10**9)),
    "runs": range(3, 10**9),
    "cycle": range(4, 10**9),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NextTermConfig(TaskConfig):
    """Which rules are used, how far the term is, and how large the numbers are."""

    kinds: tuple[str, ...] = knob(tuple(RULES), "kinds of rules to draw from", choices=RULES)
    n_steps: int = knob(
        12, "how many steps ahead the term may be; more for rules with a closed formula", low=3
    )
    max_value: int = knob(100, "rough size of the first terms and constants", low=4)
    max_order: int = knob(2, "largest order of a recurrence", low=1)

    @classmethod
    def at(cls, difficulty: int) -> "NextTermConfig":
        """Two more steps and twice the values a level; a higher order every third level.

        Rules that need a formula or a period, and not only patience, replace the simplest ones.
        """
        return cls(
            kinds=tuple(kind for kind, levels in _LEVELS.items() if difficulty in levels),
            n_steps=4 + 2 * difficulty,
            max_value=6 * 2**difficulty,
            max_order=1 + difficulty // 3,
        )


@dataclass(frozen=True, slots=True)
class NextTermProblem:
    """The kind of rule, the index of the term, the numbers in the rule, and the term."""

    kind: str
    index: int
    numbers: tuple[int, ...]
    term: int = hidden()


@register("NextTerm-v0", domain="math")
class NextTermTask(WorkedTask[NextTermConfig, NextTermProblem]):
    """Find a term of a sequence whose rule is given in full.

    Description:
        Twelve kinds of rule: arithmetic and geometric sequences; increments that depend on the
        index; constant higher differences; linear recurrences, plain and modulo a number; sums
        of digits; one rule for even and another for odd terms; two interleaved sequences; numbers
        that skip multiples; remainders that repeat; and runs of equal numbers. The rule is always
        stated, so exactly one answer is right.

    Observation:
        The rule, the first terms it needs, and the index of the term to find.

    Action:
        One integer.

    Reward:
        1 for the term, otherwise 0.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        The index, the size of the numbers and the order of recurrences grow; rules that take a
        formula for a far index come in, and those that take none go.

    References:
        Graham, Knuth and Patashnik, Concrete Mathematics, chapters 1 and 2.
    """

    def generate(self, rng: Rng) -> NextTermProblem:
        config = self.config
        kind = pick(rng, config.kinds)
        rule = RULES[kind]
        numbers = rule.draw(rng, config.max_value, config.max_order)
        steps = config.n_steps * (config.max_value if rule.far else 1)
        index = max(len(numbers), integer(rng, (steps + 1) // 2, steps)) + 1
        return NextTermProblem(kind, index, numbers, rule.term(numbers, index))

    def prompt(self, problem: NextTermProblem) -> str:
        return f"{RULES[problem.kind].ask(problem.numbers)} Find $a_{{{problem.index}}}$."

    def verify(self, problem: NextTermProblem, answer: str) -> Verdict:
        return judge_math(str(problem.term), answer, answer_type="integer")

    def solve(self, problem: NextTermProblem) -> str:
        return str(problem.term)

    def explain(self, problem: NextTermProblem) -> list[str]:
        return RULES[problem.kind].explain(problem.numbers, problem.index)

    def baseline(self, rng: Rng, problem: NextTermProblem) -> str:
        """Go on as in an arithmetic sequence with the first two numbers of the rule."""
        first, step, *_ = problem.numbers
        return str(first + (problem.index - 1) * step)
