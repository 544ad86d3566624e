"""Judging a stored run again: today's verdicts on the recorded responses, from its folder alone.

No model is asked, and the folder is only read.
"""

import math
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError, DependencyError, RlvrEnvsError, RowError
from rlvr_envs.core.executor import Call, Executor, Serial, check_executor
from rlvr_envs.core.files import replaced
from rlvr_envs.core.instance import Instance, Row, TrustedRow
from rlvr_envs.core.parallel import CPU_S, Response, judge_rows, require
from rlvr_envs.core.registry import find
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.evaluation.episode import POLICY_ERROR, answer_in, breaks_off
from rlvr_envs.evaluation.matches import rate_records
from rlvr_envs.evaluation.runner import versions
from rlvr_envs.evaluation.store import (
    ANCHORS,
    CONFIG,
    EPISODES,
    PROBLEMS,
    SUMMARY,
    Problems,
    Record,
    json_line,
    question_of,
    read_anchor_games,
    read_config,
    read_problems,
    read_records,
    write_json,
)
from rlvr_envs.evaluation.summary import Summary, light, summarise

_LOOK = f"{__name__}:todays_prompt"
_SAME = 1e-9  # scores that differ by less are the same number, summed in another order


@dataclass(frozen=True, slots=True)
class Change:
    """An episode whose verdict is another one today; the scores of unscored episodes are None.

    Examples:
        >>> from rlvr_envs.evaluation import Change, evaluate, rejudge
        >>> run = evaluate("rlvr/Gcd-v0", "oracle", episodes=2, out="run")
        >>> changes: list[Change] = rejudge("run").changes
        >>> len(changes)
        0
    """

    key: str
    policy: str
    task: str | None
    difficulty: int | None
    problem: str
    sample: int
    old_status: str
    old_score: float | None
    new_status: str
    new_score: float | None
    detail: str


