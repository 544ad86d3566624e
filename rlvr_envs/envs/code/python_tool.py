"""Questions that take a computation, with Python at hand before the answer."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from rlvr_envs.core.errors import SandboxError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.core.task import InteractiveTask, Reply
from rlvr_envs.core.tools import BadCall, Tool
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.slow_programs.composed import compose, step_name
from rlvr_envs.sandboxes.base import Limits
from rlvr_envs.sandboxes.tool import Message, PythonRuns, block, read_message
from rlvr_envs.verifiers.symbolic import judge_math


@dataclass(frozen=True, slots=True)
class Question:
    """A question in words, the function that answers it, and its arguments."""

    words: str
    function: Callable[..., int]
    args: tuple[Any, ...]

    def answer(self) -> int:
        """Return the answer."""
        return self.function(*self.args)


LIMITS = Limits(cpu_s=5.0)
_LEAST = 10**5  # no answer is closer to 0, so that none can be guessed
_TRIES = 60  # a draw in three fails at worst


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonToolConfig(TaskConfig):
    """How much there is to compute, and how many messages there are for it."""

    n_questions: int = knob(1, "questions, whose answers are added up with weights", low=1)
    tier: int = knob(1, "the hardest kind of question", low=0, high=2)
    size: int = knob(2, "size of the numbers in the questions", low=0)
    n_turns: int = knob(6, "messages of the model, including the one with the answer", low=1)

    @classmethod
    def at(cls, difficulty: int) -> "PythonToolConfig":
        """Kinds of questions get harder up to level 2; every third adds one; numbers grow.

        From level 4 on there are fewer and fewer messages, down to one run and one answer.
        """
        return cls(
            n_questions=1 + difficulty // 3,
            tier=min(difficulty, len(DRAWS) - 1),
            size=difficulty,
            n_turns=max(2, 6 - max(0, difficulty - 2) // 2),
        )


@dataclass(frozen=True, slots=True)
class PythonToolProblem:
    """The question, its answer, and a program that computes it."""

    question: str
    n_turns: int
    answer: int = hidden()
    program: str = hidden()


class PythonToolSession:
    """One episode; the sandbox is opened at the first run and closed at the end.

    An episode that is dropped closes it too: the sandbox's session does that by itself.
    """

    def __init__(self, problem: PythonToolProblem) -> None:
        self._problem = problem
        self._python = PythonRuns(LIMITS)
        self._turns = self._runs = self._idle = 0

    def reply(self, action: str) -> Reply:
        """Run the code of a message, or judge the answer in it."""
        self._turns += 1
        left = self._problem.n_turns - self._turns
        message = read_message(action)
        if message.answer is not None:
            return self._end(message.answer)
        if left < 1:
            self._python.close()
            told = f"there was no final answer within {self._problem.n_turns} messages"
            verdict = Verdict.wrong(told, **self._parts())
            return Reply("", verdict, void=message.code is None, out_of_turns=True)
        note = f"({left} more {'message' if left == 1 else 'messages'}.)"
        if message.code is None:
            self._idle += 1
            return Reply(
                "Send Python code in a ```python block, or the final answer between <answer> and "
                f"</answer>. {note}",
                void=True,
            )
        try:
            output = self._python.run(message.code)
        except SandboxError as error:
            told = f"the sandbox failed: {error!s:.200}"
            return Reply("", Verdict.verifier_error(told, **self._parts()))
        self._runs += 1
        return Reply(f"{output}\n{note}")

    def _end(self, answer: str) -> Reply:
        self._python.close()
        verdict = judge_math(str(self._problem.answer), answer, answer_type="integer")
        parts = {**verdict.parts, **self._parts()}
        return Reply("", Verdict(verdict.score, verdict.status, verdict.detail, parts))

    def _parts(self) -> dict[str, float]:
        """Return how the messages were used; training may leave out episodes with idle ones."""
        return {
            "turns": float(self._turns),
            "tool_runs": float(self._runs),
            "idle_turns": float(self._idle),
        }


@register("PythonTool-v0", domain="code", answer_format="tag", max_turns=32)
class PythonToolTask(InteractiveTask[PythonToolConfig, PythonToolProblem]):
    r"""Answer a question of counting or number theory, running Python first if need be.

    Description:
        Numbers of paths, permutations, strings and payments, terms of recurrences, sums over primes
        and orbits, determinants: short to state, long to work out by hand, and quickly computed by
        a program. Answers have six digits or more.

    Observation:
        The question and the rules; then, after each run, what the code wrote: escaped, with the
        middle left out where it is long, and with a note of how many messages are left.

    Action:
        A message with a ```python code block, which is run, or with the final answer between
        `<answer>` and `</answer>` (or in `\boxed{}`). A message with both is judged by the answer.

    Reward:
        1 for the right integer, otherwise 0.

    Episode End:
        With the final answer, or with the last message allowed.

    Verification:
        Exact, on integers computed by other means than the sandbox. Only the sandbox's own output
        is ever shown as output; what a message itself claims to be output is not read. Each run is
        a new process in a working directory that lasts for the episode. No known gaps.

    Difficulty:
        The number of questions, their kinds and their numbers grow, and the messages get fewer.

    References:
        Xue et al., "SimpleTIR: End-to-End Reinforcement Learning for Multi-Turn Tool-Integrated
        Reasoning", for leaving out episodes with messages that hold neither code nor answer
        (`parts["idle_turns"]` counts them).
    """

    judged_in_sandbox: ClassVar[bool] = True

    def generate(self, rng: Rng) -> PythonToolProblem:
        drawn = [self._draw(rng, number) for number in range(self.config.n_questions)]
        weights = [integer(rng, 2, 9) for _ in drawn]
        if len(drawn) == 1:
            question, weights = f"What is {drawn[0].words}?", [1]
        else:
            names = [_name(number) for number in range(len(drawn))]
            stated = [f"- {name}: {item.words}" for name, item in zip(names, drawn, strict=True)]
            total = " + ".join(f"{w} {name}" for w, name in zip(weights, names, strict=True))
            question = "Consider these numbers.\n\n" + "\n".join(stated) + f"\n\nWhat is {total}?"
        terms = [
            f"{weight} * {step_name(number)}{_arguments(item)}"
            for number, (weight, item) in enumerate(zip(weights, drawn, strict=True), 1)
        ]
        return PythonToolProblem(
            question=question,
            n_turns=self.config.n_turns,
            answer=sum(w * item.answer() for w, item in zip(weights, drawn, strict=True)),
            program=compose([item.function for item in drawn], f"print({' + '.join(terms)})"),
        )

    def _draw(self, rng: Rng, number: int) -> Question:
        """Draw a question: the first of the hardest kind allowed, the others of any."""
        tier = self.config.tier
        kinds = DRAWS[tier] if number == 0 else [d for draws in DRAWS[: tier + 1] for d in draws]
        question = pick(rng, kinds)(rng, self.config.size)
        for _ in range(_TRIES):
            if abs(question.answer()) >= _LEAST:
                break
            question = pick(rng, kinds)(rng, self.config.size)
        return question

    def prompt(self, problem: PythonToolProblem) -> str:
        last = (
            f"You have {problem.n_turns} messages; the last one must contain the final answer"
            if problem.n_turns > 1
            else "You have one message; it must contain the final answer"
        )
        return (
            f"{problem.question}\n\n"
            "You may run Python code before you answer. To run code, send a message with a code "
            "block that starts with ```python; if there are several, only the last one runs. You "
            "then see what it prints; long output is shortened. Each run is a new process: "
            "variables are lost, but files in the working directory stay. Only the standard "
            f"library is available. Each run may use {LIMITS.cpu_s:g} s of CPU time and "
            f"{LIMITS.memory_mib} MiB of memory.\n\n"
            "To finish, send a message with the final answer, an integer, between <answer> and "
            "</answer>, outside of any code block. Code in that message is not run. "
            f"{last}."
        )

    def begin(self, problem: PythonToolProblem) -> PythonToolSession:
        return PythonToolSession(problem)

    def play(self, problem: PythonToolProblem) -> list[str]:
        final = f"<answer>{problem.answer}</answer>"
        if problem.n_turns == 1:
            return [final]
        return [f"```python\n{problem.program}\n```", final]

    def tools(self, problem: PythonToolProblem) -> tuple[Tool, ...]:
        return (
            Tool("python", "Run a Python program.", {"code": "The program."}, _running),
            Tool("answer", "End the task.", {"answer": "The final answer."}, _answering),
        )

    def effort(self, problem: PythonToolProblem) -> int:
        """Count the words and signs of a program for it, times the digits of the answer."""
        return code_length(problem.program) * len(str(abs(problem.answer)))

    def baseline(self, rng: Rng, problem: PythonToolProblem) -> list[str]:
        """Answer at once with the largest number of the question."""
        largest = max(map(int, re.findall(r"\d+", problem.question)))
        return [f"<answer>{largest}</answer>"]


