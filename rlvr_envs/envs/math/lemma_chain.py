"""Chains of small questions from several areas, each about the answer of the one before."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import number_theory as nt
from rlvr_envs.generators.mathematics.effort import written
from rlvr_envs.generators.mathematics.families import window
from rlvr_envs.generators.mathematics.primes import draw_prime, factor_small, is_prime
from rlvr_envs.generators.mathematics.steps import prime_powers
from rlvr_envs.verifiers import parse
from rlvr_envs.verifiers.symbolic import judge_math

Parameters = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Lemma:
    """One small question about a number ``n``, with further parameters.

    Attributes:
        ideas: how many ideas its answer takes; 0 for plain counting.
        low: the smallest number that it may be asked about.
        high: the largest one.
        draw: returns the parameters for a number.
        text: what is asked for; ``{n}`` stands for the number, ``{p}`` and so on for parameters.
        value: the answer, from the number and the parameters.
        reason: the calculation in words, with the same fields.
    """

    ideas: int
    low: int
    high: int
    draw: Callable[[Rng, int], Parameters]
    text: str
    value: Callable[..., int]
    reason: Callable[..., str]


def _none(rng: Rng, n: int) -> Parameters:
    return ()


def _one(low: int, high: int) -> Callable[[Rng, int], Parameters]:
    return lambda rng, n: (integer(rng, low, high),)


def _coprime(low: int, high: int) -> Callable[[Rng, int], Parameters]:
    """Return a draw of a parameter that has no common factor with the number."""

    def draw(rng: Rng, n: int) -> Parameters:
        while True:
            found = integer(rng, low, high)
            if math.gcd(found, n) == 1:
                return (found,)

    return draw


def _two_primes(rng: Rng, n: int) -> Parameters:
    p = pick(rng, (2, 3, 5))
    return p, pick(rng, tuple(q for q in (3, 5, 7, 11) if q > p))


def _lift(rng: Rng, n: int) -> Parameters:
    p = pick(rng, (3, 5, 7))
    low = integer(rng, 1, p - 1)
    return p, low + p * integer(rng, 1, 4), low


def _linear(rng: Rng, n: int) -> Parameters:
    return integer(rng, 3, 19), integer(rng, 2, 30), integer(rng, 40, 150)


def _power(rng: Rng, n: int) -> Parameters:
    return pick(rng, (2, 3, 7, 11, 13)), pick(rng, (89, 97, 101, 115, 127, 151))


def _wait(rng: Rng, n: int) -> Parameters:
    return (integer(rng, 2, n - 2),)


# The answers.


def _digit_sum(n: int, p: int) -> int:
    return sum(map(int, str(n * p)))


def _multiples(n: int, p: int, q: int) -> int:
    return n // p + n // q - n // (p * q)


def _grid_squares(n: int) -> int:
    return n * (n + 1) * (2 * n + 1) // 6


def _egyptian(n: int) -> int:
    return math.prod(2 * e + 1 for e in factor_small(n).values())


def _three_parts(n: int) -> int:
    return (n * n + 6) // 12


def _triangles(n: int) -> int:
    """Return the number of triangles with integer sides and this perimeter."""
    return (n * n + 24) // 48 if n % 2 == 0 else ((n + 3) ** 2 + 24) // 48


def _gcd_sum(n: int) -> int:
    return math.prod(p ** (e - 1) * (p + e * (p - 1)) for p, e in factor_small(n).items())


def _survivor(n: int) -> int:
    return 2 * (n - (1 << n.bit_length() - 1)) + 1


def _next_prime(n: int) -> int:
    found = n + 1
    while not is_prime(found):
        found += 1
    return found


def _lifted(n: int, p: int, a: int, b: int) -> int:
    return nt.valuation(p, a - b) + nt.factorial_valuation(p, n)


def _odd_binomials(n: int) -> int:
    return 1 << n.bit_count()


def _nines(n: int, p: int) -> int:
    """Return the digit sum of 10**n - p: n nines less the digits of p - 1."""
    return 9 * n - sum(map(int, str(p - 1)))


def _lattice(n: int) -> int:
    """Return the points with integer coordinates on the circle x^2 + y^2 = n^2."""
    return 4 * math.prod(2 * e + 1 for p, e in factor_small(n).items() if p % 4 == 1)


def _powers_text(n: int) -> str:
    return prime_powers(tuple(sorted(factor_small(n).items()))) if n > 1 else "1"


LEMMAS = {
    "digit_sum": Lemma(
        0,
        6,
        10**6,
        _one(12, 99),
        "the sum of the decimal digits of ${p}{n}$",
        _digit_sum,
        lambda n, p: f"the digits of {p} * {n} = {n * p}",
    ),
    "remainder": Lemma(
        0,
        6,
        10**6,
        _linear,
        "the remainder when ${p}{n} + {q}$ is divided by ${r}$",
        lambda n, p, q, r: (p * n + q) % r,
        lambda n, p, q, r: f"{p} * {n} + {q} = {p * n + q}, less {(p * n + q) // r} times {r}",
    ),
    "handshakes": Lemma(
        0,
        6,
        100,
        _none,
        "the number of handshakes when ${n}$ people all shake hands with each other once",
        lambda n: n * (n - 1) // 2,
        lambda n: f"{n} * {n - 1} / 2",
    ),
    "diagonals": Lemma(
        0,
        6,
        100,
        _none,
        "the number of diagonals of a convex polygon with ${n}$ sides",
        lambda n: n * (n - 3) // 2,
        lambda n: f"{n} * ({n} - 3) / 2",
    ),
    "trailing_zeros": Lemma(
        1,
        30,
        5_000,
        _none,
        "the number of zeros at the end of ${n}!$ in decimal notation",
        lambda n: nt.factorial_valuation(5, n),
        lambda n: f"the exponent of 5 in {n}!, which is the sum of the quotients by 5, 25, ...",
    ),
    "multiples": Lemma(
        1,
        20,
        10**5,
        _two_primes,
        "the number of integers from $1$ to ${n}$ that ${p}$ or ${q}$ divides",
        _multiples,
        lambda n, p, q: f"{n // p} + {n // q} - {n // (p * q)}, by inclusion and exclusion",
    ),
    "regions": Lemma(
        1,
        6,
        300,
        _none,
        "the largest number of regions into which ${n}$ lines can divide the plane",
        lambda n: 1 + n * (n + 1) // 2,
        lambda n: f"1 + {n} * {n + 1} / 2, as line k adds k regions",
    ),
    "power_remainder": Lemma(
        1,
        6,
        10**6,
        _power,
        "the remainder when ${p}^{{{n}}}$ is divided by ${q}$",
        lambda n, p, q: pow(p, n, q),
        lambda n, p, q: f"powers of {p} repeat with period {nt.order(p, q)} modulo {q}",
    ),
    "totient": Lemma(
        1,
        12,
        10**5,
        _none,
        "the number of integers from $1$ to ${n}$ that are coprime to ${n}$",
        nt.totient,
        lambda n: f"Euler's totient of {_powers_text(n)}",
    ),
    "divisor_sum": Lemma(
        1,
        12,
        10**4,
        _none,
        "the sum of all positive divisors of ${n}$",
        lambda n: sum(nt.divisors(n)),
        lambda n: f"the product of the sums of powers in {_powers_text(n)}",
    ),
    "root_squares": Lemma(
        1,
        8,
        900,
        _one(3, 30),
        "the value of $r^2 + s^2$, where $r$ and $s$ are the roots of $t^2 - {n}t + {p} = 0$",
        lambda n, p: n * n - 2 * p,
        lambda n, p: f"(r + s)^2 - 2rs = {n}^2 - 2 * {p}",
    ),
    "survivor": Lemma(
        2,
        12,
        10**5,
        _none,
        "the place of the last one left when people at the places $1$ to ${n}$ of a circle are "
        "removed in turn, every second one, beginning with place $2$",
        _survivor,
        lambda n: f"twice {n} less the largest power of 2 in it, plus 1",
    ),
    "ruin": Lemma(
        2,
        9,
        400,
        _wait,
        "the expected number of tosses of a fair coin in a game that starts with ${p}$ points, "
        "adds one for heads, takes one for tails, and ends at $0$ or at ${n}$ points",
        lambda n, p: p * (n - p),
        lambda n, p: f"{p} * ({n} - {p})",
    ),
    "grid_squares": Lemma(
        2,
        6,
        60,
        _none,
        "the number of squares of all sizes, with sides along the lines, in a grid of ${n}$ by "
        "${n}$ cells",
        _grid_squares,
        lambda n: f"1^2 + ... + {n}^2 = {n} * {n + 1} * {2 * n + 1} / 6",
    ),
    "three_parts": Lemma(
        2,
        12,
        400,
        _none,
        "the number of ways to write ${n}$ as a sum of three positive integers, where the order "
        "does not matter",
        _three_parts,
        lambda n: f"the integer nearest to {n}^2 / 12",
    ),
    "egyptian": Lemma(
        2,
        30,
        10**6,
        _none,
        "the number of pairs $(u, v)$ of positive integers with $\\frac{{1}}{{u}} + "
        "\\frac{{1}}{{v}} = \\frac{{1}}{{{n}}}$",
        _egyptian,
        lambda n: f"(u - {n})(v - {n}) = {n}^2, so the divisors of the square of {_powers_text(n)}",
    ),
    "power_sum": Lemma(
        2,
        8,
        90,
        _one(2, 30),
        "the value of $r^3 + s^3$, where $r$ and $s$ are the roots of $t^2 - {n}t + {p} = 0$",
        lambda n, p: n**3 - 3 * n * p,
        lambda n, p: f"(r + s)^3 - 3rs(r + s) = {n}^3 - 3 * {p} * {n}",
    ),
    "nines": Lemma(
        2,
        6,
        10**5,
        _one(20, 999),
        "the sum of the decimal digits of $10^{{{n}}} - {p}$",
        _nines,
        lambda n, p: f"10^{n} - 1 less {p - 1}: {n} nines less the digits of {p - 1}",
    ),
    "order": Lemma(
        3,
        20,
        10**5,
        _coprime(2, 30),
        "the smallest positive integer $k$ such that ${p}^k - 1$ is divisible by ${n}$",
        lambda n, p: nt.order(p, n),
        lambda n, p: f"the order of {p} modulo {_powers_text(n)}",
    ),
    "lifted": Lemma(
        3,
        20,
        10**5,
        _lift,
        "the largest integer $k$ such that ${p}^k$ divides ${q}^{{{n}!}} - {r}^{{{n}!}}$",
        _lifted,
        lambda n, p, q, r: (
            f"lifting the exponent: {nt.valuation(p, q - r)} + {nt.factorial_valuation(p, n)}, the "
            f"exponents of {p} in {q} - {r} and in {n}!"
        ),
    ),
    "triangles": Lemma(
        3,
        20,
        600,
        _none,
        "the number of triangles, up to congruence, with integer sides and perimeter ${n}$",
        _triangles,
        lambda n: f"the integer nearest to {n if n % 2 == 0 else n + 3}^2 / 48",
    ),
    "gcd_sum": Lemma(
        3,
        12,
        10**4,
        _none,
        "the sum of $\\gcd(k, {n})$ over all integers $k$ from $1$ to ${n}$",
        _gcd_sum,
        lambda n: f"a multiplicative function; {_powers_text(n)} gives p^(e-1) (p + e(p - 1)) each",
    ),
    "primitive_roots": Lemma(
        3,
        20,
        10**5,
        _none,
        "the number of primitive roots modulo $p$, where $p$ is the smallest prime greater than "
        "${n}$",
        lambda n: nt.totient(_next_prime(n) - 1),
        lambda n: f"p = {_next_prime(n)}, and Euler's totient of p - 1 counts them",
    ),
    "odd_binomials": Lemma(
        3,
        100,
        10**6,
        _none,
        "the number of odd entries among the binomial coefficients $\\binom{{{n}}}{{0}}, "
        "\\binom{{{n}}}{{1}}, \\dots, \\binom{{{n}}}{{{n}}}$",
        _odd_binomials,
        lambda n: f"2 to the number of ones in the binary form {n:b}, by Lucas",
    ),
    "fibonacci": Lemma(
        3,
        15,
        10**6,
        lambda rng, n: (draw_prime(rng, 29, 199),),
        "the remainder when the Fibonacci number $F_{{{n}}}$ is divided by ${p}$ (with $F_1 = F_2 "
        "= 1$)",
        nt.fibonacci,
        lambda n, p: f"the remainders repeat with period {nt.fibonacci_period(p)}",
    ),
    "tower": Lemma(
        3,
        6,
        10**6,
        _power,
        "the remainder when $7^{{{p}^{{{n}}}}}$ is divided by ${q}$",
        lambda n, p, q: nt.tower(7, (p, n), q),
        lambda n, p, q: (
            f"the powers of 7 have the period {nt.order(7, q)} modulo {q}, and {p}^{n} leaves "
            f"{pow(p, n, nt.order(7, q))} modulo it"
        ),
    ),
    "lattice_circle": Lemma(
        3,
        30,
        10**5,
        _none,
        "the number of points with integer coordinates on the circle $x^2 + y^2 = {n}^2$",
        _lattice,
        lambda n: f"4 times the product of 2e + 1 over primes 4k + 1 in {_powers_text(n)}",
    ),
}
NAMES = tuple(LEMMAS)

_LEAST, _MOST = 6, 10**6  # of the numbers in a chain
_LEAST_LAST = 20
# Their answers take few values, so a chain does not end with them.
_NARROW = ("digit_sum", "egyptian", "odd_binomials", "lattice_circle")
_ATTEMPTS = 500
_BRANCHES = 5  # lemmas that a solver would try at each idea, for the estimate of the effort
_STATED = re.compile(r"^[ \t$*-]*x_\{?([0-9]{1,3})\}? *= *(-?[0-9]{1,30})(?![0-9.])", re.MULTILINE)
_LABEL = re.compile(r"x_\{?[0-9]{1,3}\}? *= *")


@dataclass(frozen=True, slots=True, kw_only=True)
class LemmaChainConfig(TaskConfig):
    """The lemmas, how many are chained, and how answers are scored."""

    lemmas: tuple[str, ...] = knob(NAMES, "which lemmas are drawn from", choices=NAMES)
    n_steps: int = knob(4, "how many lemmas are chained", low=1, high=100)
    max_start: int = knob(100, "the first number is drawn from 12..max_start", low=20, high=10**5)
    credit: str = knob(
        "final",
        "what is answered and judged: the last number, or all numbers with credit for the first "
        "right ones",
        choices=("final", "steps"),
    )

    @classmethod
    def at(cls, difficulty: int) -> "LemmaChainConfig":
        """Each level takes its lemmas from a harder part of the list, every second adds a step.

        Counting comes first; then inclusion and exclusion, arithmetic functions and symmetric
        functions of roots, and at the end orders, lifted exponents, towers, periods and lattice
        points. The first number grows a little.
        """
        return cls(
            lemmas=window(NAMES, difficulty, width=11),
            n_steps=min(2 + difficulty // 2, 100),
            max_start=min(60 + 10 * difficulty, 10**5),
        )


@dataclass(frozen=True, slots=True)
class Link:
    """One step of a chain: a lemma and its parameters."""

    lemma: str
    parameters: Parameters


@dataclass(frozen=True, slots=True)
class LemmaChain:
    """The first number, the steps, and the number after each of them."""

    start: int
    links: tuple[Link, ...]
    values: tuple[int, ...] = hidden()


@register("LemmaChain-v0", domain="math")
class LemmaChainTask(Task[LemmaChainConfig, LemmaChain]):
    """Answer a chain of questions, each about the answer of the one before.

    Description:
        A number is given. Each step asks for another one that depends on it: from counting,
        number theory, algebra, geometry and probability. There are 27 lemmas, each with a short
        argument or a closed form. `explain` gives the number of each step with its reason, and
        `step_credit` reads such lines.

    Observation:
        The first number, and one sentence for each step.

    Action:
        One integer: the last number. With ``credit="steps"`` all numbers in order, separated by
        commas.

    Reward:
        1 for the last number, otherwise 0. With ``credit="steps"`` the share of steps before the
        first wrong number, so that only all right numbers earn 1; a list of another length earns 0.

    Verification:
        Exact, on integers.

    Difficulty:
        The lemmas need more ideas and the chain gets longer. One wrong step spoils all later ones.

    References:
        Engel, Problem-Solving Strategies, chapters 5, 6 and 8; Graham, Knuth and Patashnik,
        Concrete Mathematics, chapters 1, 4 and 6.
    """

    def generate(self, rng: Rng) -> LemmaChain:
        for _ in range(_ATTEMPTS):
            start = integer(rng, 12, self.config.max_start)
            chain = self._chained(rng, start)
            if chain is not None:
                stated = {start, *(p for link in chain.links for p in link.parameters)}
                if chain.values[-1] not in stated:
                    return chain
        raise ConfigError(
            f"no chain of {self.config.n_steps} steps was found with lemmas={self.config.lemmas}: "
            "allow more lemmas or fewer steps"
        )

    def _chained(self, rng: Rng, n: int) -> LemmaChain | None:
        """Return a chain from a number, or None where it leads into a dead end."""
        start, links, values = n, list[Link](), list[int]()
        while len(links) < self.config.n_steps:
            last = len(links) + 1 == self.config.n_steps
            found = None
            for _ in range(len(self.config.lemmas)):
                name = pick(rng, self.config.lemmas)
                lemma = LEMMAS[name]
                repeated = bool(links) and links[-1].lemma == name and len(self.config.lemmas) > 1
                if repeated or not lemma.low <= n <= lemma.high or (last and name in _NARROW):
                    continue
                parameters = lemma.draw(rng, n)
                value = lemma.value(n, *parameters)
                if (_LEAST_LAST if last else _LEAST) <= value <= _MOST and value != n:
                    found = Link(name, parameters), value
                    break
            if found is None:
                return None
            links.append(found[0])
            n = found[1]
            values.append(n)
        return LemmaChain(start, tuple(links), tuple(values))

    def prompt(self, problem: LemmaChain) -> str:
        count = len(problem.links)
        lines = [f"Let $x_0 = {problem.start}$."]
        for k, link in enumerate(problem.links):
            fields = dict(zip("pqr", link.parameters, strict=False))
            asked = LEMMAS[link.lemma].text.format(n=_name(k), **fields)
            lines.append(f"Let ${_name(k + 1)}$ be {asked}.")
        if self.config.credit == "final":
            lines.append(f"Find ${_name(count)}$. Answer with one integer.")
        else:
            lines.append(
                f"Answer with the integers ${_name(1)}$ to ${_name(count)}$ in this order, "
                f"separated by commas, {count} in all. If they are right up to some place, you "
                "earn the share of that part."
            )
        return "\n".join(lines)

    def verify(self, problem: LemmaChain, answer: str) -> Verdict:
        if self.config.credit == "final":
            return judge_math(str(problem.values[-1]), answer, answer_type="integer")
        found = parse.integers(_LABEL.sub("", answer.replace("$", "")[:20_000]))
        count = len(problem.values)
        if found is None or len(found) != count:
            return Verdict.unparsable(f"expected {count} integers, separated by commas")
        wrong = [k for k in range(count) if found[k] != problem.values[k]]
        right = wrong[0] if wrong else count
        return Verdict.graded(right / count, f"the first {right} of {count} numbers are right")

    def solve(self, problem: LemmaChain) -> str:
        if self.config.credit == "final":
            return str(problem.values[-1])
        return ", ".join(map(str, problem.values))

    def explain(self, problem: LemmaChain) -> list[str]:
        """Return a line such as ``x_1 = 18: the digits of 45 * 57 = 2565`` for each step."""
        lines, n = [], problem.start
        for k, link in enumerate(problem.links):
            lemma = LEMMAS[link.lemma]
            value = lemma.value(n, *link.parameters)
            lines.append(f"x_{k + 1} = {value}: {lemma.reason(n, *link.parameters)}")
            n = value
        return lines

    def step_credit(self, problem: LemmaChain, solution: str) -> float:
        """Return the share of steps whose number a solution states rightly.

        Lines that begin like those of `explain` count; of several about one step, the last.
        """
        stated = {int(k): int(value) for k, value in _STATED.findall(solution)}
        right = sum(stated.get(k + 1) == value for k, value in enumerate(problem.values))
        return right / len(problem.values)

    def effort(self, problem: LemmaChain) -> float:
        """Estimate a search for the ideas of each step, and count the digits of the solution.

        A solver who tries five lemmas wherever an idea is needed makes ``5 ** ideas`` tries.
        """
        tries = sum(_BRANCHES ** LEMMAS[link.lemma].ideas for link in problem.links)
        return float(tries + written(self.explain(problem)))

    def baseline(self, rng: Rng, problem: LemmaChain) -> str:
        """Work out the first step, and take its number for all later ones."""
        link = problem.links[0]
        value = LEMMAS[link.lemma].value(problem.start, *link.parameters)
        if self.config.credit == "final":
            return str(value)
        return ", ".join([str(value)] * len(problem.links))


def _name(k: int) -> str:
    return f"x_{k}" if k < 10 else f"x_{{{k}}}"
