"""The checks themselves: tasks with one planted fault each are caught by the check meant for it."""

import os
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from rlvr_envs.conformance import CHECKS, ConformanceError, NotApplicable, Subject
from rlvr_envs.core import registry
from rlvr_envs.core.answer import Extraction, Tag
from rlvr_envs.core.gym_ids import register_ids
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.verifiers import parse


@dataclass(frozen=True, slots=True, kw_only=True)
class SumConfig:
    limit: int = 10**6

    @classmethod
    def at(cls, difficulty):
        """The limit grows tenfold."""
        return cls(limit=10 ** (difficulty + 5))


@dataclass(frozen=True, slots=True)
class SumProblem:
    a: int
    b: int
    total: int = hidden()


class SumTask(Task[SumConfig, SumProblem]):
    """Add two numbers.

    Description:
        Two numbers.
    Observation:
        Two numbers.
    Action:
        A number.
    Reward:
        1 or 0.
    Episode End:
        One step.
    Verification:
        Exact.
    Difficulty:
        Size.
    References:
        None needed.
    Version History:
        v0: first.
    """

    def generate(self, rng):
        a, b = integer(rng, 1, self.config.limit), integer(rng, 1, self.config.limit)
        return SumProblem(a, b, a + b)

    def prompt(self, problem):
        return f"What is {problem.a} + {problem.b}?"

    def verify(self, problem, answer):
        right = answer.strip() == str(problem.total)
        return Verdict.correct() if right else Verdict.wrong("not the sum")

    def solve(self, problem):
        return str(problem.total)

    def explain(self, problem):
        return [f"Add {problem.b} to {problem.a}."]

    def effort(self, problem):
        return len(str(problem.total))

    def baseline(self, rng, problem):
        return str(problem.a)


class SubstringCredit(SumTask):
    __doc__ = SumTask.__doc__

    def verify(self, problem, answer):
        return Verdict.correct() if str(problem.total) in answer else Verdict.wrong("no")


class RaisingVerifier(SumTask):
    __doc__ = SumTask.__doc__

    def verify(self, problem, answer):
        right = int(answer) == problem.total
        return Verdict.correct() if right else Verdict.wrong("no")


class GlobalRandomness(SumTask):
    __doc__ = SumTask.__doc__

    def generate(self, rng):
        a = random.randrange(10**6)
        return SumProblem(a, a, a + a)


class Leak(SumTask):
    __doc__ = SumTask.__doc__

    def prompt(self, problem):
        return f"What is {problem.a} + {problem.b}? (Do not say {problem.total}.)"


class TellsTheAnswer(SumTask):
    __doc__ = SumTask.__doc__

    def verify(self, problem, answer):
        right = answer.strip() == str(problem.total)
        return Verdict.correct() if right else Verdict.wrong(f"not {problem.total}")


class NothingHidden(SumTask):
    __doc__ = SumTask.__doc__

    def generate(self, rng):
        a = integer(rng, 1, 10**6)
        return SumProblem(a, a, a + a)

    def solve(self, problem):
        return str(problem.total + 1)


class TinySpace(SumTask):
    __doc__ = SumTask.__doc__

    def generate(self, rng):
        a = integer(rng, 1, 9)
        return SumProblem(a, a, a + a)


class ConstantAnswer(SumTask):
    __doc__ = SumTask.__doc__

    def generate(self, rng):
        a = integer(rng, 1, 10**6)
        return SumProblem(a, -a, 0)


class AcceptsTheQuestion(SumTask):
    __doc__ = SumTask.__doc__

    def prompt(self, problem):
        return f"What is ${problem.a}+{problem.b}$?"

    def verify(self, problem, answer):
        terms = answer.split("+")
        if all(term.isascii() and term.isdecimal() and len(term) < 20 for term in terms):
            right = sum(map(int, terms)) == problem.total
            return Verdict.correct() if right else Verdict.wrong("not the sum")
        return Verdict.unparsable("not a number")


class Undocumented(SumTask):
    """Add two numbers."""