def _running(arguments: Mapping[str, str]) -> str:
    action = block(arguments["code"], "python")
    if read_message(action) != Message(arguments["code"], None):
        raise BadCall("the code is empty, or holds the marks of thoughts")
    return action


def _answering(arguments: Mapping[str, str]) -> str:
    action = f"<answer>{arguments['answer']}</answer>"
    if read_message(action) != Message(None, arguments["answer"].strip()):
        raise BadCall("the answer is empty, or holds the marks of an answer")
    return action


def _name(number: int) -> str:
    return chr(ord("A") + number) if number < 26 else f"A{number}"


def _arguments(question: Question) -> str:
    return f"({', '.join(map(repr, question.args))})"


# Counts and sums that take a computer, each with its words and exact arithmetic.
#
# The functions compute the answers, and their text is the code that the oracle runs. A `Draw` takes
# a size from 0 and returns the words of a question and the arguments of its function.


def digit_sum_count(n: int, k: int, r: int) -> int:
    # free[s] numbers have prefixes below that of n, with digit sum s modulo k.
    free, rest = [0] * k, 0
    for digit in map(int, str(n)):
        spread = [0] * k
        for s, count in enumerate(free):
            for d in range(10):
                spread[(s + d) % k] += count
        for d in range(digit):
            spread[(rest + d) % k] += 1
        free, rest = spread, (rest + digit) % k
    return free[r] + (rest == r) - (r == 0)


