"""Input prediction: find an input on which a program prints a given output."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.code.output_prediction import check_knobs
from rlvr_envs.generators.programs.emit import emit
from rlvr_envs.generators.programs.interpret import IrError, interpret
from rlvr_envs.generators.programs.json_text import program_text, read_program
from rlvr_envs.generators.programs.random_program import MAX_STEPS
from rlvr_envs.generators.programs.random_scope import MAX_ITEMS
from rlvr_envs.generators.programs.sample_runs import (
    draw_execution,
    input_format,
    language_title,
    read_inputs,
    simple_inputs,
    told_run,
)
from rlvr_envs.generators.programs.stdin import stdin_text


@dataclass(frozen=True, slots=True, kw_only=True)
class InputPredictionConfig(TaskConfig):
    """How long the program is, how large the inputs that it was run on, and its language."""

    size: int = knob(6, "approximate number of statements")
    length: int = knob(5, "largest length of input lists and strings")
    magnitude: int = knob(20, "largest absolute value of input numbers")
    language: str = "python"

    def check(self) -> None:
        check_knobs(self.size, self.length, self.magnitude, self.language)

    @classmethod
    def at(cls, difficulty: int) -> "InputPredictionConfig":
        """Each level adds two statements and makes the inputs longer."""
        return cls(
            size=1 + 2 * difficulty,
            length=min(2 + difficulty, MAX_ITEMS),
            magnitude=min(10 + 10 * difficulty, 500),
        )


@dataclass(frozen=True, slots=True)
class InputPredictionProblem:
    """A program in a language, what it reads and prints, and the program as data to judge by."""

    language: str
    code: str
    reads: str
    output: str
    program: str = hidden()
    witness: str = hidden()


@register("InputPrediction-v0", domain="code", answer_format="tag")
class InputPredictionTask(Task[InputPredictionConfig, InputPredictionProblem]):
    """Find an input on which a random program prints the given output.

    Description:
        A random program with loops, branches, lists, strings and helper functions, in any of
        fourteen languages, was run on random inputs that are not shown. Of a handful of other
        random inputs none gives the same output.

    Observation:
        The program, the form of its standard input, and its output.

    Action:
        A standard input.

    Reward:
        1 for any input of the stated form that gives the output, otherwise 0.

    Verification:
        An interpreter of the program's representation runs it on the input, with a limit on its
        steps; the output is compared word by word. No code runs.

    Difficulty:
        The program and the inputs behind the output grow. The steps that it runs grow with the
        square of its size, within bounds.

    References:
        CodeBoost: Boosting Code LLMs by Squeezing Knowledge from Code Snippets with RL (backward
        prediction); Gu et al., CRUXEval, arXiv:2401.03065.
    """

    def generate(self, rng: Rng) -> InputPredictionProblem:
        config = self.config
        drawn = draw_execution(rng, config.size, config.length, config.magnitude)
        return InputPredictionProblem(
            config.language,
            emit(drawn.program, config.language),
            input_format(drawn.program),
            drawn.output,
            program_text(drawn.program),
            stdin_text(drawn.program, drawn.inputs),
        )

    def prompt(self, problem: InputPredictionProblem) -> str:
        return (
            f"Find an input for which this {language_title(problem.language)} program prints the "
            f"output below.\n\n```{problem.language}\n{problem.code.rstrip()}\n```\n\n"
            f"The program reads from standard input, in this order:\n\n{problem.reads}\n\n"
            f"It must print:\n\n```\n{problem.output.rstrip()}\n```\n\nAny input of this form "
            "that gives this output is accepted. Answer with the lines of the input and nothing "
            "else."
        )

    def verify(self, problem: InputPredictionProblem, answer: str) -> Verdict:
        program = read_program(problem.program)
        inputs = read_inputs(program, answer)
        if inputs is None:
            return Verdict.unparsable("the answer is not an input of the stated form")
        try:
            output = interpret(program, inputs, max_steps=MAX_STEPS).output
        except IrError:
            return Verdict.wrong("the program does not finish normally on this input")
        if output.split() != problem.output.split():
            return Verdict.wrong("the program prints something else on this input")
        return Verdict.correct()

    def solve(self, problem: InputPredictionProblem) -> str:
        return problem.witness.rstrip("\n")

    def effort(self, problem: InputPredictionProblem) -> int:
        """Count the statements and operators that the program runs on the witness."""
        program = read_program(problem.program)
        inputs = read_inputs(program, problem.witness) or {}
        return interpret(program, inputs, max_steps=MAX_STEPS).steps

    def baseline(self, rng: Rng, problem: InputPredictionProblem) -> str:
        """Return the shortest input of the stated form, with 1 for every number."""
        shortest = {"integer": "1", "string": "a", "list": "1\n1"}
        lines = problem.reads.splitlines()
        return "\n".join(
            next(
                text
                for kind, text in shortest.items()
                if f" a {kind} " in line.replace("an ", "a ")
            )
            for line in lines
        )

    def explain(self, problem: InputPredictionProblem) -> list[str]:
        """Return what simple inputs give, then the run that gives the output."""
        program = read_program(problem.program)
        run = told_run(program, problem.language, problem.witness)
        if not run:
            return []
        steps = ["See what simple inputs give."]
        for size in (1, 2):
            simple = simple_inputs(program, size)
            try:
                printed = interpret(program, simple, max_steps=MAX_STEPS).output.split()
            except IrError:
                continue
            told = " ".join(stdin_text(program, simple).split())
            steps.append(f"Input {told}: it prints {' '.join(printed)}.")
        return [*steps, "Compare with the output asked for, change the input, and check it.", *run]