class Writes(SumTask):
    __doc__ = SumTask.__doc__

    def verify(self, problem, answer):
        from pathlib import Path

        Path("/dev/full").open("a").close()
        return super().verify(problem, answer)


class FlatLevels(SumTask):
    __doc__ = SumTask.__doc__

    def generate(self, rng):
        a = integer(rng, 10**5, 10**6 - 1)
        return SumProblem(a, a, a + a)


class StepIsAnAnswer(SumTask):
    __doc__ = SumTask.__doc__

    def explain(self, problem):
        return [f"It is <answer>{problem.total}</answer>."]


class StepHidesTheAnswer(SumTask):
    __doc__ = SumTask.__doc__

    def explain(self, problem):
        return ["Now think <think>"]


class StepsChange(SumTask):
    __doc__ = SumTask.__doc__

    def explain(self, problem):
        return [f"Problem at {id(problem)}."]


class StepsNeedTheDrawing(SumTask):
    __doc__ = SumTask.__doc__

    def generate(self, rng):
        problem = super().generate(rng)
        self.last = [f"Add {problem.b}."]
        return problem

    def __getstate__(self):
        return {"config": self.config, "last": ["nothing"]}

    def explain(self, problem):
        return self.last


class StepEndsItsLine(SumTask):
    __doc__ = SumTask.__doc__

    def explain(self, problem):
        return [f"Add {problem.b}.\n"]


class EmptyStep(SumTask):
    __doc__ = SumTask.__doc__

    def explain(self, problem):
        return ["Add.", ""]


class OneTextForAll(SumTask):
    __doc__ = SumTask.__doc__

    def explain(self, problem):
        return f"Add {problem.b}."


class EndlessSteps(SumTask):
    __doc__ = SumTask.__doc__

    def explain(self, problem):
        return [f"Add {problem.b}, one by one."] * 1_000


class EasierEffort(SumTask):
    __doc__ = SumTask.__doc__

    def effort(self, problem):
        return 1 / problem.total


class BaselinePeeks(SumTask):
    __doc__ = SumTask.__doc__

    def baseline(self, rng, problem):
        return str(problem.total + 1)


class BaselineMumbles(SumTask):
    __doc__ = SumTask.__doc__

    def verify(self, problem, answer):
        if not answer.strip().isdecimal():
            return Verdict.unparsable("not a number")
        return super().verify(problem, answer)

    def baseline(self, rng, problem):
        return "no idea"


class BaselineGains(SumTask):
    __doc__ = SumTask.__doc__

    def baseline(self, rng, problem):
        return str(problem.a + problem.b if self.config.limit > 10**7 else problem.a)


class SmallestNumber(SumTask):
    __doc__ = SumTask.__doc__

    def generate(self, rng):
        a, b = integer(rng, 1, self.config.limit), integer(rng, 1, self.config.limit)
        return SumProblem(a, b, min(a, b))


