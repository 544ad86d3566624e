"""An instance: one problem, the task that poses it, and the format its answer must have.

Every door goes through here, so a problem has the same prompt and the same verdict whether it
comes from ``gym.make``, ``gym.make_vec``, a dataset row or the command line.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rlvr_envs.core import registry
from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import (
    ConfigError,
    DependencyError,
    RegistrationError,
    RowError,
    SandboxError,
    UsageError,
    misspelt,
    within_limits,
)
from rlvr_envs.core.problem import canonical, check_size, fingerprint, from_json, to_json
from rlvr_envs.core.registry import TaskSpec
from rlvr_envs.core.task import InteractiveTask, Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.core.version import __version__

Row = dict[str, Any]


class TrustedRow(Row):
    """A row that may name what its task opens: files, folders and servers.

    Rows that this process makes are such rows. Read from JSON, or copied, they are like any other.
    """


# A longer response is not read at all: it gets a verdict that says so.
MAX_RESPONSE_CHARS = 1_000_000

# The keys of a dataset row, in the order in which they are written.
ROW_KEYS = (
    "id",
    "config",
    "difficulty",
    "problem_seed",
    "prompt",
    "answer_format",
    "problem",
    "reference",
    "fingerprint",
    "version",
)


@dataclass(frozen=True, slots=True)
class Instance:
    """One problem together with everything that posing and judging it needs.

    Attributes:
        spec: the registered task.
        task: the task, configured.
        problem: the problem's data, hidden fields included.
        difficulty: the level, or None where knobs alone made the configuration.
        problem_seed: what `generate` was seeded with, or None for a problem that was not drawn.
        format_label: the label of the answer format.
    """

    spec: TaskSpec
    task: Task[Any, Any]
    problem: Any
    difficulty: int | None
    problem_seed: int | None
    format_label: str

    @property
    def interactive(self) -> bool:
        """Whether an episode may take several turns."""
        return isinstance(self.task, InteractiveTask)

    def prompt(self) -> str:
        """Return the first observation: the task text and how to answer."""
        with within_limits(self.spec.id):
            text = self.task.prompt(self.problem)
        if self.interactive:
            return text
        return f"{text}\n\n{answer_format(self.format_label).instruction()}"

    def reference(self) -> str | list[str]:
        """Return the oracle's bare answer, or its actions where the task is interactive."""
        if isinstance(self.task, InteractiveTask):
            return self.task.play(self.problem)
        return self.task.solve(self.problem)

    def solution(self) -> str | list[str]:
        """Return the oracle's full response, or its actions where the task is interactive."""
        return self.response(self.reference())

    def response(self, answer: str | list[str]) -> str | list[str]:
        """Return the response that gives a bare answer; actions are one as they are."""
        if isinstance(answer, list):
            return answer
        return answer_format(self.format_label).wrap(answer)

    def demonstration(self) -> str | list[str]:
        """Return the worked solution and then the answer, or just `solution` where there is none.

        It is a full response, as a model is to write it.
        """
        solution = self.solution()
        if isinstance(solution, list):
            return solution
        return "\n".join([*self.task.explain(self.problem), solution])

    def judge(self, response: str | Sequence[str]) -> Verdict:
        """Judge a full response, or the actions of an interactive episode; never raises for them.

        Raises:
            DependencyError: the task needs a program or package that is missing here.
            RowError: the row that this is from would have its task open what it may not name.
            UsageError: the response is not text (or, for an interactive task, texts).
        """
        if isinstance(self.task, InteractiveTask):
            actions = [response] if isinstance(response, str) else list(response)
            _check_texts(actions)
            return _guarded(self.task.replay, self.problem, actions)
        if not isinstance(response, str):
            raise UsageError(f"a response to {self.spec.id} is a string, got {response!r:.80}")
        if len(response) > MAX_RESPONSE_CHARS:
            return too_long(response)
        extraction = answer_format(self.format_label).extract(response)
        if extraction.answer is None:
            return Verdict.unparsable(extraction.reason)
        return _guarded(self.task.verify, self.problem, extraction.answer)

    def fingerprint(self) -> str:
        """Return the digest that equal questions of a task share."""
        return fingerprint(self.spec.id, self.problem)

    def to_row(self, *, reference: bool = True) -> Row:
        """Return a JSON object from which alone the problem can be posed and judged.

        Args:
            reference: whether the oracle is run; without it, the row's reference is None.
        """
        row = {
            "id": self.spec.id,
            "config": to_json(self.task.config),
            "difficulty": self.difficulty,
            "problem_seed": self.problem_seed,
            "prompt": self.prompt(),
            "answer_format": self.format_label,
            "problem": to_json(self.problem),
            "reference": self.reference() if reference else None,
            "fingerprint": self.fingerprint(),
            "version": __version__,
        }
        return TrustedRow(row) if self.task.trusted else row

    @classmethod
    def from_row(cls, row: Mapping[str, Any], *, trusted: bool = False) -> "Instance":
        """Rebuild the instance that `to_row` wrote; the fingerprint must match the problem.

        Args:
            row: the row.
            trusted: whether its task may open the files, folders and servers that the row names. A
                `TrustedRow` is trusted anyway.

        Raises:
            RowError: a key is missing, or a value was altered or does not fit the task.
            RegistrationError: this version has no such task.
        """
        if not isinstance(row, Mapping):
            raise RowError(f"a row is an object with {', '.join(ROW_KEYS)}; got {row!r:.80}")
        missing = [key for key in ("id", "config", "problem", "answer_format") if key not in row]
        if missing:
            hint = misspelt(missing[0], [key for key in row if key not in ROW_KEYS])
            raise RowError(
                f"the row lacks {', '.join(missing)}; a row has {', '.join(ROW_KEYS)}{hint}"
            )
        for key in ("id", "answer_format"):
            if not isinstance(row[key], str):
                raise RowError(f"not a row: {key!r} is a text, got {row[key]!r:.80}")
        spec = registry.find(row["id"])
        with row_errors(spec.id):
            for key in ("config", "problem"):
                check_size(row[key], key)
            may_open = trusted or isinstance(row, TrustedRow)
            task = _task(spec.id, canonical(row["config"]), may_open)
            problem = from_json(spec.task_type.Problem, row["problem"])
            stored = row.get("fingerprint")
            if stored is not None and stored != fingerprint(spec.id, problem):
                raise RowError(f"the problem of this {spec.id} row does not match its fingerprint")
            answer_format(row["answer_format"])
        return cls(
            spec,
            task,
            problem,
            row.get("difficulty"),
            row.get("problem_seed"),
            row["answer_format"],
        )


