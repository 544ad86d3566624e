"""Two policies, or the same one in two runs, on the problems that both answered."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any

from rlvr_envs.core.errors import UsageError
from rlvr_envs.evaluation.metrics import Estimate, paired_difference
from rlvr_envs.evaluation.runs import Run, labels, open_runs
from rlvr_envs.evaluation.store import position_of

# What a comparison is broken down by, beside the whole.
BREAKDOWNS = ("domain", "task", "difficulty")

_FEW_NAMES = 5  # in an explanation


@dataclass(slots=True)
class Answered:
    """One problem and how a policy's samples of it ended; ``scores`` are those of scored ones."""

    task: str | None
    domain: str | None
    difficulty: int | None
    fingerprint: str | None
    scores: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)

    def add(self, score: float | None, status: str) -> None:
        """Add a sample."""
        self.statuses[status] += 1
        if score is not None:
            self.scores.append(score)


@dataclass(slots=True)
class Series:
    """The answers of one policy in one run, by question; ``seed`` is that of the run's problems."""

    label: str
    answered: dict[str, Answered] = field(default_factory=dict)
    seed: int | None = None

    def same_problem(self, other: "Series", question: str) -> bool:
        """Whether both were asked it, and it is the same problem in both as far as is known."""
        ours, theirs = self.answered.get(question), other.answered.get(question)
        if ours is None or theirs is None:
            return False
        known = ours.fingerprint, theirs.fingerprint
        return None in known or known[0] == known[1]


@dataclass(frozen=True, slots=True)
class Paired:
    """Two means over the same problems, and what lies between them.

    Attributes:
        by: what the problems have in common, such as ``{"task": …}``; empty for all.
        problems: how many.
        first: mean of the first one's problem means; ``second`` likewise.
        difference: second minus first, over problems.
        won: problems on which the second scores more; ``tied`` and ``lost`` likewise.
    """

    by: dict[str, Any]
    problems: int
    first: float
    second: float
    difference: Estimate
    won: int
    tied: int
    lost: int


@dataclass(frozen=True, slots=True)
class Change:
    """A problem on which two means differ."""

    question: str
    task: str | None
    difficulty: int | None
    first: float
    second: float
    first_statuses: dict[str, int]
    second_statuses: dict[str, int]


