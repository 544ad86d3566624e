"""Draws the curves of training runs: a page of HTML that needs nothing else, or a picture."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rlvr_envs.agents.grpo.tracking.curves import Panel, Points, Series, sections, smooth, spread
from rlvr_envs.agents.grpo.tracking.scaling import Curve, fit_runs, supervised
from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.extras import hint, pip_install
from rlvr_envs.core.files import replaced
from rlvr_envs.evaluation.page import document, placed
from rlvr_envs.evaluation.report_plots import POLICY_COLOURS, label

PICTURES = (".png", ".svg", ".pdf")

_COLUMNS = 3
_PANEL_HEIGHT, _PANEL_GAP, _BELOW = 190, 64, 52  # in pixels
_SMOOTH_SHARE = 20  # the window of the mean is this part of the longest run
_FEW_POINTS = 30  # so few are marked
_FONT = {"family": "system-ui, -apple-system, Segoe UI, Roboto, sans-serif", "size": 12}
_GRID = "#E6E9EE"


FITTED = ("reward/mean", "held_out/score")

Fits = Mapping[tuple[str, str], Curve]  # of a series' name and a metric


@dataclass(frozen=True, slots=True)
class _Look:
    """How all panels are drawn."""

    series: Sequence[Series]
    window: int
    fits: Fits

    @property
    def longest(self) -> int:
        """The last step of all."""
        return max((max(run, default=0) for one in self.series for run in one.runs), default=0)


def fit(series: Sequence[Series]) -> dict[tuple[str, str], Curve]:
    """Return the sigmoids of reward and held-out score, where there are points enough."""
    found = {(one.name, name): fit_runs(one.runs, name) for one in series for name in FITTED}
    return {key: curve for key, curve in found.items() if curve is not None}


def draw(
    series: Sequence[Series],
    out: Path,
    *,
    window: int | None = None,
    fits: Fits | None = None,
    mark: str = "",
) -> Path:
    """Draw the curves of runs and return the path of the file.

    Args:
        series: what `load` has found: runs, each of its own colour, or runs that differ in their
            seeds, which are drawn as their mean with its interval.
        out: an HTML file, or a picture for plotly's kaleido.
        window: the steps over which values are averaged; None for a twentieth of the longest run.
        fits: what `fit` has found, to be drawn as well.
        mark: what a page holds to say which runs it was made of (`mark_of`).

    Raises:
        ConfigError: nothing was logged, or ``out`` has another suffix.
        DependencyError: a package is missing.
    """
    if out.suffix not in (".html", *PICTURES):
        raise ConfigError(f"a plot is a file .html, {', '.join(PICTURES)}, got {str(out)!r}")
    need_plotly()
    found = sections(series)
    if not found:
        names = ", ".join(one.name for one in series)
        raise ConfigError(f"{names}: nothing was logged that could be drawn")
    look = _Look(series, 1, fits or {})
    look = replace(look, window=window or max(1, look.longest // _SMOOTH_SHARE))
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix in PICTURES:
        _require("kaleido", f"{pip_install('kaleido')}, and Chrome; an .html file needs neither")
        panels = [panel for section in found.values() for panel in section]
        figure = _figure(panels, look)
        figure.update_layout(width=1200)
        figure.write_image(out, scale=2)
    else:
        with replaced(out) as file:
            file.write(_page(found, look, mark).encode(errors="replace"))
    return out


def need_plotly() -> None:
    """Raise `DependencyError` where plotly is missing."""
    _require("plotly", hint("report", "plotly"))


def _require(package: str, how: str) -> None:
    try:
        __import__(package)
    except ImportError as error:
        raise DependencyError(f"the plot needs {package}: {how}") from error


def _page(found: dict[str, list[Panel]], look: _Look, mark: str) -> str:
    title = "Training of " + ", ".join(one.name for one in look.series)
    cards = "".join(
        f'<h2>{name}</h2>\n<div class="card plot">{placed(_figure(panels, look))}</div>\n'
        for name, panels in found.items()
    )
    return document(title, f'<!-- {mark} --><p class="note">{_note(look)}</p>\n{cards}')


def _note(look: _Look) -> str:
    """Return what a reader has to know of the lines."""
    series, window = look.series, look.window
    parts = []
    if window > 1:
        alone = any(len(one.runs) == 1 for one in series)
        parts.append(f"Lines: the mean of a step and the {window - 1} before it")
        parts[-1] += "; faint: single steps." if alone else "."
        parts.append("Held-out scores and the learning rate are not averaged.")
    if any(len(one.runs) > 1 for one in series):
        parts.append(
            "Of several seeds: their mean, its 95 % interval (Student's t over the seeds), and "
            "faint each of them; dotted lines have their mean alone."
        )
    if any(len(one.runs) == 1 and _banded(one) for one in series):
        parts.append("Shaded around the held-out score of one run: 95 % over problems.")
    if look.fits:
        parts.append("Dashed: a sigmoid over the steps (ScaleRL, arXiv 2510.13786).")
        parts += [
            f"{html.escape(name)}, {metric}: {html.escape(str(curve))}."
            for (name, metric), curve in look.fits.items()
        ]
    return " ".join(parts)


def _banded(series: Series) -> bool:
    return any("held_out/low" in row for run in series.runs for row in run.values())


def _figure(panels: Sequence[Panel], look: _Look) -> Any:
    """Return the panels as small plots beside each other."""
    from plotly.subplots import make_subplots

    series = look.series
    rows = -(-len(panels) // _COLUMNS)
    height = rows * _PANEL_HEIGHT + (rows - 1) * _PANEL_GAP
    figure = make_subplots(
        rows=rows,
        cols=_COLUMNS,
        subplot_titles=[html.escape(panel.title) for panel in panels],
        horizontal_spacing=0.08,
        vertical_spacing=_PANEL_GAP / height,
    )
    for title in figure.layout.annotations:
        title.font.size = 13
    colours = [POLICY_COLOURS[i % len(POLICY_COLOURS)] for i in range(len(series))]
    for place, panel in enumerate(panels):
        where = {"row": place // _COLUMNS + 1, "col": place % _COLUMNS + 1}
        for one, colour in zip(series, colours, strict=True):
            for trace in _traces(panel, one, colour, look):
                figure.add_trace(trace, **where)
        figure.update_yaxes(title_text=panel.unit, title_standoff=6, **where)
        # An interval of few seeds may be far wider than what was measured.
        ends = [-0.03, 1.03] if panel.share else _ends(panel, look)
        if ends:
            figure.update_yaxes(range=ends, **where)
        if place + _COLUMNS >= len(panels):  # the last one of its column
            figure.update_xaxes(title_text="training step", title_standoff=6, **where)
    for one, colour in zip(series, colours, strict=True):  # in the legend, whatever is drawn
        figure.add_scatter(
            x=[None], y=[None], name=label(one.name), mode="lines", line={"color": colour}
        )
    figure.update_xaxes(gridcolor=_GRID, zeroline=False, range=[0, look.longest])
    figure.update_yaxes(gridcolor=_GRID, zeroline=False, exponentformat="power")
    above = 40 + 30 * (len(series) > 1)
    figure.update_layout(
        height=above + height + _BELOW,
        font=_FONT,
        template="plotly_white",
        margin={"l": 10, "r": 16, "t": above, "b": _BELOW},
        showlegend=len(series) > 1,
        legend={"orientation": "h", "x": 0, "y": 1, "yref": "container", "yanchor": "top"},
    )
    return figure


def _traces(panel: Panel, series: Series, colour: str, look: _Look) -> list[Any]:
    """Return the lines of a series in a panel, and what is behind them."""
    traces = []
    window = 1 if panel.steady else look.window
    for dash, runs in zip(("solid", "dot"), series.lines(panel), strict=False):
        band = spread(runs, window)
        if not band:
            continue
        own = {} if len(runs) > 1 else _own_band(panel, series)
        if dash == "solid" and (len(runs) > 1 or own):
            traces.append(_area(own or band, colour))
        if len(runs) > 1 and dash == "solid":
            shades = [smooth(run, window) for run in runs]
        else:
            shades = runs if len(runs) == 1 and window > 1 else []
        traces += [_line(points, _tint(colour, 0.3), dash, width=1) for points in shades]
        means = {step: mean for step, (_, mean, _) in band.items()}
        traces.append(_line(means, colour, dash, name=series.name))
    curve = look.fits.get((series.name, panel.names[0]))
    if curve is not None:
        begun = supervised(series.runs[0])
        points = {step: curve(step - begun) for step in range(begun, look.longest + 1)}
        traces.append(_line(points, colour, "dash", width=1, name=f"{series.name}, fitted"))
    return traces


def _own_band(panel: Panel, series: Series) -> dict[int, tuple[float, float, float]]:
    """Return the interval that a run has measured itself."""
    if panel.band is None:
        return {}
    low, high = panel.band
    (run,) = series.runs
    return {
        step: (row[low], row[panel.names[0]], row[high])
        for step, row in run.items()
        if {low, high, panel.names[0]} <= row.keys()
    }


def _ends(panel: Panel, look: _Look) -> list[float] | None:
    """Return the range of a panel with runs of several seeds: that of their lines."""
    if all(len(one.runs) == 1 for one in look.series):
        return None
    window = 1 if panel.steady else look.window
    values = [
        value
        for one in look.series
        for runs in one.lines(panel)
        for run in runs
        for value in smooth(run, window).values()
    ]
    if not values:
        return None
    margin = 0.08 * (max(values) - min(values)) or 0.1 * abs(max(values)) or 1.0
    return [min(values) - margin, max(values) + margin]


def _line(
    points: Points, colour: str, dash: str, *, width: int = 2, name: str | None = None
) -> Any:
    """Return a line; one without a name tells nothing under the mouse."""
    import plotly.graph_objects as go

    return go.Scatter(
        x=list(points),
        y=list(points.values()),
        mode="lines+markers" if name and len(points) <= _FEW_POINTS else "lines",
        marker={"size": 5},
        line={"color": colour, "width": width, "dash": dash},
        hoverinfo="skip" if name is None else None,
        hovertemplate=f"%{{x}}: %{{y:.4g}}<extra>{label(name)}</extra>" if name else None,
        showlegend=False,
    )


def _area(band: dict[int, tuple[float, float, float]], colour: str) -> Any:
    """Return the area between low and high ends."""
    import plotly.graph_objects as go

    return go.Scatter(
        x=[*band, *reversed(band)],
        y=[
            *(high for _, _, high in band.values()),
            *(low for low, _, _ in reversed(band.values())),
        ],
        fill="toself",
        fillcolor=_tint(colour, 0.18),
        mode="lines",
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
    )


def _tint(colour: str, alpha: float) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"