@contextmanager
def row_errors(task_id: str) -> Iterator[None]:
    """Turn what a task raises over a row that it did not write into a `RowError`.

    What is missing on this machine, or was asked in the wrong way, is no fault of the row.
    """
    try:
        yield
    except (DependencyError, RegistrationError, RowError, SandboxError, UsageError):
        raise
    except ConfigError as error:
        raise RowError(str(error)) from error
    except Exception as error:
        raise RowError(
            f"this {task_id} row holds what no row of the task does "
            f"({type(error).__name__}: {error!s:.200})"
        ) from error


@lru_cache(maxsize=256)
def _task(task_id: str, config_json: str, trusted: bool) -> Task[Any, Any]:
    import json

    task_type = registry.find(task_id).task_type
    task = task_type(from_json(task_type.Config, json.loads(config_json)))
    task.trusted = trusted
    return task


def _check_texts(actions: Sequence[object]) -> None:
    for action in actions:
        if not isinstance(action, str):
            raise UsageError(f"an action is a string, got {action!r:.80}")


def too_long(response: str) -> Verdict:
    """Return the verdict on a response that is too long to be read."""
    return Verdict.unparsable(
        f"the response has {len(response)} characters; at most {MAX_RESPONSE_CHARS} are read"
    )


def _guarded(verify: Any, problem: Any, answer: Any) -> Verdict:
    """Judge an answer; a verifier that breaks has no say in the score."""
    try:
        verdict = verify(problem, answer)
    except (DependencyError, RowError):  # something is to be installed, or the row is at fault
        raise
    except Exception as error:  # noqa: BLE001 - a broken verifier must not look like a bad answer
        return Verdict.verifier_error(f"the verifier failed: {type(error).__name__}: {error}")
    if not isinstance(verdict, Verdict):
        return Verdict.verifier_error(f"the verifier returned {verdict!r:.80}, not a verdict")
    return verdict
