"""The figures of a benchmark's report, as HTML for `rlvr_envs.evaluation.page.document`."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from rlvr_envs.bench import statistics
from rlvr_envs.bench.compare import Comparison, draws
from rlvr_envs.bench.entries import Entries, Spent, Track
from rlvr_envs.evaluation.metrics import Estimate
from rlvr_envs.evaluation.report_plots import (
    GRID,
    POLICY_COLOURS,
    band_and_line,
    fragment,
    label,
    transparent,
)

# Colours come again after seven algorithms, with other strokes.
_STROKES = ("solid", "dash", "dot", "dashdot", "longdash")

_SHOWN = 8  # so many algorithms are drawn at first; a click on its name draws another one
_BUDGETS = 11  # points of a sample-efficiency curve
_TAUS = 41  # points of a performance profile
_FEW_CELLS = 12  # up to so many rows, the cells of the matrix have numbers


class Plots:
    """Draws the figures of one comparison.

    Algorithms are in the order of their IQM at equal samples, and each looks the same everywhere.
    """

    def __init__(self, comparison: Comparison, entries: Entries) -> None:
        self.comparison = comparison
        self.entries = entries
        self.names = [each.algorithm for each in comparison.rankings["samples"].standings]
        self.axes = list(dict.fromkeys(entries.suite.experiment(e).axis for e in entries.start))

    def colour(self, name: str) -> str:
        """Return the colour of an algorithm."""
        return POLICY_COLOURS[self.names.index(name) % len(POLICY_COLOURS)]

    def _look(self, name: str) -> dict[str, Any]:
        """Return what tells an algorithm's line from others of its colour, and hides the many."""
        place = self.names.index(name)
        stroke = _STROKES[place // len(POLICY_COLOURS) % len(_STROKES)]
        return {"line_dash": stroke, "visible": True if place < _SHOWN else "legendonly"}

    def iqm(self, track: Track) -> str:
        """Return the IQM of every algorithm with its interval, the best one at the top."""
        import plotly.graph_objects as go

        figure = go.Figure()
        standings = self.comparison.rankings[track].standings
        for place, each in enumerate(standings):
            value, low, high = _ends(each.iqm)
            figure.add_scatter(
                x=[value],
                y=[place],
                mode="markers",
                marker={"color": self.colour(each.algorithm), "size": 9},
                error_x={"array": [high - value], "arrayminus": [value - low]},
                hovertemplate=f"%{{x:.3f}}, {low:.3f} to {high:.3f}"
                f"<extra>{label(each.algorithm)}</extra>",
            )
        figure.update_xaxes(title_text="interquartile mean", gridcolor=GRID, zeroline=True)
        figure.update_yaxes(
            tickvals=list(range(len(standings))),
            ticktext=[label(each.algorithm) for each in standings],
            range=[len(standings) - 0.5, -0.5],
            automargin=True,
            ticklabelstandoff=6,
            showgrid=False,
            zeroline=False,
        )
        return fragment(figure, 26 * len(standings))

    def efficiency(self, spent: Spent) -> str:
        """Return the IQM against what was spent: shares of the budget, or seconds."""
        whole = 1.0
        if spent == "device_s":
            runs = (run for name in self.names for run in self.entries.of(name))
            whole = max(run.points[-1].device_s for run in runs)
        budgets = np.linspace(0, whole, _BUDGETS).tolist()
        curves = {}
        for name in self.names:
            scores = self.entries.normalised(self.entries.curves(name, spent, budgets))
            found = statistics.estimates(
                statistics.iqm, scores, rng=draws("curve", spent, name), how=self.comparison.how
            )
            curves[name] = dict(zip(budgets, found, strict=True))
        figure = self._lines(curves)
        if spent == "device_s":
            figure.update_xaxes(title_text="seconds of training on the device")
        else:
            figure.update_xaxes(title_text=f"share of the {spent}", tickformat=".0%")
        figure.update_yaxes(title_text="interquartile mean")
        return fragment(figure, 300, legend=len(self.names) > 1)

    def profile(self, track: Track) -> str:
        """Return which share of an algorithm's runs scores more than each threshold."""
        scores = {
            name: self.entries.normalised(self.entries.scores(name, track)) for name in self.names
        }
        lowest = min(float(values.min()) for found in scores.values() for values in found.values())
        taus = np.linspace(min(0.0, max(-1.0, lowest)), 1.0, _TAUS).tolist()
        curves = {}
        for name in self.names:
            found = statistics.performance_profile(
                scores[name], taus, draws("profile", track, name), self.comparison.how
            )
            curves[name] = dict(zip(taus, found, strict=True))
        figure = self._lines(curves)
        figure.update_traces(mode="lines")
        figure.update_xaxes(title_text="normalised score τ")
        figure.update_yaxes(title_text="runs above τ", tickformat=".0%", range=[-0.02, 1.02])
        return fragment(figure, 300, legend=len(self.names) > 1)

    def _lines(self, curves: Mapping[str, Mapping[float, Estimate]]) -> Any:
        import plotly.graph_objects as go

        figure = go.Figure()
        for name, curve in curves.items():
            for trace in band_and_line(curve, name, self.colour(name), legend=True):
                figure.add_trace(trace.update(self._look(name)))
        figure.update_xaxes(gridcolor=GRID, zeroline=False)
        figure.update_yaxes(gridcolor=GRID, zeroline=False)
        return figure

    def improvement(self, track: Track) -> str:
        """Return the matrix of probabilities of improvement: of the row over the column."""
        import plotly.graph_objects as go

        ranking = self.comparison.rankings[track]
        names = [each.algorithm for each in ranking.standings]
        size = len(names)
        chances: list[list[float | None]] = [[None] * size for _ in names]
        texts = [[""] * size for _ in names]
        for pair in ranking.pairs:
            row, column = names.index(pair.x), names.index(pair.y)
            chance, low, high = _ends(pair.probability)
            star = "" if pair.verdict == "not separated" else "*"
            chances[row][column], chances[column][row] = chance, 1 - chance
            texts[row][column] = f"{chance:.2f}{star}<br>{low:.2f} to {high:.2f}"
            texts[column][row] = f"{1 - chance:.2f}{star}<br>{1 - high:.2f} to {1 - low:.2f}"
        figure = go.Figure(
            go.Heatmap(
                z=chances,
                text=texts,
                texttemplate="%{text}" if size <= _FEW_CELLS else None,
                zmin=0,
                zmax=1,
                colorscale="RdBu",
                xgap=2,
                ygap=2,
                customdata=[[f"{label(x)} over {label(y)}" for y in names] for x in names],
                hovertemplate="%{customdata}: %{text}<extra></extra>",
                hoverongaps=False,
                colorbar={"thickness": 10, "outlinewidth": 0, "tickvals": [0, 0.5, 1]},
            )
        )
        plain = {"showgrid": False, "zeroline": False, "tickvals": list(range(size))}
        figure.update_xaxes(ticktext=[str(place + 1) for place in range(size)], **plain)
        figure.update_yaxes(
            ticktext=[f"{label(name)}  {place + 1}" for place, name in enumerate(names)],
            range=[size - 0.5, -0.5],
            automargin=True,
            **plain,
        )
        return fragment(figure, (44 if size <= _FEW_CELLS else 20) * size)

    def radar(self, track: Track) -> str:
        """Return the mean normalised score of the experiments of each axis."""
        import plotly.graph_objects as go

        figure = go.Figure()
        lowest = 0.0
        for name in self.names:
            values = self._by_axis(name, track)
            lowest = min(lowest, *values)
            colour = self.colour(name)
            figure.add_scatterpolar(
                r=[*values, values[0]],
                theta=[*map(label, self.axes), label(self.axes[0])],
                name=label(name),
                mode="lines+markers",
                fill="toself",
                fillcolor=transparent(colour),
                line={"color": colour, "width": 2},
                hovertemplate="%{theta}: %{r:.3f}<extra>" + label(name) + "</extra>",
                **self._look(name),
            )
        figure.update_polars(
            radialaxis={"range": [lowest, 1.0], "angle": 90 - 180 / len(self.axes), "nticks": 6},
            angularaxis={"direction": "clockwise", "rotation": 90},
        )
        return fragment(figure, 380, legend=len(self.names) > 1, top=24)

    def _by_axis(self, name: str, track: Track) -> Sequence[float]:
        scores = self.entries.normalised(self.entries.scores(name, track))
        found: dict[str, list[float]] = {}
        for experiment, values in scores.items():
            axis = self.entries.suite.experiment(experiment).axis
            found.setdefault(axis, []).append(float(values.mean()))
        return [fmean(found[axis]) for axis in self.axes]


def _ends(estimate: Estimate) -> tuple[float, float, float]:
    """Return the value and the ends of its interval, which are the value's where there is none."""
    value = estimate.mean or 0.0
    low = value if estimate.low is None else min(value, estimate.low)
    high = value if estimate.high is None else max(value, estimate.high)
    return value, low, high
