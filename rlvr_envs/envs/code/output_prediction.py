"""Output prediction: say what a program prints."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.programs.emit import EMITTED, emit
from rlvr_envs.generators.programs.interpret import interpret
from rlvr_envs.generators.programs.json_text import program_text, read_program
from rlvr_envs.generators.programs.random_program import MAX_STEPS
from rlvr_envs.generators.programs.random_scope import MAX_INPUT, MAX_ITEMS
from rlvr_envs.generators.programs.sample_runs import (
    draw_execution,
    language_title,
    read_inputs,
    told_run,
)
from rlvr_envs.generators.programs.stdin import stdin_text
from rlvr_envs.verifiers.program_output import tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPredictionConfig(TaskConfig):
    """How long the program is, how large its inputs, and its language."""

    size: int = knob(8, "approximate number of statements")
    length: int = knob(6, "largest length of input lists and strings")
    magnitude: int = knob(20, "largest absolute value of input numbers")
    language: str = "python"

    def check(self) -> None:
        check_knobs(self.size, self.length, self.magnitude, self.language)

    @classmethod
    def at(cls, difficulty: int) -> "OutputPredictionConfig":
        """Each level adds two statements and makes the inputs longer."""
        return cls(
            size=1 + 2 * difficulty,
            length=min(3 + difficulty, MAX_ITEMS),
            magnitude=min(10 + 5 * difficulty, 200),
        )


@dataclass(frozen=True, slots=True)
class OutputPredictionProblem:
    """A program, its standard input, and what it prints."""

    language: str
    code: str
    stdin: str
    output: str = hidden()
    program: str = hidden("")  # as data, for worked solutions


@register("OutputPrediction-v0", domain="code", answer_format="tag")
class OutputPredictionTask(Task[OutputPredictionConfig, OutputPredictionProblem]):
    """Say what a random program prints on a given input.

    Description:
        A random program with loops, branches, lists, strings and helper functions, in any of
        fourteen languages. It ends, its numbers stay small enough to be exact in each language,
        and its output differs from what it prints on other inputs.

    Observation:
        The program and its standard input.

    Action:
        The standard output.

    Reward:
        1 for the exact output, otherwise 0; white space between words does not count.

    Verification:
        Comparison with the output of an interpreter of the program's representation, word by word.
        No program runs.

    Difficulty:
        The program and its inputs grow. The steps that it runs grow with the square of its size,
        within bounds.

    References:
        CodeBoost: Boosting Code LLMs by Squeezing Knowledge from Code Snippets with RL (forward
        prediction); Gu et al., CRUXEval, arXiv:2401.03065.
    """

    def generate(self, rng: Rng) -> OutputPredictionProblem:
        config = self.config
        drawn = draw_execution(rng, config.size, config.length, config.magnitude)
        return OutputPredictionProblem(
            config.language,
            emit(drawn.program, config.language),
            stdin_text(drawn.program, drawn.inputs),
            drawn.output,
            program_text(drawn.program),
        )

    def prompt(self, problem: OutputPredictionProblem) -> str:
        return (
            f"What does this {language_title(problem.language)} program print?\n\n"
            f"```{problem.language}\n{problem.code.rstrip()}\n```\n\nIts standard input is:\n\n"
            f"```\n{problem.stdin.rstrip()}\n```\n\nAnswer with the complete output and nothing "
            "else."
        )

    def verify(self, problem: OutputPredictionProblem, answer: str) -> Verdict:
        wrong = tokens(problem.output, answer)
        return Verdict.wrong(wrong) if wrong else Verdict.correct()

    def solve(self, problem: OutputPredictionProblem) -> str:
        return problem.output.rstrip("\n")

    def effort(self, problem: OutputPredictionProblem) -> int:
        """Count the statements and operators that the program runs."""
        program = read_program(problem.program)
        inputs = read_inputs(program, problem.stdin) or {}
        return interpret(program, inputs, max_steps=MAX_STEPS).steps

    def baseline(self, rng: Rng, problem: OutputPredictionProblem) -> str:
        """Return the input."""
        return problem.stdin.rstrip("\n")

    def explain(self, problem: OutputPredictionProblem) -> list[str]:
        """Return the run of the program, statement by statement; none of a very long one."""
        if not problem.program:
            return []
        return told_run(read_program(problem.program), problem.language, problem.stdin)


def check_knobs(size: int, length: int, magnitude: int, language: str) -> None:
    """Raise `ConfigError` where no program can be drawn by the knobs."""
    if size < 1 or not 1 <= length <= MAX_ITEMS or not 1 <= magnitude <= MAX_INPUT:
        raise ConfigError(
            f"need size >= 1, length from 1 to {MAX_ITEMS} and magnitude from 1 to {MAX_INPUT}, "
            f"got {size}, {length} and {magnitude}"
        )
    if language not in EMITTED:
        raise ConfigError(f"no programs in language {language!r} (known: {', '.join(EMITTED)})")
