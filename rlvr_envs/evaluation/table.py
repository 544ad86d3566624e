"""The summary as tables of text: one of the policies, and the tasks side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rlvr_envs.evaluation.metrics import Estimate
from rlvr_envs.evaluation.summary import Group, Summary

_LEAST_COLUMN = 7  # "0.123" and a sign that more follows


@dataclass(frozen=True, slots=True)
class Table:
    """Texts in rows under a header."""

    header: list[str]
    rows: list[list[str]]


def estimate_text(estimate: Estimate, digits: int = 3) -> str:
    """Return an estimate such as ``0.512 [0.431, 0.593]``."""
    if estimate.mean is None:
        return "–"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.mean:.{digits}f}"
    return f"{estimate.mean:.{digits}f} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def rows_of(summary: Summary) -> list[Group]:
    """Return the groups of a full listing: the tasks, and the whole where it is of several."""
    groups = sorted(summary["task"], key=lambda g: (str(g.by["task"]), str(g.by["policy"])))
    if len({group.by["task"] for group in groups}) > 1:
        groups += summary["overall"]
    return groups


def tables(summary: Summary, width: int = 100) -> list[Table]:
    """Return what is to be read at a glance.

    First a row for each policy, and for each of its domains where there are several. Then, where
    there are several, the difficulties and the tasks: a row each, and a column of mean scores
    for each policy. Everything else is in ``summary.json``.
    """
    found = [_policies(summary)]
    for level, column in (("difficulty", "difficulty"), ("task", "task")):
        if len({group.by[column] for group in summary[level]}) > 1:
            found.append(_side_by_side(summary, level, column, width))
    return found


def _policies(summary: Summary) -> Table:
    by_domain = sorted(summary["domain"], key=lambda g: (str(g.by["policy"]), str(g.by["domain"])))
    several = len({group.by["domain"] for group in by_domain} - {None}) > 1
    groups = [*by_domain, *summary["overall"]] if several else summary["overall"]
    optimised = any(group.feasible is not None for group in groups)
    rows = [_cells(group, summary, optimised=optimised) for group in groups]
    if several:
        names = [str(group.by.get("domain", "all") or "–") for group in groups]
        rows = [[name, *row] for name, row in zip(names, rows, strict=True)]
    return Table([*(["domain"] if several else []), *_columns(summary, optimised=optimised)], rows)


def _columns(summary: Summary, *, optimised: bool) -> list[str]:
    k = summary.samples
    many = [f"pass@{k}", f"maj@{k}"] if k > 1 else []
    quality = ["SR", "AR"] if optimised else []
    rates = ["unscored", *["undecided"] * _any_undecided(summary)]
    used = [name for name, _ in _used(summary)]
    return ["policy", "n", "score [95 % CI]", "solved", *quality, *many, *rates, "chars", *used]


def _used(summary: Summary) -> list[tuple[str, Callable[[Group], int | None]]]:
    """Return what requests used, where any group of the table says so."""
    columns: list[tuple[str, Callable[[Group], int | None]]] = [
        ("tokens in", lambda group: group.prompt_tokens),
        ("tokens out", lambda group: group.tokens),
        ("retries", lambda group: group.retries),
    ]
    return [(name, of) for name, of in columns if any(map(of, summary["overall"]))]


def _any_undecided(summary: Summary) -> bool:
    return any(group.undecided for group in summary["overall"])


def _cells(group: Group, summary: Summary, *, optimised: bool) -> list[str]:
    k = summary.samples
    many = []
    if k > 1:
        many = [_mean(found) for found in (group.pass_at.get(k), group.majority_at.get(k))]
    quality = [_mean(group.feasible), _mean(group.ratio)] if optimised else []
    median = group.chars.get("median")
    return [
        str(group.by["policy"]),
        f"{group.problems}×{k}" if k > 1 else str(group.episodes),
        estimate_text(group.score),
        _mean(group.solved),
        *quality,
        *many,
        str(group.unscored),
        *([f"{group.undecided / group.episodes:.1%}"] * _any_undecided(summary)),
        "–" if median is None else f"{median:.0f}",
        *("–" if (count := of(group)) is None else str(count) for _, of in _used(summary)),
    ]


def _side_by_side(summary: Summary, level: str, column: str, width: int) -> Table:
    policies = [str(group.by["policy"]) for group in summary["overall"]]
    cells: dict[object, dict[str, str]] = {}
    for group in summary[level]:
        mean = estimate_text(group.score) if len(policies) == 1 else _mean(group.score)
        cells.setdefault(group.by[column], {})[str(group.by["policy"])] = mean
    names = {key: "default" if key is None else str(key) for key in cells}
    room = (width - max(map(len, names.values()))) // len(policies) - 2
    header = (
        ["score [95 % CI]"]
        if len(policies) == 1
        else short_names(policies, max(_LEAST_COLUMN, room))
    )
    rows = [
        [names[key], *(row.get(policy, "–") for policy in policies)] for key, row in cells.items()
    ]
    return Table([column, *header], rows)


def _mean(estimate: Estimate | None) -> str:
    return "–" if estimate is None or estimate.mean is None else f"{estimate.mean:.3f}"


def short_names(names: Sequence[str], limit: int) -> list[str]:
    """Return names of at most ``limit`` characters; their ends tell them apart best."""
    return [name if len(name) <= limit else f"…{name[1 - limit :]}" for name in names]