@dataclass(frozen=True, slots=True)
class PairComparison:
    """A comparison of two series.

    Attributes:
        first: the label of one, which is the baseline; ``second`` of the other.
        groups: of the whole (one, or none if there is no common problem), and of `BREAKDOWNS`.
        changes: the problems whose means differ, the most different first.
        only_first: problems that only the first was asked; ``only_second`` likewise.
        note: what keeps problems from being compared, as a sentence; empty if nothing does.
    """

    first: str
    second: str
    groups: dict[str, list[Paired]]
    changes: list[Change]
    only_first: int
    only_second: int
    note: str

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as JSON data."""
        return asdict(self)


def common_difference(
    first: Mapping[str, Sequence[float]], second: Mapping[str, Sequence[float]]
) -> tuple[list[str], Estimate]:
    """Return the problems that both have scores of, and second minus first over their means.

    The interval knows which matches share a position.
    """
    common = [name for name in first if first[name] and second.get(name)]
    return common, paired_difference(
        [fmean(second[name]) for name in common],
        [fmean(first[name]) for name in common],
        clusters=[position_of(name) for name in common],
    )


def read_series(named: Iterable[str]) -> list[Series]:
    """Return the policies of ``FOLDER`` or ``FOLDER:policy``, each in each run.

    Raises:
        ConfigError: see `open_runs`.
        UsageError: of several runs, one has several policies and none of them is named; or one is
            a training run.
        RowError: a file cannot be read.
    """
    runs = open_runs(named)
    if trained := next((run for run in runs if run.training), None):
        raise UsageError(
            f"{trained.path} is a training run, whose samples are chosen to differ in score: "
            "evaluate its checkpoints with `rlvr eval` and compare those, or draw its scores with "
            "`rlvr plot`"
        )
    found: list[tuple[Run, str]] = []
    every: list[Series] = []
    for run in runs:
        inside = _of_run(run)
        if len(inside) > 1 and len(runs) > 1:
            raise UsageError(
                f"{run.path} has several policies ({', '.join(inside)}): name one of them, as in "
                f"'{run.path}:{next(iter(inside))}'"
            )
        found += [(run, policy) for policy in inside]
        every += inside.values()
    for series, label in zip(every, labels(found), strict=True):
        series.label = label
    return every


def _of_run(run: Run) -> dict[str, Series]:
    latest = {}
    for place, each in enumerate(run.episodes()):
        told = (each.task, each.domain, each.level, each.fingerprint)
        latest[each.key or place] = (each.policy, each.question, told, each.score, each.status)
    found: dict[str, Series] = {}
    for policy, question, told, score, status in latest.values():
        series = found.setdefault(policy, Series(policy, seed=run.seed()))
        series.answered.setdefault(question, Answered(*told)).add(score, status)
    return found


def compare(first: Series, second: Series) -> PairComparison:
    """Return how much more the second scores than the first, and where."""
    same = [q for q in first.answered if first.same_problem(second, q)]
    common = [q for q in same if first.answered[q].scores and second.answered[q].scores]
    groups = {"overall": [_paired({}, common, first, second)] if common else []}
    for name in BREAKDOWNS:
        parts: dict[Any, list[str]] = {}
        for question in common:
            parts.setdefault(getattr(first.answered[question], name), []).append(question)
        groups[name] = [
            _paired({name: value}, parts[value], first, second)
            for value in sorted(parts, key=lambda v: (v is not None, v))
        ]
    changes = [_change(q, first, second) for q in common]
    changes = [each for each in changes if each.first != each.second]
    changes.sort(key=lambda each: -abs(each.second - each.first))
    return PairComparison(
        first.label,
        second.label,
        groups,
        changes,
        len(first.answered) - len(same),
        len(second.answered) - len(same),
        _note(first, second, len(same), len(common)),
    )


def _paired(by: dict[str, Any], questions: list[str], first: Series, second: Series) -> Paired:
    ours = {q: first.answered[q].scores for q in questions}
    theirs = {q: second.answered[q].scores for q in questions}
    _, difference = common_difference(ours, theirs)
    means = [(fmean(ours[q]), fmean(theirs[q])) for q in questions]
    return Paired(
        by,
        len(questions),
        fmean(a for a, _ in means),
        fmean(b for _, b in means),
        difference,
        sum(b > a for a, b in means),
        sum(b == a for a, b in means),
        sum(b < a for a, b in means),
    )


def _change(question: str, first: Series, second: Series) -> Change:
    ours, theirs = first.answered[question], second.answered[question]
    return Change(
        question,
        ours.task,
        ours.difficulty,
        fmean(ours.scores),
        fmean(theirs.scores),
        dict(ours.statuses),
        dict(theirs.statuses),
    )


def _note(first: Series, second: Series, same: int, common: int) -> str:
    if common:
        other = len(first.answered.keys() & second.answered.keys()) - same
        if not other:
            return ""
        return f"{other} of the problems with the same seed differ: other knobs or another version"
    if same:
        return f"none of the problems that they share ({same}) is scored in both"
    return f"they share no problem: {_why_none(first, second)}"


def _why_none(first: Series, second: Series) -> str:
    if not first.answered or not second.answered:
        return f"{(second if first.answered else first).label} has no episode"
    if first.answered.keys() & second.answered.keys():
        return "their problems of the same seeds differ, so knobs or versions of the tasks do"
    ours, theirs = (
        {(a.task or q.partition("|")[0], a.difficulty) for q, a in s.answered.items()}
        for s in (first, second)
    )
    tasks = {task for task, _ in ours}, {task for task, _ in theirs}
    if not tasks[0] & tasks[1]:
        return f"other tasks ({_names(tasks[0])}; {_names(tasks[1])})"
    if not ours & theirs:
        levels = [_names({_level(level) for _, level in found}) for found in (ours, theirs)]
        return f"other levels of the same tasks ({levels[0]}; {levels[1]})"
    seeds = [s.seed for s in (first, second)]
    told = f" (--seed {seeds[0]}; --seed {seeds[1]})" if None not in seeds else ""
    if seeds[0] == seeds[1]:
        told = ""
    return f"other problem seeds{told}; evaluate both with the same ids, levels and --seed"


def _level(level: int | None) -> str:
    return "default" if level is None else str(level)


def _names(names: set[str]) -> str:
    found = sorted(names, key=lambda name: (int(name) if name.isdecimal() else -1, name))
    more = len(found) - _FEW_NAMES
    return ", ".join(found[:_FEW_NAMES]) + (f" and {more} more" if more > 0 else "")
