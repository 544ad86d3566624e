"""Repairing a program over several messages, with tests that answer."""

from dataclasses import dataclass
from typing import ClassVar

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import InteractiveTask, Reply
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.programs.broken_programs import Test, draw_repair, task_in_words
from rlvr_envs.generators.programs.emit import EMITTED
from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.base import Case, Limits, Result, RunStatus
from rlvr_envs.sandboxes.shared import shared_sandbox
from rlvr_envs.sandboxes.tool import block, shown
from rlvr_envs.verifiers.program import StdioTest, judge_stdio, tokens

LIMITS = Limits(cpu_s=2.0)
_N_HIDDEN = 10
_TOOK = {
    RunStatus.CPU_TIMEOUT: f"the program was stopped after {LIMITS.cpu_s:g} s",
    RunStatus.WALL_TIMEOUT: "the program was stopped because it waited too long",
    RunStatus.MEMORY: "the program used too much memory",
    RunStatus.OUTPUT_LIMIT: "the program printed too much",
    RunStatus.SIGNAL: "the program crashed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairDialogueConfig(TaskConfig):
    """How long the program is, how many mistakes it has, and how many tries there are."""

    size: int = knob(4, "approximate number of statements", low=1)
    n_mistakes: int = knob(2, "mistakes in the program", low=1)
    n_public: int = knob(4, "public tests, whose failures are reported", low=2)
    n_tries: int = knob(4, "number of programs that may be sent", low=1)
    language: str = knob("python", "language of the programs", choices=EMITTED)

    @classmethod
    def at(cls, difficulty: int) -> "RepairDialogueConfig":
        """Every level adds a statement, every second a mistake and every fourth a try."""
        return cls(
            size=2 + difficulty,
            n_mistakes=1 + difficulty // 2,
            n_tries=3 + difficulty // 4,
        )


@dataclass(frozen=True, slots=True)
class RepairDialogueProblem:
    """What the program should do, the program with the mistakes, and the tests."""

    statement: str
    source: str
    language: str
    n_mistakes: int
    n_tries: int
    public: tuple[Test, ...] = hidden()  # reported one by one, where they fail
    tests: tuple[Test, ...] = hidden()
    repaired: str = hidden()


class RepairDialogueSession:
    """One episode: programs are sent, and the first public test that fails comes back."""

    def __init__(self, problem: RepairDialogueProblem) -> None:
        self._problem = problem
        self._tries = 0

    def reply(self, action: str) -> Reply:
        """Try the program of a message on the public tests, and if it passes on the hidden."""
        problem = self._problem
        self._tries += 1
        found = answer_format(f"fenced:{problem.language}").extract(action)
        told = f"Your message contains no program: {found.reason}."
        if found.answer is not None:
            results = self._results(found.answer)
            if results[-1].status is RunStatus.SANDBOX_ERROR:
                return Reply("", self._fault(results[-1]))
            reasons = [
                self._reason(test, result)
                for test, result in zip(problem.public, results, strict=False)
            ]
            told = next((reason for reason in reasons if reason), "")
            if not told:
                return Reply("", self._verdict(found.answer))
        left = problem.n_tries - self._tries
        if left > 0:
            tries = "try" if left == 1 else "tries"
            return Reply(f"{told}\n\n({left} more {tries}.)", void=found.answer is None)
        reason = f"no program passed the public tests within {problem.n_tries} tries"
        verdict = Verdict.wrong(reason, tries=float(self._tries), public=0.0)
        return Reply("", verdict, void=found.answer is None, out_of_turns=True)

    def _results(self, source: str) -> list[Result]:
        language = languages.find(self._problem.language)
        language.require()
        cases = [Case(stdin=test.stdin.encode()) for test in self._problem.public]
        job = language.job(source, limits=LIMITS)
        return shared_sandbox().run_batch(job, cases, stop_on_fault=True)

    def _reason(self, test: Test, result: Result) -> str:
        """Return what to tell of a public test, or the empty string if it is passed."""
        said = shown(result.stderr or result.stdout, 1000)
        if result.status is RunStatus.COMPILE_ERROR:
            return f"The program does not compile.\n\n{block(said)}"
        wrong = f"For this input:\n\n{block(test.stdin.rstrip(), 'text')}\n\n"
        if not result.ok:
            ended = _TOOK.get(result.status, "the program ended with an error")
            return f"{wrong}{ended}.\n\n{block(said)}" if said else f"{wrong}{ended}."
        output = result.stdout.decode("utf-8", "replace")
        if not result.stdout_truncated and not tokens(test.expected, output):
            return ""
        return (
            f"{wrong}the program should print:\n\n{block(test.expected.rstrip(), 'text')}\n\n"
            "but it printed:\n\n"
            f"{block(shown(result.stdout, 1000))}"
        )

    def _verdict(self, source: str) -> Verdict:
        tests = [StdioTest(test.stdin, test.expected) for test in self._problem.tests]
        verdict = judge_stdio(source, self._problem.language, tests, limits=LIMITS)
        parts = {**verdict.parts, "tries": float(self._tries), "public": 1.0}
        return Verdict(verdict.score, verdict.status, verdict.detail, parts)

    def _fault(self, result: Result) -> Verdict:
        return Verdict.verifier_error(f"the sandbox failed: {result.detail:.200}")


@register("RepairDialogue-v0", domain="code", answer_format="fenced:{language}", max_turns=32)
class RepairDialogueTask(InteractiveTask[RepairDialogueConfig, RepairDialogueProblem]):
    """Correct a program over several tries, with the first failing public test as feedback.

    Description:
        As `ProgramRepair-v0`: a program with mistakes in it, and what it should do in words. Here
        no failing test is shown at first; each program that is sent is run on public tests, and the
        first that fails comes back.

    Observation:
        What the program should do, the program, and the number of tries; after each try the input
        of the first public test that fails, what should be printed and what was, or how the
        program ended, or what the compiler said.

    Action:
        A message with the whole program in a code block of its language.

    Reward:
        1 if the program that passed the public tests passes the hidden ones too, otherwise 0.

    Episode End:
        With the first program that passes every public test, which is then judged by the hidden
        tests, or when there are no more tries.

    Verification:
        Ten hidden tests, other than the public ones, as in `ProgramRepair-v0`. They are run once an
        episode at most, and nothing about them is revealed before it ends, so that they cannot be
        searched. A message without a program counts as a try. A program that is right for the
        tests and wrong for other inputs passes.

    Difficulty:
        The program's length and the number of mistakes grow, and more slowly that of the tries.

    References:
        Gehring et al., "RLEF: Grounding Code LLMs in Execution Feedback with Reinforcement
        Learning", 2024, for feedback from public tests and reward from hidden ones.
    """

    judged_in_sandbox: ClassVar[bool] = True

    def generate(self, rng: Rng) -> RepairDialogueProblem:
        config = self.config
        repair = draw_repair(
            rng,
            language=config.language,
            size=config.size,
            n_mistakes=config.n_mistakes,
            n_public=config.n_public,
            n_hidden=_N_HIDDEN,
        )
        return RepairDialogueProblem(
            statement=repair.statement,
            source=repair.broken,
            language=config.language,
            n_mistakes=repair.n_mistakes,
            n_tries=config.n_tries,
            public=repair.public,
            tests=repair.hidden,
            repaired=repair.fixed,
        )

    def prompt(self, problem: RepairDialogueProblem) -> str:
        tries = "1 try" if problem.n_tries == 1 else f"{problem.n_tries} tries"
        return (
            f"{task_in_words(problem)}\n\nCorrect the program and send the whole program as one "
            f"```{problem.language} code block. {languages.find(problem.language).prompt}\n\n"
            "Your program is run on public tests. If it fails one, you see the first test that it "
            "fails and may send another program. The first program that passes all public tests is "
            f"judged by other, hidden tests, and the task ends. You have {tries}; a message "
            "without a program uses one."
        )

    def begin(self, problem: RepairDialogueProblem) -> RepairDialogueSession:
        return RepairDialogueSession(problem)

    def play(self, problem: RepairDialogueProblem) -> list[str]:
        return [answer_format(f"fenced:{problem.language}").wrap(problem.repaired)]

    def effort(self, problem: RepairDialogueProblem) -> int:
        """Count the words and signs among which the mistakes are, once for each mistake."""
        return problem.n_mistakes * code_length(problem.source)

    def baseline(self, rng: Rng, problem: RepairDialogueProblem) -> list[str]:
        """Send the program as it is given, as often as there are tries."""
        given = answer_format(f"fenced:{problem.language}").wrap(problem.source)
        return [given] * problem.n_tries
