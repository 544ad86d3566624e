"""Questions with answers from a file of yours: GSM8K, MATH, AIME and the like."""

from dataclasses import dataclass
from pathlib import Path

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.tables import RowFile
from rlvr_envs.core.task import IndexedTask
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.published.math_files import Layout, Question, load
from rlvr_envs.verifiers.symbolic import check_tolerance, compile_gold, judge_math

SAMPLE = "sample"
_SAMPLE_FILE = Path(__file__).with_name("_sample_questions.jsonl")
_ON_BAD_GOLD = ("error", "skip")


@dataclass(frozen=True, slots=True, kw_only=True)
class MathDatasetConfig(TaskConfig):
    """Which file, which columns, and how its answers are judged."""

    path: str = knob(
        SAMPLE, 'a JSONL or Parquet file; "sample" is a dozen questions shipped with us'
    )
    question_column: str | None = knob(None, "None recognises the column by its name")
    answer_column: str | None = knob(None, "None recognises the column by its name")
    answer_type: str | None = knob(None, "of all answers; None reads it off each")
    rel_tol: float | None = knob(None, "relative tolerance for numbers; None wants them exact")
    on_bad_gold: str = knob("error", '"skip" leaves out rows whose answer cannot be judged')

    def check(self) -> None:
        if not isinstance(self.path, str) or not self.path:
            raise ConfigError(f"path is the name of a JSONL or Parquet file, got {self.path!r}")
        if self.on_bad_gold not in _ON_BAD_GOLD:
            allowed = " or ".join(map(repr, _ON_BAD_GOLD))
            raise ConfigError(f"on_bad_gold is {allowed}, got {self.on_bad_gold!r}")
        compile_gold("0", answer_type=self.answer_type)
        check_tolerance(self.rel_tol)

    @classmethod
    def at(cls, difficulty: int) -> "MathDatasetConfig":
        """There is no ladder: the questions of a file are as hard as they are."""
        raise ConfigError(
            f"MathDataset has no difficulty (got {difficulty!r}): its questions come from a file, "
            "and 'path' says which"
        )


@dataclass(frozen=True, slots=True)
class MathDatasetProblem:
    """A question and all that judging an answer to it needs, so that a row needs no file."""

    question: str
    answer: str = hidden()
    index: int = hidden()
    answer_type: str | None = hidden(None)
    rel_tol: float | None = hidden(None)


@register("MathDataset-v0", domain="math", weight=0.0, example={"path": SAMPLE})
class MathDatasetTask(IndexedTask[MathDatasetConfig, MathDatasetProblem]):
    r"""Answer a question from a file of questions with answers.

    Description:
        ``gym.make("rlvr/MathDataset-v0", path="math500.jsonl")`` serves the rows of a JSONL or
        Parquet file, drawn at random, or one by one with ``reset(options={"index": i})``. The
        columns are recognised by name, or named with ``question_column`` and ``answer_column``.
        An answer is what follows ``####``, else what the last ``\boxed{}`` holds, else all of the
        cell. The file is read when its first question is wanted; judging a stored row does not
        need it. Without ``path``, a dozen questions of our own are served.

    Observation:
        The question, as the file has it.

    Action:
        The answer, in any equivalent form.

    Reward:
        1 for an answer equal to the file's, otherwise 0.

    Verification:
        By the math verifier: numbers exactly, unless ``rel_tol`` allows a relative error;
        expressions, sets, intervals, matrices and so on by their meaning. A row whose answer it
        cannot judge is refused when the file is read: with ``on_bad_gold="error"`` the error
        names such rows, with ``"skip"`` the others are numbered on without them. Known gap: a
        wrong answer in the file is taken for right.

    Difficulty:
        No ladder: the questions of a file are as hard as they are.

    References:
        Cobbe et al. 2021, Training Verifiers to Solve Math Word Problems (GSM8K).
        Hendrycks et al. 2021, Measuring Mathematical Problem Solving With the MATH Dataset.
    """

    def file(self) -> RowFile[Question]:
        """Return the questions of the file, and the rows that were refused.

        Raises:
            ConfigError: the file cannot be read, or holds no question that can be posed.
        """
        config = self.config
        path = _SAMPLE_FILE if config.path == SAMPLE else Path(config.path)
        columns = (config.question_column, config.answer_column)
        found = load(Layout(path, *columns, config.answer_type))
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
            found.text, found.gold, number, config.answer_type, config.rel_tol
        )

    def prompt(self, problem: MathDatasetProblem) -> str:
        return problem.question

    def verify(self, problem: MathDatasetProblem, answer: str) -> Verdict:
        return judge_math(
            problem.answer, answer, answer_type=problem.answer_type, rel_tol=problem.rel_tol
        )

    def solve(self, problem: MathDatasetProblem) -> str:
        return problem.answer
