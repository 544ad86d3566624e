"""The summary as tables of text: one of the policies, the tasks side by side, and ratings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rlvr_envs.evaluation.metrics import Estimate, is_comparable
from rlvr_envs.evaluation.ratings import Rated, RatingGroup, Ratings
from rlvr_envs.evaluation.summary import Group, Summary

_LEAST_COLUMN = 7  # "0.123" and a sign that more follows
_NOTE_CHARS = 34  # "999 problems: too few to compare" and its margin


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


def too_few_text(group: Group) -> str:
    """Return what is said of a group instead of an interval that is too wide, else nothing."""
    if group.score.mean is None or is_comparable(group.score):
        return ""
    problems = "1 problem" if group.problems == 1 else f"{group.problems} problems"
    return f"{problems}: too few to compare"


def tables(summary: Summary, width: int = 100, *, per_task: bool = False) -> list[Table]:
    """Return what is to be read at a glance.

    First a row for each policy, and for each of its domains where there are several. Then, where
    there are several, the difficulties and the tasks: a row each, and a column of mean scores
    for each policy. Many tasks of several domains (`Summary.is_wide`) are left out unless
    ``per_task`` asks for them; then they stand below their domains. Everything else is in
    ``summary.json``.
    """
    found = [_policies(summary)]
    if len({group.by["difficulty"] for group in summary["difficulty"]}) > 1:
        rows = _rows(summary, "difficulty")
        found.append(_side_by_side(summary, "difficulty", rows, width))
    tasks = _rows(summary, "task")
    if len(tasks) > 1 and (per_task or not summary.is_wide):
        if summary.is_wide:
            domains = _rows(summary, "domain")
            rows = {}
            for domain, names in summary.domains.items():
                rows[f"{domain} ({len(names)} tasks)"] = domains[domain]
                rows |= {f"  {name}": tasks.pop(name) for name in names}
            tasks = rows | tasks  # what is left posed no problem
        found.append(_side_by_side(summary, "task", tasks, width))
    return found


_Rows = dict[str, dict[str, Group]]  # name of a row → policy → group


def _rows(summary: Summary, level: str) -> _Rows:
    rows: _Rows = {}
    missing = "default" if level == "difficulty" else "(no problem)"
    for group in summary[level]:
        name = missing if group.by[level] is None else str(group.by[level])
        rows.setdefault(name, {})[str(group.by["policy"])] = group
    return rows


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
        f"{group.problems}×{k}"
        if 1 < k == group.episodes / group.problems
        else str(group.episodes),
        estimate_text(group.score),
        _mean(group.solved),
        *quality,
        *many,
        str(group.unscored),
        *([f"{group.undecided / group.episodes:.1%}"] * _any_undecided(summary)),
        "–" if median is None else f"{median:.0f}",
        *("–" if (count := of(group)) is None else str(count) for _, of in _used(summary)),
    ]


def _side_by_side(summary: Summary, column: str, rows: _Rows, width: int) -> Table:
    policies = [str(group.by["policy"]) for group in summary["overall"]]
    notes = {name: _note(row) if column == "task" else "" for name, row in rows.items()}
    noted = any(notes.values())
    if len(policies) == 1:
        (policy,) = policies
        cells = [[name, _interval(row.get(policy), notes[name])] for name, row in rows.items()]
        return Table([column, "score [95 % CI]"], cells)
    room = (width - max(map(len, rows)) - noted * _NOTE_CHARS) // len(policies) - 2
    cells = [
        [name, *(_score(row.get(policy)) for policy in policies), *[notes[name]] * noted]
        for name, row in rows.items()
    ]
    return Table(
        [column, *short_names(policies, max(_LEAST_COLUMN, room)), *["note"] * noted], cells
    )


def rating_tables(ratings: Ratings, width: int = 100) -> list[Table]:
    """Return the ratings of the whole, and those by task and by difficulty where there are several.

    The whole has a row for each player; the others have a column for each.
    """
    (whole,) = ratings.groups["overall"]
    met = list(dict.fromkeys(name for each in whole.players for name in each.against))
    header = ["player", "rating [95 % CI]", "games", "points", "won", "drawn", "lost"]
    rows = [
        [
            player_name(each),
            rating_text(each),
            str(each.games),
            "–" if each.points is None else f"{each.points:.3f}",
            *map(str, (each.won, each.drawn, each.lost)),
            *(f"{each.against[name]:.3f}" if name in each.against else "–" for name in met),
        ]
        for each in whole.players
    ]
    found = [Table([*header, *(f"vs {name}" for name in met)], rows)]
    for column in ("task", "difficulty"):
        groups = ratings.groups[column]
        if len(groups) > 1:
            found.append(_ratings_by(column, groups, whole.players, width))
    return found


def _ratings_by(
    column: str, groups: Sequence[RatingGroup], players: Sequence[Rated], width: int
) -> Table:
    rows = []
    for group in groups:
        inside = {(each.player, each.anchor): each for each in group.players}
        name = "default" if group.by[column] is None else str(group.by[column])
        rated = [inside.get((each.player, each.anchor)) for each in players]
        rows.append([name, *("–" if each is None else _rating(each) for each in rated)])
    room = (width - max(len(row[0]) for row in rows)) // len(players) - 2
    names = short_names([player_name(each) for each in players], max(_LEAST_COLUMN, room))
    return Table([column, *names], rows)


def player_name(rated: Rated) -> str:
    """Return how a table names a player: a policy may have a built-in player's name."""
    return f"built-in {rated.player}" if rated.anchor else rated.player


def rating_text(rated: Rated) -> str:
    """Return a rating such as ``412 [350, 480]``, ``700 [420, ∞]`` or what keeps it from one."""
    if rated.note:
        return f"{_rating(rated)} ({rated.note})"
    if rated.rating is None or rated.low == rated.high:  # the reference player
        return _rating(rated)
    low = "-∞" if rated.low is None else f"{rated.low:.0f}"
    high = "∞" if rated.high is None else f"{rated.high:.0f}"
    return f"{_rating(rated)} [{low}, {high}]"


def _rating(rated: Rated) -> str:
    return "–" if rated.rating is None else f"{rated.rating:.0f}"


def rating_notes(ratings: Ratings) -> list[str]:
    """Return what has to be said beside the ratings, as sentences."""
    (whole,) = ratings.groups["overall"]
    notes = [f"Elo scale: 400 points are odds of ten to one, and {ratings.reference} has 0."]
    if sum(each.anchor for each in whole.players) > 1:
        notes[0] += " The games of built-in players are those between them."
    if whole.left_out:
        notes.append(
            f"Games left out: {whole.left_out}, not scored or without the one with sides changed."
        )
    return [*notes, *(f"{note[:1].upper()}{note[1:]}." for note in ratings.notes)]


def _note(row: Mapping[str, Group]) -> str:
    """Return why the means of a row say nothing, if one of them does not."""
    return next(filter(None, map(too_few_text, row.values())), "")


def _interval(group: Group | None, note: str) -> str:
    if group is None or not note:
        return "–" if group is None else estimate_text(group.score)
    return f"{_mean(group.score)} ({note})"


def _score(group: Group | None) -> str:
    return "–" if group is None else _mean(group.score)


def _mean(estimate: Estimate | None) -> str:
    return "–" if estimate is None or estimate.mean is None else f"{estimate.mean:.3f}"


def short_names(names: Sequence[str], limit: int) -> list[str]:
    """Return names of at most ``limit`` characters; their ends tell them apart best."""
    return [name if len(name) <= limit else f"…{name[1 - limit :]}" for name in names]
