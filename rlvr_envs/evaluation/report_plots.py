"""The plots of a report, as HTML fragments that need plotly.js on their page."""

import html
from collections.abc import Collection, Mapping
from typing import Any

from rlvr_envs.core.verdict import Status
from rlvr_envs.evaluation.episode import POLICY_ERROR
from rlvr_envs.evaluation.metrics import Estimate
from rlvr_envs.evaluation.page import placed
from rlvr_envs.evaluation.summary import Group, Summary

# Okabe and Ito's palette, which colour-blind readers can tell apart.
POLICY_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")

STATUS_COLOURS = {
    Status.CORRECT.value: "#2E9E6B",
    Status.PARTIAL.value: "#E9B949",
    Status.WRONG.value: "#D1605E",
    Status.UNPARSABLE.value: "#9A7FB0",
    Status.TIMEOUT.value: "#6F8FAF",
    Status.VERIFIER_ERROR.value: "#4A4F57",
    POLICY_ERROR: "#B8BEC7",
}

_FONT = {"family": "system-ui, -apple-system, Segoe UI, Roboto, sans-serif", "size": 12}
GRID = "#E6E9EE"
_BAND_ALPHA = 0.15
_LEGEND_ABOVE = {"orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top"}
_MANY_NAMES = 8

# From this ratio between the longest and the shortest on, lengths are shown on a logarithmic axis.
_WIDE_RATIO = 30