def grid_paths(width: int, height: int, blocked: list[tuple[int, int]]) -> int:
    closed = set(blocked)
    row = [0] * (width + 1)
    for y in range(height + 1):
        for x in range(width + 1):
            if (x, y) in closed:
                row[x] = 0
            elif x == 0:
                row[x] = 1 if y == 0 else row[x]
            else:
                row[x] += row[x - 1]
    return row[width]


def coin_ways(n: int, parts: list[int]) -> int:
    ways = [1] + [0] * n
    for part in parts:
        for total in range(part, n + 1):
            ways[total] += ways[total - part]
    return ways[n]


def recurrence_term(n: int, p: int, q: int, m: int) -> int:
    a, b, c, d = 1, 0, 0, 1
    e, f, g, h = p, q, 1, 0
    while n:
        if n % 2:
            a, b, c, d = a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h
            a, b, c, d = a % m, b % m, c % m, d % m
        e, f, g, h = e * e + f * g, e * f + f * h, g * e + h * g, g * f + h * h
        e, f, g, h = e % m, f % m, g % m, h % m
        n //= 2
    return c


def prime_sum(low: int, high: int, k: int, r: int) -> int:
    prime = bytearray([1]) * (high + 1)
    for p in range(2, int(high**0.5) + 1):
        if prime[p]:
            prime[p * p :: p] = bytes(len(range(p * p, high + 1, p)))
    return sum(p for p in range(max(low, 2), high + 1) if prime[p] and p % k == r)


def orbit_sum(x: int, a: int, c: int, m: int, steps: int) -> int:
    total = 0
    for _ in range(steps):
        x = (x * x + a * x + c) % m
        total += x
    return total


def determinant(size: int, a: int, b: int, c: int, m: int) -> int:
    rows = [
        [(a * i * i + b * i * j + c * j * j * j) % m for j in range(1, size + 1)]
        for i in range(1, size + 1)
    ]
    sign, last = 1, 1
    for k in range(size - 1):
        pivot = next((i for i in range(k, size) if rows[i][k]), None)
        if pivot is None:
            return 0
        if pivot != k:
            rows[k], rows[pivot], sign = rows[pivot], rows[k], -sign
        for i in range(k + 1, size):
            for j in range(k + 1, size):
                rows[i][j] = (rows[i][j] * rows[k][k] - rows[i][k] * rows[k][j]) // last
        last = rows[k][k]
    return sign * rows[-1][-1]


def power_sum(n: int, e: int, m: int) -> int:
    return sum(pow(i, e, m) for i in range(1, n + 1))


def near_permutations(n: int, w: int) -> int:
    # A state is the set of values already used, among those within w of the place.
    states = {(1 << w) - 1: 1}
    for place in range(n):
        following: dict[int, int] = {}
        for used, count in states.items():
            for shift in range(2 * w + 1):
                if 0 <= place + shift - w < n and not used >> shift & 1:
                    key = (used | 1 << shift) >> 1
                    following[key] = following.get(key, 0) + count
        states = following
    return sum(states.values())


def limited_runs(n: int, k: int, ones: int) -> int:
    # state[(run, count)]: strings so far by the run of ones at the end and the ones in all.
    state = {(0, 0): 1}
    for _ in range(n):
        following: dict[tuple[int, int], int] = {}
        for (run, count), ways in state.items():
            for key in ((0, count), (run + 1, count + 1)):
                if key[0] < k and key[1] <= ones:
                    following[key] = following.get(key, 0) + ways
        state = following
    return sum(ways for (_, count), ways in state.items() if count == ones)


Draw: TypeAlias = Callable[[Rng, int], Question]


def _digit_sums(rng: Rng, size: int) -> Question:
    n = integer(rng, 3 * 10 ** (6 + size), 10 ** (7 + size))
    k = integer(rng, 3, 9 + size)
    r = integer(rng, 0, k - 1)
    words = (
        f"the number of integers from 1 to {n} whose sum of decimal digits leaves the remainder "
        f"{r} when divided by {k}"
    )
    return Question(words, digit_sum_count, (n, k, r))


