"""Draws the curves of training runs: a page of HTML that needs nothing else, or a picture."""

import html
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from rlvr_envs.agents.grpo.tracking.curves import Panel, Points, Series, load, sections, spread
from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.extras import hint, pip_install
from rlvr_envs.core.files import replaced
from rlvr_envs.evaluation.report_plots import DRAW, POLICY_COLOURS, label

PICTURES = (".png", ".svg", ".pdf")

_COLUMNS = 3
_PANEL_HEIGHT, _PANEL_GAP, _BELOW = 190, 64, 52  # in pixels
_SMOOTH_SHARE = 20  # the window of the mean is this part of the longest run
_FEW_POINTS = 30  # so few are marked
_FONT = {"family": "system-ui, -apple-system, Segoe UI, Roboto, sans-serif", "size": 12}
_GRID = "#E6E9EE"


def draw(
    runs: Sequence[Path], out: Path, *, seeds: bool = False, smooth: int | None = None
) -> Path:
    """Draw the curves of runs and return the path of the file.

    Args:
        runs: folders of runs, each of its own colour; a folder that holds runs stands for one that
            was repeated with other seeds, and is drawn as their mean and range.
        out: an HTML file, or a picture for plotly's kaleido.
        seeds: all runs are one that was repeated with other seeds.
        smooth: the steps over which values are averaged; None for a twentieth of the longest run.

    Raises:
        ConfigError: there are no runs, or ``out`` has another suffix.
        DependencyError: a package is missing.
    """
    if out.suffix not in (".html", *PICTURES):
        raise ConfigError(f"a plot is a file .html, {', '.join(PICTURES)}, got {str(out)!r}")
    _require("plotly", hint("report", "plotly"))
    series = load(runs, seeds=seeds)
    found = sections(series)
    if not found:
        raise ConfigError(f"{', '.join(map(str, runs))}: nothing was logged that could be drawn")
    window = smooth or max(1, _longest(series) // _SMOOTH_SHARE)
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix in PICTURES:
        _require("kaleido", f"{pip_install('kaleido')}, and Chrome; an .html file needs neither")
        panels = [panel for section in found.values() for panel in section]
        figure = _figure(panels, series, window)
        figure.update_layout(width=1200)
        figure.write_image(out, scale=2)
    else:
        with replaced(out) as file:
            file.write(_page(found, series, window).encode(errors="replace"))
    return out


def _longest(series: Sequence[Series]) -> int:
    """Return the last step of all."""
    return max((max(run, default=0) for one in series for run in one.runs), default=0)


def _require(package: str, how: str) -> None:
    try:
        __import__(package)
    except ImportError as error:
        raise DependencyError(f"the plot needs {package}: {how}") from error


def _page(found: dict[str, list[Panel]], series: Sequence[Series], window: int) -> str:
    from plotly.offline import get_plotlyjs

    css = files("rlvr_envs.evaluation").joinpath("report.css").read_text(encoding="utf-8")
    title = "Training of " + ", ".join(html.escape(one.name) for one in series)
    cards = "".join(
        f'<h2>{name}</h2>\n<div class="card plot">'
        f"{_fragment(_figure(panels, series, window))}</div>\n"
        for name, panels in found.items()
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{css}</style>\n"
        f"<script>{get_plotlyjs()}</script>\n</head>\n<body>\n<main>\n"
        f'<h1>{title}</h1>\n<p class="note">{_note(series, window)}</p>\n{cards}</main>\n'
        f"<script>{DRAW}</script>\n</body>\n</html>\n"
    )


def _note(series: Sequence[Series], window: int) -> str:
    """Return what a reader has to know of the lines."""
    parts = []
    if window > 1:
        alone = any(len(one.runs) == 1 for one in series)
        parts.append(f"Lines: the mean of a step and the {window - 1} before it")
        parts[-1] += "; faint: single steps." if alone else "."
        parts.append("Held-out scores and the learning rate are not averaged.")
    if any(len(one.runs) > 1 for one in series):
        parts.append("Of several seeds: their mean, and the range from the least to the largest.")
    return " ".join(parts)


def _fragment(figure: Any) -> str:
    """Return a figure as `DRAW` looks for it; no text within can end the script element."""
    data = figure.to_json().replace("<", "\\u003c")
    return (
        f'<div class="figure" style="height:{figure.layout.height}px">'
        f'<script type="application/json">{data}</script></div>'
    )


def _figure(panels: Sequence[Panel], series: Sequence[Series], window: int) -> Any:
    """Return the panels as small plots beside each other."""
    from plotly.subplots import make_subplots

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
            for trace in _traces(panel, one, colour, window):
                figure.add_trace(trace, **where)
        figure.update_yaxes(title_text=panel.unit, title_standoff=6, **where)
        if panel.share:
            figure.update_yaxes(range=[-0.03, 1.03], **where)
        if place + _COLUMNS >= len(panels):  # the last one of its column
            figure.update_xaxes(title_text="training step", title_standoff=6, **where)
    for one, colour in zip(series, colours, strict=True):  # in the legend, whatever is drawn
        figure.add_scatter(
            x=[None], y=[None], name=label(one.name), mode="lines", line={"color": colour}
        )
    figure.update_xaxes(gridcolor=_GRID, zeroline=False, range=[0, _longest(series)])
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


def _traces(panel: Panel, series: Series, colour: str, window: int) -> list[Any]:
    """Return the lines of a series in a panel, and what is behind them."""
    traces = []
    for dash, runs in zip(("solid", "dot"), series.lines(panel), strict=False):
        band = spread(runs, 1 if panel.steady else window)
        if band:
            if len(runs) > 1:
                traces.append(_range(band, colour))
            elif window > 1 and not panel.steady:
                traces.append(_line(runs[0], _tint(colour, 0.3), "solid", width=1))
            means = {step: mean for step, (_, mean, _) in band.items()}
            traces.append(_line(means, colour, dash, name=series.name))
    return traces


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


def _range(band: dict[int, tuple[float, float, float]], colour: str) -> Any:
    """Return the area between the least and the largest."""
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