class Plots:
    """Draws the figures of one summary.

    Args:
        summary: the summary.
        by: what each row of a figure is: a ``task`` or a ``domain``.
        only: the rows; all of them by default.
    """

    def __init__(
        self, summary: Summary, by: str = "task", only: Collection[str] | None = None
    ) -> None:
        self.summary = summary
        self.policies = [group.by["policy"] for group in summary["overall"]]
        names = {str(group.by[by]) for group in summary[by]}
        self.names = sorted(names if only is None else names.intersection(only))
        self._by = by
        levels = {group.by["difficulty"] for group in summary["difficulty"]}
        self.levels = sorted(level for level in levels if level is not None)
        self._cells = {
            (g.by["policy"], str(g.by[by]), g.by["difficulty"]): g
            for g in summary[f"{by}_difficulty"]
        }
        self._groups = {(g.by["policy"], str(g.by[by])): g for g in summary[by]}

    def colour(self, policy: str) -> str:
        """Return the colour of a policy, the same in every plot."""
        return POLICY_COLOURS[self.policies.index(policy) % len(POLICY_COLOURS)]

    def scores(self) -> str:
        """Return the score of every row and policy with its interval."""
        import plotly.graph_objects as go

        figure = go.Figure()
        for policy in self.policies:
            found = [g for name in self.names if (g := self._groups.get((policy, name)))]
            found = [g for g in found if g.score.mean is not None]
            means = [g.score.mean or 0.0 for g in found]
            figure.add_scatter(
                y=[short(str(g.by[self._by])) for g in found],
                x=means,
                name=label(policy),
                orientation="h",
                offsetgroup=policy,
                mode="markers",
                marker={"color": self.colour(policy), "size": 9},
                error_x={
                    "array": [(g.score.high or m) - m for g, m in zip(found, means, strict=True)],
                    "arrayminus": [
                        m - (g.score.low if g.score.low is not None else m)
                        for g, m in zip(found, means, strict=True)
                    ],
                    "color": self.colour(policy),
                    "thickness": 2,
                    "width": 4,
                },
                hovertemplate="%{y}: %{x:.3f}<extra>" + label(policy) + "</extra>",
            )
        row = 12 + 12 * len(self.policies)
        figure.update_layout(scattermode="group", scattergap=0.35, xaxis_range=[-0.02, 1.02])
        self._name_axis(figure)
        return fragment(figure, row * len(self.names), legend=len(self.policies) > 1)

    def heatmap(self, policy: str) -> str:
        """Return the mean score of a policy by row and difficulty."""
        import plotly.graph_objects as go

        cells = [
            [self._cells.get((policy, name, level)) for level in self.levels] for name in self.names
        ]
        means = [[None if c is None else c.score.mean for c in row] for row in cells]
        figure = go.Figure(
            go.Heatmap(
                z=means,
                x=[str(level) for level in self.levels],
                y=[short(name) for name in self.names],
                zmin=0,
                zmax=1,
                colorscale="Viridis",
                xgap=2,
                ygap=2,
                texttemplate="%{z:.2f}" if len(self.levels) <= 12 else None,
                hovertemplate="%{y}, difficulty %{x}: %{z:.3f}<extra></extra>",
                colorbar={"thickness": 10, "outlinewidth": 0, "tickvals": [0, 0.5, 1]},
            )
        )
        figure.update_xaxes(title_text="difficulty", type="category")
        self._name_axis(figure)
        return fragment(figure, 26 * len(self.names))

    def curves(self) -> str:
        """Return the score against the difficulty, a small plot for each row."""
        from plotly.subplots import make_subplots

        columns = min(4, len(self.names))
        rows = -(-len(self.names) // columns)
        height = 200 * rows
        figure = make_subplots(
            rows=rows,
            cols=columns,
            shared_yaxes=True,
            subplot_titles=[short(name) for name in self.names],
            horizontal_spacing=0.025,
            vertical_spacing=56 / height,
        )
        for place, name in enumerate(self.names):
            row, column = place // columns + 1, place % columns + 1
            for policy in self.policies:
                for trace in self._curve(policy, name, legend=place == 0):
                    figure.add_trace(trace, row=row, col=column)
        figure.update_yaxes(range=[-0.04, 1.04], gridcolor=GRID, zeroline=False, dtick=0.5)
        figure.update_xaxes(gridcolor=GRID, zeroline=False, tickvals=self.levels)
        for title in figure.layout.annotations:
            title.font.size = 12
        return fragment(figure, height, legend=len(self.policies) > 1, top=24)

    def _curve(self, policy: str, name: str, *, legend: bool) -> list[Any]:
        found = [(level, self._cells.get((policy, name, level))) for level in self.levels]
        scores = {level: group.score for level, group in found if group}
        return band_and_line(scores, policy, self.colour(policy), legend=legend)

    def samples(self) -> str:
        """Return pass@k and maj@k of every policy over all tasks."""
        import plotly.graph_objects as go

        figure = go.Figure()
        for group in self.summary["overall"]:
            policy = group.by["policy"]
            colour = self.colour(policy)
            figure.add_traces(band_and_line(group.pass_at, policy, colour, legend=True))
            votes = band_and_line(group.majority_at, policy, colour, legend=False)[1]
            figure.add_trace(votes.update(line_dash="dot", marker_size=4))
        figure.update_xaxes(title_text="k", type="log", tickvals=self.summary.ks, gridcolor=GRID)
        figure.update_yaxes(range=[-0.04, 1.04], gridcolor=GRID, zeroline=False)
        return fragment(figure, 260, legend=True)

    def statuses(self, policy: str) -> str:
        """Return which share of a policy's episodes ended how, by row."""
        import plotly.graph_objects as go

        figure = go.Figure()
        for status, colour in STATUS_COLOURS.items():
            shares = [self._share(policy, name, status) for name in self.names]
            if any(shares):
                figure.add_bar(
                    y=[short(name) for name in self.names],
                    x=shares,
                    name=status.replace("_", " "),
                    orientation="h",
                    marker_color=colour,
                    hovertemplate="%{y}: %{x:.1%}<extra>" + status + "</extra>",
                )
        figure.update_layout(barmode="stack", bargap=0.3, legend_traceorder="normal")
        figure.update_xaxes(range=[0, 1.01], tickformat=".0%", dtick=0.25)
        self._name_axis(figure)
        return fragment(figure, 24 * len(self.names), legend=True)

    def _share(self, policy: str, name: str, status: str) -> float:
        group = self._groups.get((policy, name))
        return group.statuses.get(status, 0) / group.episodes if group else 0.0

    def lengths(self, policy: str) -> str:
        """Return the length of a policy's responses by row: quartiles, whiskers at 5 and 95 %."""
        import plotly.graph_objects as go

        found = [g for name in self.names if (g := self._groups.get((policy, name))) and g.chars]
        figure = go.Figure(
            go.Box(
                y=[short(str(g.by[self._by])) for g in found],
                orientation="h",
                line={"width": 1.3, "color": self.colour(policy)},
                fillcolor=transparent(self.colour(policy)),
                **_box(found),
            )
        )
        figure.update_xaxes(title_text="characters", rangemode="tozero")
        ends = [max(1.0, g.chars[mark]) for g in found for mark in ("p05", "p95")]
        if ends and max(ends) > _WIDE_RATIO * min(ends):
            figure.update_xaxes(type="log", dtick=1)
        self._name_axis(figure)
        return fragment(figure, 24 * len(self.names))

    def _name_axis(self, figure: Any) -> None:
        """Put the names on the vertical axis, in order from the top, all labelled."""
        names = [short(name) for name in self.names]
        figure.update_xaxes(gridcolor=GRID, zeroline=False)
        figure.update_yaxes(
            type="category",
            categoryorder="array",
            categoryarray=names,
            range=[len(names) - 0.5, -0.5],
            tickmode="array",
            tickvals=names,
            automargin=True,
            ticklabelstandoff=6,
        )


def band_and_line(
    estimates: Mapping[int, Estimate] | Mapping[float, Estimate],
    policy: str,
    colour: str,
    *,
    legend: bool,
) -> list[Any]:
    """Return a line through the means, and the area of their intervals below it."""
    import plotly.graph_objects as go

    known = {x: e for x, e in sorted(estimates.items()) if e.mean is not None}
    band = {x: e for x, e in known.items() if e.low is not None}
    line = go.Scatter(
        x=list(known),
        y=[e.mean for e in known.values()],
        name=label(policy),
        legendgroup=policy,
        showlegend=legend,
        mode="lines+markers",
        line={"color": colour, "width": 2},
        marker={"size": 6},
        hovertemplate="%{x}: %{y:.3f}<extra>" + label(policy) + "</extra>",
    )
    area = go.Scatter(
        x=[*band, *reversed(band)],
        y=[e.high for e in band.values()] + [e.low for e in reversed(band.values())],
        fill="toself",
        fillcolor=transparent(colour),
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
        legendgroup=policy,
        showlegend=False,
    )
    return [area, line]


def _box(found: list[Group]) -> dict[str, list[float]]:
    marks = (("lowerfence", "p05"), ("q1", "p25"), ("median", "median"), ("q3", "p75"))
    names = (*marks, ("upperfence", "p95"))
    # A logarithmic axis has no place for 0.
    return {name: [max(1.0, g.chars[mark]) for g in found] for name, mark in names}


def short(task: str) -> str:
    """Return a task's id without the namespace, safe in HTML and in plotly's own markup."""
    return html.escape(task.rpartition("/")[2])


def label(policy: str) -> str:
    """Return a policy's name for a legend: not too long, safe as plotly's markup."""
    return html.escape(policy if len(policy) <= 40 else policy[:39] + "…")


def transparent(colour: str) -> str:
    """Return a colour for the area of an interval."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{_BAND_ALPHA})"


def fragment(figure: Any, height: int, *, legend: bool = False, top: int = 0) -> str:
    """Return the figure as HTML, for `document` to show; ``height`` is that of the plotting area.

    A legend of many names stands beside the figure, else it is above.
    """
    aside = sum(t.name is not None and t.showlegend is not False for t in figure.data) > _MANY_NAMES
    above = 12 + top + 30 * (legend and not aside)
    below = 52
    figure.update_layout(
        height=above + max(height, 60) + below,
        font=_FONT,
        template="plotly_white",
        margin={"l": 10, "r": 16, "t": above, "b": below},
        showlegend=legend,
        legend={} if aside else _LEGEND_ABOVE,
    )
    return placed(figure)