def _grid_paths(rng: Rng, size: int) -> Question:
    width, height = integer(rng, 11 + size, 14 + 2 * size), integer(rng, 11 + size, 14 + 2 * size)
    cells = {
        (integer(rng, 1, width - 1), integer(rng, 1, height - 1))
        for _ in range(integer(rng, 2, 3 + size))
    }
    blocked = sorted(cells)
    points = ", ".join(map(str, blocked))
    words = (
        f"the number of paths from (0, 0) to ({width}, {height}) on the integer grid, with steps "
        f"(1, 0) and (0, 1), that avoid the points {points}"
    )
    return Question(words, grid_paths, (width, height, blocked))


def _coins(rng: Rng, size: int) -> Question:
    parts = sorted(set(integers(rng, 1, 20 + 5 * size, 6 + size)))
    n = integer(rng, 300, 400 + 50 * size)
    words = (
        f"the number of ways to pay exactly {n} with coins of the values "
        f"{', '.join(map(str, parts))}, any number of each, where the order does not matter"
    )
    return Question(words, coin_ways, (n, parts))


def _recurrence(rng: Rng, size: int) -> Question:
    n = integer(rng, 10 ** (2 + size), 10 ** (3 + size))
    p, q = integer(rng, 2, 9 + size), integer(rng, 1, 9 + size)
    m = integer(rng, 10**7, 10**9)
    words = (
        f"the remainder of u({n}) when divided by {m}, where u(0) = 0, u(1) = 1 and "
        f"u(k) = {p} u(k - 1) + {q} u(k - 2)"
    )
    return Question(words, recurrence_term, (n, p, q, m))


def _primes(rng: Rng, size: int) -> Question:
    low = integer(rng, 10, 2000)
    high = low + integer(rng, 3000, 6000 + 3000 * min(size, 20))
    k = integer(rng, 3, 9 + size)
    r = pick(rng, (1, 2, k - 1))
    words = (
        f"the sum of the primes from {low} to {high} that leave the remainder {r} when divided "
        f"by {k}"
    )
    return Question(words, prime_sum, (low, high, k, r))


def _orbit(rng: Rng, size: int) -> Question:
    m = integer(rng, 10**4, 10 ** (5 + size))
    x, a, c = integer(rng, 1, 99), integer(rng, 1, 99), integer(rng, 1, 99)
    steps = integer(rng, 60, 100 * (1 + min(size, 40)))
    words = (
        f"the sum of x(1), ..., x({steps}), where x(0) = {x} and x(k) is the remainder of "
        f"x(k - 1)^2 + {a} x(k - 1) + {c} when divided by {m}"
    )
    return Question(words, orbit_sum, (x, a, c, m, steps))


def _determinant(rng: Rng, size: int) -> Question:
    n = integer(rng, 4, 5 + min(size, 20))
    a, b, c = integers(rng, 1, 99, 3)
    m = integer(rng, 60, 200)
    words = (
        f"the determinant of the {n} x {n} matrix whose entry in row i and column j (both from 1) "
        f"is the remainder of {a} i^2 + {b} i j + {c} j^3 when divided by {m}"
    )
    return Question(words, determinant, (n, a, b, c, m))


def _powers(rng: Rng, size: int) -> Question:
    n = integer(rng, 100, 300 * (1 + min(size, 20)))
    e = integer(rng, 3, 9 + 10 * size)
    m = integer(rng, 10**4, 10 ** (5 + size))
    words = (
        f"the sum, over all k from 1 to {n}, of the remainder of k^{e} when divided by {m} "
        "(the remainders are added, and the sum is not reduced)"
    )
    return Question(words, power_sum, (n, e, m))


def _permutations(rng: Rng, size: int) -> Question:
    w = integer(rng, 2, 3 + (size > 4))
    n = integer(rng, 14 + size, 24 + 3 * size)
    words = f"the number of permutations p of 1, ..., {n} with |p(i) - i| at most {w} for every i"
    return Question(words, near_permutations, (n, w))


def _runs(rng: Rng, size: int) -> Question:
    n = integer(rng, 26 + size, 34 + 3 * size)
    k = integer(rng, 3, 5)
    ones = integer(rng, n // 3, n // 2)
    words = (
        f"the number of binary strings of length {n} with exactly {ones} ones and without {k} "
        "ones in a row"
    )
    return Question(words, limited_runs, (n, k, ones))


# From those that a loop settles to those that take a plan.
DRAWS: tuple[tuple[Draw, ...], ...] = (
    (_powers, _orbit, _primes),
    (_recurrence, _coins, _grid_paths),
    (_digit_sums, _determinant, _runs, _permutations),
)
