"""Repairing a program that has mistakes in it."""

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import ClassVar

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.programs.broken_programs import (
    Test,
    draw_repair,
    failing_tests_in_words,
    task_in_words,
)
from rlvr_envs.generators.programs.emit import EMITTED
from rlvr_envs.sandboxes import languages
from rlvr_envs.verifiers.program import StdioTest, judge_stdio

_N_PUBLIC = 4  # of which those that fail are shown
_N_HIDDEN = 10
_N_SHOWN = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRepairConfig(TaskConfig):
    """How long the program is, how many mistakes it has, and what it is written in."""

    size: int = knob(4, "approximate number of statements", low=1)
    n_mistakes: int = knob(1, "mistakes in the program", low=1)
    language: str = knob("python", "language of the programs", choices=EMITTED)

    @classmethod
    def at(cls, difficulty: int) -> "ProgramRepairConfig":
        """Every level adds a statement, every third a mistake."""
        return cls(size=2 + difficulty, n_mistakes=1 + difficulty // 3)


@dataclass(frozen=True, slots=True)
class ProgramRepairProblem:
    """What the program should do, the program with the mistakes, and tests that it fails."""

    statement: str
    source: str
    language: str
    n_mistakes: int
    failing: tuple[Test, ...]
    tests: tuple[Test, ...] = hidden()
    repaired: str = hidden()


@register("ProgramRepair-v0", domain="code", answer_format="fenced:{language}")
class ProgramRepairTask(Task[ProgramRepairConfig, ProgramRepairProblem]):
    """Find and correct the mistakes in a program, given what it should do.

    Description:
        Half of the programs answer an algorithmic question that is asked in words; the others are
        random and described step by step. Mistakes such as people make are put in: a wrong
        operator, variable or index, a loop that starts late or ends early, swapped branches, a
        missing statement. Each of them alone changes what the program prints for a hidden test.

    Observation:
        What the program should do, in words that cover every case; the program, in any of the
        languages, with the number of mistakes; and two tests that it fails.

    Action:
        The whole program, corrected, or another one that does the same.

    Reward:
        1 if it prints what it should for every hidden test, otherwise 0.

    Verification:
        Ten hidden tests or more, other than those shown, in a process each; the words of the output
        are compared, not the white space between. They are chosen so that programs with a mistake
        fail them. Expected outputs come from an interpreter of the
        program's own representation. The given program fails at least two of the tests.
        A program that is right for the hidden tests and wrong for other inputs passes.

    Difficulty:
        The program's length and the number of mistakes grow.

    References:
        DeMillo, Lipton and Sayward, "Hints on Test Data Selection", 1978, for mistakes as small
        changes of a program.
    """

    judged_in_sandbox: ClassVar[bool] = True

    def generate(self, rng: Rng) -> ProgramRepairProblem:
        config = self.config
        repair = draw_repair(
            rng,
            language=config.language,
            size=config.size,
            n_mistakes=config.n_mistakes,
            n_public=_N_PUBLIC,
            n_hidden=_N_HIDDEN,
        )
        return ProgramRepairProblem(
            statement=repair.statement,
            source=repair.broken,
            language=config.language,
            n_mistakes=repair.n_mistakes,
            failing=tuple(test for test in repair.public if test.fails)[:_N_SHOWN],
            tests=repair.hidden,
            repaired=repair.fixed,
        )

    def prompt(self, problem: ProgramRepairProblem) -> str:
        language = languages.find(problem.language)
        return (
            f"{task_in_words(problem)}\n\n{failing_tests_in_words(problem.failing)}\n\n"
            f"Correct the program and answer with the whole program. {language.prompt} It is "
            "judged by its output for other inputs, so any program that does what is described is "
            "accepted."
        )

    def verify(self, problem: ProgramRepairProblem, answer: str) -> Verdict:
        tests = [StdioTest(test.stdin, test.expected) for test in problem.tests]
        return judge_stdio(answer, problem.language, tests)

    def solve(self, problem: ProgramRepairProblem) -> str:
        return problem.repaired

    def effort(self, problem: ProgramRepairProblem) -> int:
        """Count the words and signs among which the mistakes are, once for each mistake."""
        return problem.n_mistakes * code_length(problem.source)

    def baseline(self, rng: Rng, problem: ProgramRepairProblem) -> str:
        """Return the program as it is given."""
        return problem.source

    def explain(self, problem: ProgramRepairProblem) -> list[str]:
        """Return each change from the program given to the right one, from top to bottom."""
        old, new = problem.source.splitlines(), problem.repaired.splitlines()
        steps = ["Compare what the program should do with its lines, one by one."]
        for kind, low, high, start, end in SequenceMatcher(None, old, new, False).get_opcodes():
            if kind == "equal":
                continue
            if low == high:
                steps.append(f"Something is missing after line {low}.")
            elif high - low == 1:
                steps.append(f"Line {high} is wrong:")
            else:
                steps.append(f"Lines {low + 1} to {high} are wrong:")
            steps += old[low:high]
            steps.append("It should be:" if end > start else "It should not be there.")
            steps += new[start:end]
        return [line for line in steps if line.strip()]
