"""The summary as a table for the terminal."""

from typing import Any

from rlvr_envs.core.errors import DependencyError
from rlvr_envs.evaluation.metrics import Estimate
from rlvr_envs.evaluation.summary import Group, Summary


def require_rich() -> None:
    """Check that the package for tables and progress bars is there.

    Raises:
        DependencyError: it is not.
    """
    try:
        import rich  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise DependencyError(
            'tables and progress bars need rich: pip install "rlvr-envs[report]"'
            " (or use --json --no-progress)"
        ) from error


def estimate_text(estimate: Estimate, digits: int = 3) -> str:
    """Return an estimate such as ``0.512 [0.431, 0.593]``."""
    if estimate.mean is None:
        return "–"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.mean:.{digits}f}"
    return f"{estimate.mean:.{digits}f} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def rows_of(summary: Summary) -> list[Group]:
    """Return the groups that a table shows: the tasks, and the whole where it is of several."""
    groups = sorted(summary["task"], key=lambda g: (str(g.by["task"]), str(g.by["policy"])))
    if len({group.by["task"] for group in groups}) > 1:
        groups += summary["overall"]
    return groups


def columns_of(summary: Summary) -> list[str]:
    """Return the headings that go with `cells_of`."""
    k = summary.samples
    many = [f"pass@{k}", f"maj@{k}"] if k > 1 else []
    return ["task", "policy", "n", "score [95 % CI]", "solved", *many, "unscored", "chars"]


def cells_of(group: Group, summary: Summary) -> list[str]:
    """Return the texts of one row."""
    k = summary.samples
    many = []
    if k > 1:
        for found in (group.pass_at.get(k), group.majority_at.get(k)):
            many.append("–" if found is None or found.mean is None else f"{found.mean:.3f}")
    solved = group.solved.mean
    median = group.chars.get("median")
    return [
        str(group.by.get("task") or "all tasks"),
        str(group.by["policy"]),
        f"{group.problems}×{k}" if k > 1 else str(group.episodes),
        estimate_text(group.score),
        "–" if solved is None else f"{solved:.3f}",
        *many,
        str(group.unscored),
        "–" if median is None else f"{median:.0f}",
    ]


def print_table(summary: Summary, console: Any) -> None:
    """Print the summary on a rich console."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for number, name in enumerate(columns_of(summary)):
        table.add_column(name, justify="left" if number < 2 else "right", overflow="fold")
    for group in rows_of(summary):
        style = "" if "task" in group.by else "bold"
        cells = [Text(cell) for cell in cells_of(group, summary)]
        table.add_row(*cells, style=style)
    console.print(table)
