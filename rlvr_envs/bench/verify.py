"""Checking an entry: every score is computed again from the responses.

An entry that passes was made on this suite, on all its experiments and seeds, within the budget,
and has the scores that its responses earn. Whether a trainer really sampled no more than it says,
only `Run.trust` tells.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from rlvr_envs.bench.draw import rows_of
from rlvr_envs.bench.results import Answers, Marks, Point, Response, Run, read_runs
from rlvr_envs.bench.store import Key, read_answers
from rlvr_envs.bench.suite import Experiment, Suite
from rlvr_envs.core.instance import Instance, Row

# Scores are means of the same numbers in the same order.
_CLOSE = 1e-9


@dataclass(slots=True)
class Report:
    """What was found in an entry.

    Attributes:
        runs: how many there are.
        rescored: evaluations whose scores were computed again.
        unseen: evaluations whose responses are not in the entry, before the last of their run.
        faults: what is wrong, each in a sentence; an entry without any passes.
    """

    runs: int = 0
    rescored: int = 0
    unseen: int = 0
    faults: list[str] = field(default_factory=list)


def verify(suite: Suite, folder: Path, *, partial: bool = False) -> Report:
    """Return what is wrong with an entry, if anything.

    Args:
        suite: what it claims to be of.
        folder: of the entry.
        partial: whether runs may be missing.

    Raises:
        ConfigError: there is no entry, it cannot be read, or the suite's problems cannot be drawn.
    """
    runs, answers, report = read_runs(folder), read_answers(folder), Report()
    report.runs = len(runs)
    if runs[0].suite != suite.name or runs[0].suite_hash != suite.hash:
        report.faults.append(
            f"the runs are of {runs[0].suite} with the hash {runs[0].suite_hash:.12}, and "
            f"{suite.name} has {suite.hash:.12}: run them again on this suite"
        )
        return report
    if not partial:
        report.faults += _missing(suite, runs)
    judge, known = Judge(), {each.name: each for each in suite.experiments}
    for run in runs:
        named = f"{run.experiment}, seed {run.seed}"
        if run.experiment not in known:
            report.faults.append(f"{named}: the suite has no such experiment")
            continue
        experiment = known[run.experiment]
        faults = [*_budget(suite, experiment, run)]
        if not faults:
            faults = [*_scores(suite, experiment, run, answers, judge, report)]
        report.faults += [f"{named}: {fault}" for fault in faults]
    return report


def _missing(suite: Suite, runs: Sequence[Run]) -> Iterator[str]:
    there = {run.key for run in runs}
    for experiment in suite.experiments:
        lacking = [seed for seed in suite.seeds if (experiment.name, seed) not in there]
        if lacking:
            yield f"{experiment.name}: no run with the seeds {', '.join(map(str, lacking))}"


def _budget(suite: Suite, experiment: Experiment, run: Run) -> Iterator[str]:
    points = run.points
    if points[0].samples or points[0].tokens:
        yield f"the first evaluation is of the start, got one after {points[0].samples} samples"
    # The last one may repeat the one before, where another step would exceed the budget.
    if any(b.samples < a.samples or b.tokens < a.tokens for a, b in pairwise(points)):
        yield "samples and tokens do not fall from one evaluation to the next"
    if points[-1].samples > experiment.samples:
        yield (f"the budget is {experiment.samples} samples, and the run used {points[-1].samples}")
    if not run.failed and len(points) < 2:
        yield "a run that did not fail has an evaluation of the start and one of the end"
    if not run.failed and points[-1].greedy is None:
        yield "the last evaluation lacks the likeliest responses"


def _scores(
    suite: Suite,
    experiment: Experiment,
    run: Run,
    answers: Mapping[Key, Answers],
    judge: "Judge",
    report: Report,
) -> Iterator[str]:
    rows = rows_of(experiment, run.split)
    for number, point in enumerate(run.points):
        given = answers.get((*run.key, number))
        at = f"after {point.samples} samples"
        if given is None:
            if number == len(run.points) - 1:
                yield f"the responses {at}, its last ones, are missing"
            report.unseen += 1
            continue
        report.rescored += 1
        if len(given.sampled) != suite.responses * len(rows) or len(given.greedy) not in (
            0,
            len(rows),
        ):
            yield (
                f"{at} there are {len(given.sampled)} sampled and {len(given.greedy)} greedy "
                f"responses to {len(rows)} problems, {suite.responses} samples each are due"
            )
        elif given.digest() != point.responses_sha256:
            yield f"the responses {at} were altered: their SHA-256 is not the one of the run"
        else:
            yield from _differences(point, judge.point(rows, given, point), at)


def _differences(point: Point, again: Point, at: str) -> Iterator[str]:
    for name in ("score", "solved", "greedy", "unscored"):
        told, found = getattr(point, name), getattr(again, name)
        if told != found and (None in (told, found) or abs(told - found) > _CLOSE):
            yield f"{name} {at} is {told}, and the responses earn {found}"


class Judge:
    """Judges responses; equal responses to the same problem once."""

    def __init__(self) -> None:
        self._instances: dict[str, Instance] = {}
        self._known: dict[tuple[str, Response], float | None] = {}

    def point(self, rows: Sequence[Row], answers: Answers, like: Point) -> Point:
        """Return the evaluation that responses make up, with the usage of another one."""
        each = len(answers.sampled) // len(rows)
        marks = Marks(
            tuple(self.mark(rows[k // each], r) for k, r in enumerate(answers.sampled)),
            tuple(self.mark(row, r) for row, r in zip(rows, answers.greedy, strict=False)),
        )
        return marks.point(
            answers, samples=like.samples, tokens=like.tokens, device_s=like.device_s
        )

    def mark(self, row: Row, response: Response) -> float | None:
        """Return the score of a response, or None if there is no verdict."""
        key = (row["fingerprint"], response)
        if key not in self._known:
            if row["fingerprint"] not in self._instances:
                self._instances[row["fingerprint"]] = Instance.from_row(row)
            verdict = self._instances[row["fingerprint"]].judge(response)
            self._known[key] = verdict.score if verdict.scored else None
        return self._known[key]