@dataclass(frozen=True, slots=True)
class Rejudged:
    """What became of a run's verdicts.

    Attributes:
        counts: (old status, new status) → number of episodes that were judged again.
        changes: the episodes with another status or score, in the order of the run's file.
        kept: the number of episodes that keep their verdict, since they have no response to judge
            or the policy failed.
        problems: the number of stored problems.
        new_prompts: to how many of them today's version gives another prompt.
        faults: why problems could not be used; their episodes are unscored.
        before: the statistics with the old verdicts.
        after: those with the new ones.
        folder: the new run, or None.

    Examples:
        >>> from rlvr_envs.evaluation import evaluate, rejudge
        >>> run = evaluate("rlvr/Gcd-v0", "oracle", episodes=2, out="run")
        >>> rejudged = rejudge("run")
        >>> rejudged.changes, rejudged.problems
        ([], 2)
    """

    counts: dict[tuple[str, str], int]
    changes: list[Change]
    kept: int
    problems: int
    new_prompts: int
    faults: list[str]
    before: Summary
    after: Summary
    folder: Path | None

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON data, the statistics by policy."""
        return {
            "counts": [
                {"old": old, "new": new, "episodes": count}
                for (old, new), count in self.counts.items()
            ],
            "changes": [asdict(change) for change in self.changes],
            "kept": self.kept,
            "problems": self.problems,
            "new_prompts": self.new_prompts,
            "faults": self.faults,
            "before": [group.to_json() for group in self.before["overall"]],
            "after": [group.to_json() for group in self.after["overall"]],
        }


def rejudge(  # noqa: PLR0913 - all but one are keywords, with the names of the command's options
    run: str | Path,
    *,
    out: str | Path | None = None,
    trusted: bool = False,
    skip_bad_rows: bool = False,
    executor: Executor | None = None,
    cpu_s: float = CPU_S,
    progress: Callable[[int, int], None] | None = None,
) -> Rejudged:
    """Judge the recorded responses of a run by today's verifiers and return what changed.

    They are judged on the stored problems, whatever problems this version makes of the same seeds.
    Episodes in which the policy failed stay as they are. A folder of a stranger needs an executor
    of processes: an altered problem may take for ever.

    Args:
        run: the folder of the run, which must hold ``problems.jsonl``; it is not changed.
        out: where the run is written with the new verdicts; `evaluate` may go on with it.
        trusted: whether tasks may open the files, folders and servers that the problems name.
        skip_bad_rows: whether episodes whose problem cannot be used become unscored, instead of an
            error.
        executor: where the responses are judged, in this process by default.
        cpu_s: CPU seconds that a response may take, where a process of its own judges it.
        progress: called with how many episodes were judged, and how many are to be.

    Raises:
        ConfigError: the folder holds no run, or ``out`` is not empty.
        RowError: a problem is missing or cannot be used, or a line is malformed.
        DependencyError: a task needs a program or package that is missing here.

    Examples:
        >>> from rlvr_envs.evaluation import evaluate, rejudge
        >>> run = evaluate("rlvr/Gcd-v0", "oracle", episodes=2, out="run")
        >>> rejudge("run").counts
        {('correct', 'correct'): 2}
    """
    check_executor(executor)
    folder, target = Path(run), None if out is None else Path(out)
    whole = read_config(folder)
    if target is not None and target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ConfigError(f"a run is judged again into a new folder, and {target} is not empty")
    work = _Work(folder, executor or Serial(), cpu_s, trusted=trusted, lenient=skip_bad_rows)
    verdicts = work.verdicts(progress)
    before, after, counts, changes = [], [], Counter[tuple[str, str]](), []
    for old, new in _pairs(work, verdicts):
        before.append(light(old))
        after.append(light(new))
        if old["key"] in verdicts:
            change = _change(old, new)
            counts[change.old_status, change.new_status] += 1
            if _differs(change):
                changes.append(change)
    samples = max([1, *(record["sample"] + 1 for record in after)])
    old_summary, summary = (summarise(r, samples=samples) for r in (before, after))
    if target is not None:
        _write(target, whole, work, verdicts, summary)
    return Rejudged(
        counts=dict(sorted(counts.items())),
        changes=changes,
        kept=len(after) - len(verdicts),
        problems=len(work.problems),
        new_prompts=work.new_prompts,
        faults=list(work.faults.values()),
        before=old_summary,
        after=summary,
        folder=target,
    )


class _Work:
    """The judging of one folder."""

    def __init__(
        self, folder: Path, executor: Executor, cpu_s: float, *, trusted: bool, lenient: bool
    ) -> None:
        self.folder = folder
        self.problems = Problems(folder)
        self.faults: dict[str, str] = {}  # question → why its problem cannot be used
        self.new_prompts = 0
        self.answers: dict[str, str | None] = {}  # key of an episode → its answer, for votes
        self._executor = executor
        self._cpu_s = cpu_s
        self._trusted = trusted
        self._lenient = lenient
        # The line that counts of each episode: one that was judged or asked again is the last one.
        self._lines: dict[str, int] = {}
        answered = {}
        for number, record in enumerate(read_records(folder / EPISODES)):
            self._lines[record["key"]] = number
            answered[record["key"]] = _has_response(record)
        self._total = sum(answered.values())

    def records(self) -> Iterator[Record]:
        """Yield the episodes that count."""
        for number, record in enumerate(read_records(self.folder / EPISODES)):
            if self._lines.get(record["key"]) == number:
                yield record

    def verdicts(self, progress: Callable[[int, int], None] | None) -> dict[str, Verdict]:
        """Return the new verdict of each episode that has a response to judge, by its key."""
        self._look()
        found: dict[str, Verdict] = {}
        waiting: deque[tuple[Record, Row]] = deque()

        def answered() -> Iterator[tuple[Row, Response]]:
            for record in self.records():
                if not _has_response(record):
                    continue
                row = self._row(record)
                if row is None:
                    found[record["key"]] = _unusable(self.faults[question_of(record)])
                else:
                    waiting.append((record, row))
                    yield row, record["response"]

        for judged in judge_rows(answered(), executor=self._executor, cpu_s=self._cpu_s):
            record, row = waiting.popleft()
            key, response = record["key"], record["response"]
            if isinstance(judged, RowError):
                found[key] = _unusable(self._fault(question_of(record), str(judged)))
            else:
                found[key] = _ended(row, response, judged)
                if isinstance(response, str):
                    self.answers[key] = answer_in(response, row["answer_format"])
            if progress is not None:
                progress(len(found), self._total)
        return found

    def _look(self) -> None:
        """See which problems this version takes, and to which it gives another prompt."""
        looked: deque[Record] = deque()

        def calls() -> Iterator[Call]:
            for problem in read_problems(self.folder / PROBLEMS):
                looked.append(problem)
                yield Call((self._trust(problem),))

        for outcome in self._executor.map(_LOOK, calls(), cpu_s=self._cpu_s):
            problem = looked.popleft()
            if outcome.error is not None:
                require(outcome.error)
                self._fault(problem["question"], str(outcome.error))
            elif isinstance(outcome.value, RowError):
                self._fault(problem["question"], str(outcome.value))
            else:
                self.new_prompts += outcome.value != problem["prompt"]

    def _trust(self, row: Row) -> Row:
        return TrustedRow(row) if self._trusted else row

    def _row(self, record: Record) -> Row | None:
        question = question_of(record)
        if question in self.faults:
            return None
        row = self.problems.of(record)
        if row is not None:
            return self._trust(row)
        told = (
            f"it is not in {self.folder / PROBLEMS}, or another one is; repeating the `rlvr eval` "
            "that made the run stores it, if this version makes the same problem"
        )
        self._fault(question, told)
        return None

    def _fault(self, question: str, reason: str) -> str:
        told = f"the problem of {question} cannot be used: {reason}"
        if not self._lenient:
            raise RowError(f"{told} (--skip-bad-rows leaves its episodes unscored)")
        return self.faults.setdefault(question, told)


def todays_prompt(row: Row) -> str | RowError:
    """Return the prompt of a stored problem, or why no task takes it; what a worker runs."""
    try:
        return Instance.from_row(row).prompt()
    except DependencyError:
        raise
    except RlvrEnvsError as error:
        return RowError(str(error))


def _has_response(record: Record) -> bool:
    return record["response"] is not None and record["verdict"]["status"] != POLICY_ERROR


def _unusable(reason: str) -> Verdict:
    return Verdict.verifier_error(reason)


def _ended(row: Row, response: Response, verdict: Verdict) -> Verdict:
    """Return a verdict that does not blame the policy for an episode which is not over today."""
    interactive = isinstance(response, list)
    if interactive and breaks_off(verdict, len(response), find(row["id"]).max_turns):
        return Verdict.verifier_error(f"{verdict.detail}: it has to be played again")
    return verdict


def _pairs(work: _Work, verdicts: Mapping[str, Verdict]) -> Iterator[tuple[Record, Record]]:
    """Yield the episodes that count, as they were and as they are judged today."""
    for old in work.records():
        verdict = verdicts.get(old["key"])
        new = old | {"question": question_of(old)}
        if verdict is not None:
            new["verdict"] = verdict.to_json()
            new["scored"] = verdict.status != Status.VERIFIER_ERROR
            new["answer"] = work.answers.get(old["key"], old["answer"])
        yield old, new


def _change(old: Record, new: Record) -> Change:
    index, seed = old["index"], old["problem_seed"]
    (old_status, old_score), (new_status, new_score) = (
        (str(r["verdict"]["status"]), r["verdict"]["score"] if r["scored"] else None)
        for r in (old, new)
    )
    return Change(
        key=old["key"],
        policy=old["policy"],
        task=old["task"],
        difficulty=old["difficulty"],
        problem=str(seed) if index is None else f"#{index}",
        sample=old["sample"],
        old_status=old_status,
        old_score=old_score,
        new_status=new_status,
        new_score=new_score,
        detail=str(new["verdict"].get("detail") or ""),
    )


def _differs(change: Change) -> bool:
    if change.old_status != change.new_status:
        return True
    if change.old_score is None or change.new_score is None:
        return change.old_score is not change.new_score
    return not math.isclose(change.old_score, change.new_score, rel_tol=0, abs_tol=_SAME)


def _write(
    target: Path,
    whole: Mapping[str, Any],
    work: _Work,
    verdicts: Mapping[str, Verdict],
    summary: Summary,
) -> None:
    """Write the run with its new verdicts; ``run.json``, which makes it a run, comes last."""
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"the run folder {str(target)!r} cannot be made: {error}") from error
    with replaced(target / PROBLEMS) as file:
        for problem in read_problems(work.folder / PROBLEMS):
            file.write(json_line(problem))
    with replaced(target / EPISODES) as file:
        for _, record in _pairs(work, verdicts):
            file.write(json_line(record))
    stored = {"config": whole["config"], "versions": versions()}
    statistics = summary.to_json()
    if opponents := whole["config"].get("opponents"):
        games = list(read_anchor_games(work.folder / ANCHORS))
        with replaced(target / ANCHORS) as file:
            file.writelines(map(json_line, games))
        played = (light(record) for _, record in _pairs(work, verdicts))
        statistics["ratings"] = rate_records(played, games, opponents).to_json()
    write_json(target / SUMMARY, {**stored, **statistics})
    write_json(target / CONFIG, {**stored, "rejudged": {"versions": whole.get("versions")}})
