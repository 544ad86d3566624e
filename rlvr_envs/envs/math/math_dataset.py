"""Questions and answers from your own file: GSM8K, MATH, AIME and the like."""

import re
from dataclasses import dataclass
from pathlib import Path

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.tables import RowFile
from rlvr_envs.core.task import IndexedTask
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import symbols
from rlvr_envs.generators.published.math_files import Choice, Layout, Question, load
from rlvr_envs.verifiers.symbolic import check_tolerance, compile_gold, judge_math

SAMPLE = "sample"
_BOX = re.compile(r"\\boxed\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
_SAMPLE_FILE = Path(__file__).with_name("_sample_questions.jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class MathDatasetConfig(TaskConfig):
    """Which file, which columns, and how its answers are judged."""

    path: str = knob(
        SAMPLE, 'a JSONL or Parquet file; "sample" is a dozen questions that come with the package'
    )
    question_column: str | None = knob(None, "column of the questions; None detects it by name")
    answer_column: str | None = knob(None, "column of the answers; None detects it by name")
    answer_type: str | None = knob(None, "type of all answers; None infers it for each answer")
    rel_tol: float | None = knob(None, "relative tolerance for numbers; None requires exact values")
    rounded: bool = knob(
        False, "whether decimal answers of the file are rounded; False takes them for exact"
    )
    difficulties: tuple[str, ...] = knob((), "only questions of these difficulties, as in the file")
    topics: tuple[str, ...] = knob((), "only questions of these topics, as in the file")
    least_pass_rate: float | None = knob(
        None, "only questions with a measured pass rate from this on", low=0, high=1
    )
    most_pass_rate: float | None = knob(
        None, "only questions with a measured pass rate up to this", low=0, high=1
    )
    on_bad_gold: str = knob(
        "error",
        '"error" refuses a file with an answer that cannot be judged; "skip" drops the row',
        choices=("error", "skip"),
    )

    def check(self) -> None:
        if not isinstance(self.path, str) or not self.path:
            raise ConfigError(
                f"path must be the name of a JSONL or Parquet file, got {self.path!r}"
            )
        compile_gold("0", answer_type=self.answer_type)
        check_tolerance(self.rel_tol)

    @classmethod
    def at(cls, difficulty: int) -> "MathDatasetConfig":
        """Raise ConfigError: there are no difficulty levels, because a file is as hard as it is."""
        raise ConfigError(
            f"MathDataset has no difficulty levels (got {difficulty!r}): its questions come from "
            "the file given by 'path'"
        )


@dataclass(frozen=True, slots=True)
class MathDatasetProblem:
    """A question with everything needed to judge an answer, so a stored row needs no file."""

    question: str
    answer: str = hidden()
    index: int = hidden()
    answer_type: str | None = hidden(None)
    rel_tol: float | None = hidden(None)
    rounded: bool = hidden(False)
    difficulty: str = hidden("")
    topic: str = hidden("")
    solution: str = hidden("")


@register("MathDataset-v0", domain="math", weight=0.0, example={"path": SAMPLE})
class MathDatasetTask(IndexedTask[MathDatasetConfig, MathDatasetProblem]):
    r"""Answer a question from a file of questions with answers.

    Description:
        ``gym.make("rlvr/MathDataset-v0", path="math500.jsonl")`` serves the rows of a JSONL or
        Parquet file, drawn at random, or one by one with ``reset(options={"index": i})``. The
        columns are detected by name, or set with ``question_column`` and ``answer_column``.
        The answer is the text after ``####``, else the content of the last ``\boxed{}``, else the
        whole cell. The file is read when the first question is requested; judging a stored row
        does not need it. Columns of a difficulty, a topic and a worked solution are kept in the
        problem; ``difficulties=("Level 5",)``, ``topics=("Algebra",)``, ``least_pass_rate=0.1``
        and ``most_pass_rate=0.9`` choose questions by them and by the column ``pass_rate``, the
        share of right answers that was measured of a model. Without ``path``, the task serves a
        dozen sample questions.

    Observation:
        The question, exactly as in the file.

    Action:
        The answer, in any equivalent form.

    Reward:
        1 for an answer equal to the file's, otherwise 0.

    Verification:
        By the math verifier: numbers exactly, unless ``rel_tol`` allows a relative error, or
        ``rounded`` says that the file's decimals stand for all numbers that round to them;
        expressions, sets, intervals, matrices and so on by their meaning. Reading the file
        refuses rows whose answer cannot be judged: with ``on_bad_gold="error"`` the error
        names these rows; with ``"skip"`` they are dropped and the other rows are numbered
        without them. Known gap: a wrong answer in the file counts as right.

    Difficulty:
        No levels: the difficulty is that of the questions in the file.

    References:
        Cobbe et al. 2021, Training Verifiers to Solve Math Word Problems (GSM8K).
        Hendrycks et al. 2021, Measuring Mathematical Problem Solving With the MATH Dataset.
    """

    def file(self) -> RowFile[Question]:
        """Return the questions in the file and the rows that were refused.

        Raises:
            ConfigError: the file cannot be read, or holds no usable question.
        """
        config = self.config
        path = _SAMPLE_FILE if config.path == SAMPLE else Path(self.outside("path"))
        columns = (config.question_column, config.answer_column)
        rates = (config.least_pass_rate, config.most_pass_rate)
        unasked = rates == (None, None)
        between = None if unasked else (rates[0] or 0.0, 1.0 if rates[1] is None else rates[1])
        choice = Choice(config.difficulties, config.topics, between)
        found = load(Layout(path, *columns, config.answer_type, choice))
        found.check(lenient=config.on_bad_gold == "skip", knob="on_bad_gold")
        return found

    def __len__(self) -> int:
        return len(self.file().rows)

    def problem_at(self, index: int) -> MathDatasetProblem:
        questions = self.file().rows
        number = self.check_index(index, len(questions), "question")
        found = questions[number]
        config = self.config
        return MathDatasetProblem(
            question=found.text,
            answer=found.gold,
            index=number,
            answer_type=config.answer_type,
            rel_tol=config.rel_tol,
            rounded=config.rounded,
            difficulty=found.difficulty,
            topic=found.topic,
            solution=found.solution,
        )

    def prompt(self, problem: MathDatasetProblem) -> str:
        return problem.question

    def verify(self, problem: MathDatasetProblem, answer: str) -> Verdict:
        return judge_math(
            problem.answer,
            answer,
            answer_type=problem.answer_type,
            rel_tol=problem.rel_tol,
            rounded=problem.rounded,
        )

    def solve(self, problem: MathDatasetProblem) -> str:
        return problem.answer

    def explain(self, problem: MathDatasetProblem) -> list[str]:
        """Return the lines of the file's solution, with what its boxes hold and without the box."""
        lines = _BOX.sub(r"\1", problem.solution).partition("####")[0].splitlines()
        return [] if "boxed" in "".join(lines) else [line for line in lines if line.strip()]

    def effort(self, problem: MathDatasetProblem) -> int:
        """Count the symbols of the question and of its answer."""
        return symbols(problem.question) + symbols(problem.answer)

    def baseline(self, rng: Rng, problem: MathDatasetProblem) -> str:
        """Answer the last number in the question, 0 if it has none."""
        numbers: list[str] = re.findall("[0-9]+", problem.question)
        return numbers[-1] if numbers else "0"
