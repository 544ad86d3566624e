"""From the records of a run to its statistics, by policy, domain, task and difficulty."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from rlvr_envs.core.verdict import Status
from rlvr_envs.evaluation.compare import common_difference
from rlvr_envs.evaluation.metrics import (
    Estimate,
    clustered_mean,
    majority_at_k,
    pass_at_k,
    quantiles,
)
from rlvr_envs.evaluation.store import Record, position_of, question_of
from rlvr_envs.evaluation.usage import retries, total

# The groupings of a summary: by which fields of a record the episodes are put together.
LEVELS: dict[str, tuple[str, ...]] = {
    "overall": ("policy",),
    "difficulty": ("policy", "difficulty"),
    "domain": ("policy", "domain"),
    "domain_difficulty": ("policy", "domain", "difficulty"),
    "id": ("policy", "id"),
    "task": ("policy", "task"),
    "task_difficulty": ("policy", "task", "difficulty"),
}

# From more tasks than these on, and where they are of several domains, the domains are what is
# looked at first.
FEW_TASKS = 12

# The parts of an optimisation task's verdicts that are averaged: SR and AR.
QUALITY = ("feasible", "ratio")

# The fields of a record that hold texts.
TEXTS = ("response", "replies", "reasoning", "tool_calls", "beside_calls")


@dataclass(frozen=True, slots=True)
class Group:
    """The statistics of some episodes of one policy.

    Attributes:
        by: what the episodes have in common, such as ``{"policy": …, "task": …}``.
        problems: how many problems were asked; of matches each side and opponent is one.
        episodes: how many episodes ended, scored or not.
        unscored: how many of them say nothing about the policy; every number below leaves
            them out.
        undecided: how many answers were neither right nor wrong as far as the verifier could tell;
            they count with a score of 0.
        score: the mean score.
        solved: the share of episodes with full marks.
        feasible: SR, the share of episodes whose answer breaks no constraint, where all tasks of
            the group are optimisation tasks (`optimisation_tasks`), else None.
        ratio: AR, the mean ratio of the answer's objective to the best known, at most 1, and 0
            for an answer that is not feasible; None as above.
        pass_at: k → chance that one of k samples has full marks, over the problems that have at
            least k scored samples.
        majority_at: k → score of the majority answer, likewise; empty where answers cannot be
            extracted.
        statuses: status → how many episodes.
        cut_short: how many responses ended at the policy's token limit.
        chars: length of the responses: mean, and the quantiles 0.05, 0.25, 0.5, 0.75, 0.95.
        elapsed_s: mean time of an episode.
        prompt_tokens: tokens read, of all episodes that say, unscored ones included; None if none
            does.
        tokens: tokens written, likewise.
        retries: how many requests repeated one that had failed.
        waited_s: seconds of waiting before requests, of all episodes together.

    Examples:
        >>> from rlvr_envs.evaluation import evaluate
        >>> [group] = evaluate("rlvr/Gcd-v0", "oracle", episodes=2).summary["task"]
        >>> group.score.mean, group.statuses
        (1.0, {'correct': 2})
    """

    by: dict[str, Any]
    problems: int
    episodes: int
    unscored: int
    undecided: int
    score: Estimate
    solved: Estimate
    feasible: Estimate | None
    ratio: Estimate | None
    pass_at: dict[int, Estimate]
    majority_at: dict[int, Estimate]
    statuses: dict[str, int]
    cut_short: int
    chars: dict[str, float]
    elapsed_s: float
    prompt_tokens: int | None
    tokens: int | None
    retries: int
    waited_s: float

    def to_json(self) -> dict[str, Any]:
        """Return the group as JSON data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How much more ``policy`` scores than ``baseline``, over the problems that both answered."""

    policy: str
    baseline: str
    problems: int
    difference: Estimate


@dataclass(frozen=True, slots=True)
class Summary:
    """All groups of a run, level by level (`LEVELS`), and its policies two by two.

    Attributes:
        levels: level → its groups.
        samples: the number of samples of a problem.
        comparisons: the policies two by two.
        domains: domain → its tasks, sorted; what posed no problem has neither.

    Examples:
        >>> from rlvr_envs.evaluation import evaluate
        >>> summary = evaluate("rlvr/Gcd-v0", "oracle", episodes=2).summary
        >>> list(summary.levels)
        ['overall', 'difficulty', 'domain', 'domain_difficulty', 'id', 'task', 'task_difficulty']
    """

    levels: dict[str, list[Group]]
    samples: int
    comparisons: list[Comparison]
    domains: dict[str, list[str]]

    def __getitem__(self, level: str) -> list[Group]:
        return self.levels[level]

    @property
    def is_wide(self) -> bool:
        """Whether there are too many tasks to look at all of them at once."""
        return len(self.domains) > 1 and sum(map(len, self.domains.values())) > FEW_TASKS

    @property
    def ks(self) -> list[int]:
        """The k of pass@k and maj@k."""
        return powers(self.samples)

    def to_json(self) -> dict[str, Any]:
        """Return the summary as JSON data."""
        return {
            "samples": self.samples,
            "levels": {
                level: [group.to_json() for group in groups]
                for level, groups in self.levels.items()
            },
            "comparisons": [asdict(comparison) for comparison in self.comparisons],
        }


def light(record: Record) -> Record:
    """Return what the statistics need of a record, without its texts; an unscored one says why."""
    kept = ("score", "status") if record["scored"] else ("score", "status", "detail")
    verdict = {key: record["verdict"].get(key) for key in kept}
    parts = record["verdict"].get("parts") or {}
    if quality := {key: parts[key] for key in QUALITY if key in parts}:
        verdict["parts"] = quality
    return {k: v for k, v in record.items() if k not in TEXTS} | {"verdict": verdict}


def powers(samples: int) -> list[int]:
    """Return 1, 2, 4, … up to ``samples``, and ``samples`` itself."""
    found = []
    k = 1
    while k < samples:
        found.append(k)
        k *= 2
    return [*found, samples]


def summarise(records: Sequence[Record], *, samples: int) -> Summary:
    """Return the statistics of a run's records.

    Examples:
        >>> from rlvr_envs.evaluation import evaluate, summarise
        >>> run = evaluate("rlvr/Gcd-v0", "oracle", episodes=4)
        >>> summarise(run.records[:2], samples=1)["overall"][0].episodes
        2
    """
    optimised = optimisation_tasks(records)
    levels = {}
    for level, names in LEVELS.items():
        grouped: dict[tuple[Any, ...], list[Record]] = {}
        for record in records:
            grouped.setdefault(tuple(record[name] for name in names), []).append(record)
        levels[level] = [
            _group(dict(zip(names, key, strict=True)), grouped[key], powers(samples), optimised)
            for key in sorted(grouped, key=_order)
        ]
    pairs = {(str(r["domain"]), str(r["task"])) for r in records if r.get("task") is not None}
    domains: dict[str, list[str]] = {}
    for domain, task in sorted(pairs):
        domains.setdefault(domain, []).append(task)
    return Summary(levels, samples, _comparisons(records), domains)


def _comparisons(records: Sequence[Record]) -> list[Comparison]:
    scores: dict[str, dict[str, list[float]]] = {}
    for record in records:
        if record["scored"]:
            problems = scores.setdefault(record["policy"], {})
            problems.setdefault(question_of(record), []).append(_score(record))
    found = []
    for baseline, policy in combinations(sorted(scores), 2):
        common, difference = common_difference(scores[baseline], scores[policy])
        found.append(Comparison(policy, baseline, len(common), difference))
    return found


def _order(key: tuple[Any, ...]) -> tuple[tuple[bool, bool, Any], ...]:
    """Sort numbers as numbers and None first."""
    return tuple((part is not None, isinstance(part, str), part or 0) for part in key)


def optimisation_tasks(records: Iterable[Record]) -> frozenset[Any]:
    """Return the tasks whose verdicts say how feasible and how good an answer is.

    Some verdict of the task, whatever the policy, has the parts ``feasible`` and ``ratio``, and
    every verdict with credit has them: answers that could not be read have none.
    """
    measured, other = set(), set()
    for record in records:
        if record["scored"]:
            if set(QUALITY) <= record["verdict"].get("parts", {}).keys():
                measured.add(record["task"])
            elif _score(record):
                other.add(record["task"])
    return frozenset(measured - other)


def _group(
    by: dict[str, Any], records: list[Record], ks: Sequence[int], optimised: frozenset[Any]
) -> Group:
    problems: dict[str, list[Record]] = {}
    positions: dict[str, list[Record]] = {}
    for record in records:
        problems.setdefault(_problem(record), []).append(record)
        if record["scored"]:
            positions.setdefault(position_of(question_of(record)), []).append(record)
    scored = [
        sorted((r for r in found if r["scored"]), key=lambda r: int(r["sample"]))
        for found in problems.values()
    ]
    alike = list(positions.values())
    answered = [r for r in records if r["turns"]]
    comparable = all(r["task"] in optimised for r in records)
    return Group(
        by=by,
        problems=len(problems),
        episodes=len(records),
        unscored=sum(not r["scored"] for r in records),
        undecided=sum(r["verdict"]["status"] == Status.UNDECIDED for r in records),
        score=clustered_mean([[_score(r) for r in found] for found in alike]),
        solved=clustered_mean([[float(_solved(r)) for r in found] for found in alike]),
        feasible=_mean_part("feasible", alike) if comparable else None,
        ratio=_mean_part("ratio", alike) if comparable else None,
        pass_at=_per_problem(scored, ks, _pass_at),
        majority_at=_per_problem([f for f in scored if _votes(f)], ks, _majority_at),
        statuses=_statuses(records),
        cut_short=sum(r.get("finish") == "length" for r in records),
        chars=_lengths([float(r["response_chars"]) for r in answered]),
        elapsed_s=sum(r["elapsed_s"] for r in records) / len(records),
        prompt_tokens=total(records, "prompt_tokens"),
        tokens=total(records, "tokens"),
        retries=sum(map(retries, records)),
        waited_s=round(sum(r.get("waited_s", 0.0) for r in records), 3),
    )


def _problem(record: Mapping[str, Any]) -> str:
    return str(record["key"]).rpartition("|")[0]


def _score(record: Mapping[str, Any]) -> float:
    return float(record["verdict"]["score"])


def _solved(record: Mapping[str, Any]) -> bool:
    return bool(record["verdict"]["status"] == Status.CORRECT)


def _mean_part(name: str, scored: list[list[Record]]) -> Estimate:
    """Return the mean of a part of the verdicts, 0 where a verdict lacks it."""
    return clustered_mean(
        [[float(r["verdict"].get("parts", {}).get(name, 0.0)) for r in found] for found in scored]
    )


def _votes(found: list[Record]) -> bool:
    """Whether a vote can be taken: the answers of an interactive episode are not one text."""
    return bool(found) and not any(r["turns"] > 1 for r in found)


def _per_problem(
    scored: list[list[Record]], ks: Iterable[int], measure: Callable[[list[Record], int], float]
) -> dict[int, Estimate]:
    """Return k → the mean of a measure over the problems that have k scored samples."""
    found = {}
    for k in ks:
        values = [[measure(records, k)] for records in scored if len(records) >= k]
        if values:
            found[k] = clustered_mean(values)
    return found


def _pass_at(records: list[Record], k: int) -> float:
    return pass_at_k(len(records), sum(map(_solved, records)), k)


def _majority_at(records: list[Record], k: int) -> float:
    return majority_at_k([r["answer"] for r in records], [_score(r) for r in records], k)


def _statuses(records: list[Record]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for record in records:
        status = str(record["verdict"]["status"])
        counts[status] = counts.get(status, 0) + 1
    return dict(sorted(counts.items()))


def _lengths(chars: list[float]) -> dict[str, float]:
    if not chars:
        return {}
    marks = quantiles(chars, (0.05, 0.25, 0.5, 0.75, 0.95))
    return {
        "mean": sum(chars) / len(chars),
        **dict(zip(("p05", "p25", "median", "p75", "p95"), marks, strict=True)),
    }
