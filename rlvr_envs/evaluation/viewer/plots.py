"""Score against level, drawn by plotly where it is installed."""

import json
from collections.abc import Sequence

from rlvr_envs.core.errors import DependencyError
from rlvr_envs.evaluation.metrics import Estimate
from rlvr_envs.evaluation.page import require_plotly
from rlvr_envs.evaluation.report_plots import POLICY_COLOURS, band_and_line

# Of more tasks than this, the page has tables alone.
_MOST_TASKS = 60


def plotly_script() -> str:
    """Return plotly.js."""
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


def figures(
    names: Sequence[str], scores: Sequence[tuple[str | None, int | None, Sequence[Estimate]]]
) -> list[str]:
    """Return a figure of all tasks and one of each, as ASCII JSON; none without plotly or levels.

    Args:
        names: of the series.
        scores: task (None: all of them), level (None: the default) and the series' scores.
    """
    by_task: dict[str | None, dict[int, Sequence[Estimate]]] = {}
    for task, level, found in scores:
        if level is not None:
            by_task.setdefault(task, {})[level] = found
    if len(by_task.get(None, {})) < 2:
        return []
    try:
        require_plotly()
    except DependencyError:
        return []
    if len(by_task) == 2:  # of a single task, all is that task
        del by_task[None]
    chosen = list(by_task)[: _MOST_TASKS + 1]
    return [_figure(names, task, by_task[task]) for task in chosen]


def _figure(names: Sequence[str], task: str | None, levels: dict[int, Sequence[Estimate]]) -> str:
    import plotly.graph_objects as go

    figure = go.Figure()
    for place, name in enumerate(names):
        colour = POLICY_COLOURS[place % len(POLICY_COLOURS)]
        estimates = {level: found[place] for level, found in levels.items()}
        figure.add_traces(band_and_line(estimates, name, colour, legend=False))
    figure.update_yaxes(range=[-0.04, 1.04], zeroline=False, dtick=0.25)
    figure.update_xaxes(title_text="level", zeroline=False, tickvals=list(levels))
    figure.update_layout(template="none", margin={"l": 40, "r": 12, "t": 8, "b": 40}, height=240)
    drawn = json.loads(figure.to_json())
    title = "All tasks" if task is None else task.rpartition("/")[2]
    return json.dumps({"title": title, "data": drawn["data"], "layout": drawn["layout"]})