class SameLevels(SumTask):
    __doc__ = SumTask.__doc__

    def generate(self, rng):
        a = integer(rng, 1, 10 ** (5 + (len(str(self.config.limit)) - 6) // 2))
        return SumProblem(a, a, a + a)


FAULTS = [
    (EasierEffort, "effort_grows"),
    (BaselinePeeks, "baseline_is_fair"),
    (BaselineMumbles, "baseline_is_fair"),
    (BaselineGains, "baseline_gains_nothing"),
    (SmallestNumber, "shortcuts_do_not_pay"),
    (SameLevels, "levels_differ"),
    (TinySpace, "level_zero_is_wide"),
    (SubstringCredit, "buried_oracle_earns_nothing"),
    (RaisingVerifier, "trouble_earns_nothing"),
    (GlobalRandomness, "global_randomness_is_untouched"),
    (Leak, "prompt_shows_nothing_hidden"),
    (TellsTheAnswer, "details_keep_the_answer"),
    (NothingHidden, "oracle_earns_full_marks"),
    (TinySpace, "neighbouring_seeds_share_nothing"),
    (ConstantAnswer, "shortcuts_do_not_pay"),
    (AcceptsTheQuestion, "shortcuts_do_not_pay"),
    (Undocumented, "documentation_is_complete"),
    (Writes, "nothing_is_written"),
    (FlatLevels, "problems_grow_with_the_level"),
    (StepIsAnAnswer, "explanation_holds"),
    (StepHidesTheAnswer, "explanation_holds"),
    (StepsChange, "explanation_holds"),
    (StepsNeedTheDrawing, "explanation_holds"),
    (StepEndsItsLine, "explanation_holds"),
    (EmptyStep, "explanation_holds"),
    (OneTextForAll, "explanation_holds"),
    (EndlessSteps, "explanation_holds"),
]


@pytest.fixture
def filed():
    """Register a task for one test."""

    def file(task_type, domain="math"):
        register("Planted-v0", domain=domain, answer_format="tag")(task_type)
        register_ids()
        return "rlvr/Planted-v0"

    yield file
    registry._SPECS.pop("rlvr/Planted-v0", None)


@pytest.mark.parametrize(("task_type", "check"), FAULTS)
def test_planted_fault_is_caught(filed, task_type, check):
    with pytest.raises(ConformanceError):
        CHECKS[check](Subject(filed(task_type)))


def first_tag(_, text):
    return Extraction(text.partition("<answer>")[2].partition("</answer>")[0])


def last_tag(_, text):
    return Extraction(text.rpartition("<answer>")[2].partition("</answer>")[0])


@pytest.mark.parametrize(
    ("find", "check", "message"),
    [
        (first_tag, "last_answer_counts", "a retracted right answer"),
        (last_tag, "answers_are_found", "the instruction repeated after it"),
    ],
)
def test_a_careless_search_for_the_answer_is_caught(filed, monkeypatch, find, check, message):
    monkeypatch.setattr(Tag, "find", find)
    with pytest.raises(ConformanceError, match=message):
        CHECKS[check](Subject(filed(SumTask)))


class OneSpelling(SumTask):
    __doc__ = SumTask.__doc__

    def verify(self, problem, answer):
        return Verdict.correct() if answer == self.solve(problem) else Verdict.wrong("not both")

    def solve(self, problem):
        return f"{problem.a}, {problem.b}, {problem.total}"


class ManySpellings(OneSpelling):
    __doc__ = SumTask.__doc__

    def verify(self, problem, answer):
        right = parse.integers(answer) == parse.integers(self.solve(problem))
        return Verdict.correct() if right else Verdict.wrong("not both")


def test_a_reader_of_one_spelling_is_caught(filed):
    filed(OneSpelling, domain="puzzles")
    with pytest.raises(ConformanceError, match="a full stop"):
        CHECKS["spellings_are_read"](Subject("rlvr/Planted-v0"))


def test_a_reader_of_many_spellings_passes(filed):
    filed(ManySpellings, domain="puzzles")
    CHECKS["spellings_are_read"](Subject("rlvr/Planted-v0"))


@pytest.mark.parametrize("check", [n for n in CHECKS if n != "same_problem_in_a_fresh_process"])
def test_sound_task_passes(filed, check):
    subject = Subject(filed(SumTask))
    if check == "spellings_are_read":
        with pytest.raises(NotApplicable):
            CHECKS[check](subject)
    else:
        CHECKS[check](subject)


HASH_ORDER = """
import json, sys
from test_checks_catch_faults import SumProblem, SumTask
from rlvr_envs.conformance.digests import digest
from rlvr_envs.core.registry import register

@register("HashOrder-v0", domain="math", answer_format="tag")
class HashOrder(SumTask):
    def generate(self, rng):
        a = abs(hash(f"word {rng.integers(10**9)}")) % 10**6
        return SumProblem(a, a, a + a)

print(digest("rlvr/HashOrder-v0"))
"""


def test_hash_order_shows_between_processes():
    digests = set()
    for hash_seed in ("0", "4242"):
        here = str(Path(__file__).parent)
        done = subprocess.run(
            [sys.executable, "-c", HASH_ORDER],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": here},
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(done.stdout)
    assert len(digests) == 2
