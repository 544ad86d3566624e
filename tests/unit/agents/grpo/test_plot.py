"""The curves of runs: what is drawn, how it is averaged, and what the page holds."""

import html.parser
import json
import sys

import numpy as np
import pytest

from rlvr_envs.agents.grpo.tracking import plot
from rlvr_envs.agents.grpo.tracking.curves import Panel, Series, load, sections, smooth, spread
from rlvr_envs.agents.grpo.tracking.metrics import Metrics
from rlvr_envs.core.errors import ConfigError, DependencyError


def run(folder, steps, **first):
    metrics = Metrics(folder, quiet=True)
    for step, values in enumerate(steps, 1):
        metrics.log(step, {**(first if step == 1 else {}), **values})
    metrics.close()
    return folder


def draw(runs, out, **given):
    return plot.draw(load(runs), out, **given)


def seeded(folder, seed, **changes):
    """Leave a configuration as a run does."""
    config = {
        "sampling": {"groups": 4} | changes,
        "policy": {"threads": seed + 1},
        "output": {"out": str(folder)},
        "seed": seed,
    }
    (folder / "config.json").write_text(json.dumps({"config": config}))
    return folder


def rewards(*values):
    return [{"reward/mean": value} for value in values]


def figures(page):
    """The figures of a page, as plotly's JSON."""

    class Scripts(html.parser.HTMLParser):
        def __init__(self):
            super().__init__()
            self.found, self.inside = [], False

        def handle_starttag(self, tag, attrs):
            self.inside = tag == "script" and ("type", "application/json") in attrs

        def handle_endtag(self, tag):
            self.inside = False

        def handle_data(self, data):
            if self.inside:
                self.found.append(json.loads(data))

    parser = Scripts()
    parser.feed(page.read_text("utf-8"))
    return parser.found


def titles(figure):
    return [a["text"] for a in figure["layout"]["annotations"]]


def test_a_value_is_averaged_over_steps_not_over_lines():
    points = {1: 1.0, 2: 3.0, 10: 8.0}
    assert smooth(points, 1) == points
    assert smooth(points, 2) == {1: 1.0, 2: 2.0, 10: 8.0}
    assert smooth(points, 9) == {1: 1.0, 2: 2.0, 10: 5.5}
    assert smooth(points, 3, [0, 4, 5]) == {4: 3.0}


def test_the_interval_of_seeds_ends_with_the_shortest():
    runs = [{1: 0.0, 2: 1.0, 3: 9.0}, {1: 0.5, 2: 0.0}]
    half = 12.7062 * 0.5 / 2  # t of one degree of freedom, standard error of two values
    assert spread(runs, 1) == {
        1: pytest.approx((0.25 - half, 0.25, 0.25 + half), abs=1e-4),
        2: pytest.approx((0.5 - 2 * half, 0.5, 0.5 + 2 * half), abs=1e-4),
    }
    assert spread(runs, 2)[2][1] == 0.375
    assert spread([{1: 0.0, 4: 2.0}, {2: 1.0, 4: 2.0}], 3)[2][1] == 0.5
    three = spread([{1: 1.0}, {1: 2.0}, {1: 3.0}], 1)[1]
    assert three == pytest.approx((2 - 4.30265 / 3**0.5, 2, 2 + 4.30265 / 3**0.5), abs=1e-4)
    assert spread([{1: 3.0}], 1) == {1: (3.0, 3.0, 3.0)}
    assert spread([], 1) == {}


def test_the_interval_holds_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(2000):
        low, _, high = spread([{1: value} for value in rng.normal(size=4)], 1)[1]
        hits += low <= 0 <= high
    assert 0.935 < hits / 2000 < 0.965


def test_runs_that_differ_in_the_seed_alone_are_one(tmp_path):
    runs = [seeded(run(tmp_path / f"gcd-seed{i}", rewards(i)), i) for i in range(3)]
    other = seeded(run(tmp_path / "gcd-large", rewards(9)), 0, groups=8)
    found = load([runs[0], other, *runs[1:]])
    assert [(one.name, len(one.runs)) for one in found] == [("gcd, 3 seeds", 3), ("gcd-large", 1)]
    assert [one.name for one in load([*runs, other], each=True)] == [
        *(f"gcd-seed{i}" for i in range(3)),
        "gcd-large",
    ]
    again = seeded(run(tmp_path / "again", rewards(5)), 0)
    assert [len(one.runs) for one in load([runs[0], again])] == [1, 1], "one seed twice"
    (run(tmp_path / "strange", rewards(5)) / "config.json").write_text("[]")
    assert [len(one.runs) for one in load([tmp_path / "strange", runs[0]])] == [1, 1]
    assert load([tmp_path / "gcd-seed0", tmp_path / "gcd-seed1"])[0].name == "gcd, 2 seeds"


def test_a_folder_of_runs_is_one_with_several_seeds(tmp_path):
    for seed in range(3):
        run(tmp_path / "dapo" / f"seed{seed}", rewards(seed))
    run(tmp_path / "grpo", rewards(5.0))
    dapo, grpo = load([tmp_path / "dapo", tmp_path / "grpo"])
    assert (dapo.name, grpo.name) == ("dapo, 3 seeds", "grpo")
    assert [r[1]["reward/mean"] for r in dapo.runs] == [0, 1, 2]
    (one,) = load([tmp_path / "dapo" / "seed0", tmp_path / "grpo"], seeds=True)
    assert (one.name, len(one.runs)) == ("2 seeds", 2)
    with pytest.raises(ConfigError, match="is not a run"):
        load([tmp_path / "dapo" / "seed7"])
    with pytest.raises(ConfigError, match="at least one run"):
        load([])


def test_runs_of_one_name_are_told_apart(tmp_path):
    a, b = run(tmp_path / "a" / "run", rewards(1)), run(tmp_path / "b" / "run", rewards(1))
    assert [one.name for one in load([a, b])] == ["a/run", "b/run"]


def test_only_what_was_logged_has_a_panel():
    rows = {1: {"reward/mean": 0.5, "solve/Gcd-v0/10": 1.0, "solve/Gcd-v0/2": 1.0, "odd": 3.0}}
    found = sections([Series("a", (rows,))])
    assert {title: [p.title for p in panels] for title, panels in found.items()} == {
        "Learning": ["Reward"],
        "Solve rate by task and difficulty": ["Gcd-v0, difficulty 2", "Gcd-v0, difficulty 10"],
    }


def test_many_difficulties_are_put_together_by_task():
    names = [f"solve/{task}/{level}" for task in ("A-v0", "B-v0") for level in range(13)]
    rows = {1: dict.fromkeys(names, 0.0) | {"solve/A-v0/3": 1.0}, 2: {"solve/A-v0/0": 0.5}}
    series = Series("a", (rows,))
    (panels,) = sections([series]).values()
    assert [panel.title for panel in panels] == ["A-v0, all difficulties", "B-v0, all difficulties"]
    assert series.lines(panels[0]) == [[{1: pytest.approx(1 / 13), 2: 0.5}]]
    assert series.lines(Panel("", "", ("solve/A-v0/3", "none"))) == [[{1: 1.0}], []]


def test_the_page_draws_seeds_as_mean_and_interval(tmp_path):
    pytest.importorskip("plotly")
    for seed, shift in enumerate((0.0, 0.25, 0.5)):
        run(tmp_path / "s" / str(seed), rewards(*(0.1 * i + shift for i in range(5))))
    page = draw([tmp_path / "s"], tmp_path / "new" / "curves.html", window=1)
    assert page == tmp_path / "new" / "curves.html"
    assert [path.name for path in page.parent.iterdir()] == ["curves.html"]
    (figure,) = figures(page)
    assert titles(figure) == ["Reward"]
    area, *faint, line, _ = figure["data"]
    assert area["fill"] == "toself"
    means = [0.25, 0.35, 0.45, 0.55, 0.65]
    assert line["y"] == pytest.approx(means)
    half = 4.30265 * 0.25 / 3**0.5
    above, below = [mean + half for mean in means], [mean - half for mean in means[::-1]]
    assert area["y"] == pytest.approx([*above, *below], abs=1e-4)
    assert [trace["y"][0] for trace in faint] == [0.0, 0.25, 0.5]
    axes = figure["layout"]
    assert axes["xaxis"]["title"]["text"] == "training step"
    assert axes["yaxis"]["title"]["text"] == "mean of a step"
    assert axes["yaxis"]["range"] == pytest.approx([-0.072, 0.972]), "of the lines"
    assert "95 % interval (Student's t over the seeds)" in page.read_text("utf-8")


def test_a_single_run_has_the_interval_that_it_measured(tmp_path):
    pytest.importorskip("plotly")
    steps = [
        {
            "held_out/score": s,
            "held_out/low": s - 0.1,
            "held_out/high": s + 0.2,
            "held_out/pass@2": s,
        }
        for s in (0.25, 0.5)
    ]
    page = draw([run(tmp_path / "r", steps)], tmp_path / "curves.html")
    (figure,) = figures(page)
    assert titles(figure) == ["Held-out score (dotted: greedy)", "Held-out pass@2"]
    area, line, tries, _ = figure["data"]
    assert area["y"] == pytest.approx([0.45, 0.7, 0.4, 0.15])
    assert (line["y"], tries["y"]) == ([0.25, 0.5], [0.25, 0.5])
    assert "95 % over problems" in page.read_text("utf-8")


def test_a_fit_is_drawn_and_said(tmp_path):
    pytest.importorskip("plotly")
    series = load([run(tmp_path / "r", rewards(*(s / (s + 10) for s in range(1, 41))))])
    fits = plot.fit(series)
    page = plot.draw(series, tmp_path / "curves.html", fits=fits, window=1)
    (figure,) = figures(page)
    line, fitted, _ = figure["data"]
    assert fitted["line"]["dash"] == "dash"
    assert fitted["x"] == list(range(41))
    assert fitted["y"][1:] == pytest.approx(line["y"], abs=1e-3)
    assert "r, reward/mean: " in page.read_text("utf-8")
    assert plot.fit(load([run(tmp_path / "short", rewards(0, 1))])) == {}


def test_smoothing_is_drawn_over_the_steps_and_said(tmp_path):
    pytest.importorskip("plotly")
    steps = [{"reward/mean": i % 2, "held_out/score": i % 2} for i in range(100)]
    page = draw([run(tmp_path / "r", steps)], tmp_path / "curves.html")
    (figure,) = figures(page)
    raw, line, held_out, _ = figure["data"]
    assert raw["y"] == [i % 2 for i in range(100)]
    assert line["y"][0] == 0
    assert line["y"][50:] == pytest.approx([0.4 + 0.2 * (i % 2) for i in range(50, 100)])
    assert held_out["y"] == raw["y"]
    text = page.read_text("utf-8")
    assert "the mean of a step and the 4 before it; faint: single steps." in text
    assert "Of several seeds" not in text
    assert 'http-equiv="refresh"' not in text
    assert "<script src" not in text


def test_each_run_has_its_colour_and_greedy_is_dotted(tmp_path):
    pytest.importorskip("plotly")
    steps = [{"held_out/score": 0.25, "held_out/greedy": 0.5}]
    runs = [run(tmp_path / name, steps) for name in ("<b>one", "two")]
    page = draw(runs, tmp_path / "curves.html")
    (figure,) = figures(page)
    lines = figure["data"]
    drawn = [(t["line"]["color"], t["line"].get("dash"), t["y"]) for t in lines[:4]]
    first, second = drawn[0][0], drawn[2][0]
    assert first != second
    assert drawn == [
        (first, "solid", [0.25]),
        (first, "dot", [0.5]),
        (second, "solid", [0.25]),
        (second, "dot", [0.5]),
    ]
    assert [t["name"] for t in lines[4:]] == ["&lt;b&gt;one", "two"]
    assert "<b>one" not in page.read_text("utf-8")


def test_what_cannot_be_drawn_is_said(tmp_path, monkeypatch):
    pytest.importorskip("plotly")
    good = run(tmp_path / "r", rewards(1, 2))
    with pytest.raises(ConfigError, match=r"\.html"):
        draw([good], tmp_path / "curves.txt")
    with pytest.raises(ConfigError, match="nothing was logged"):
        draw([run(tmp_path / "odd", [{"odd": 1.0}])], tmp_path / "curves.html")
    monkeypatch.setitem(sys.modules, "kaleido", None)
    with pytest.raises(DependencyError, match="pip install kaleido"):
        draw([good], tmp_path / "curves.png")
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(DependencyError, match="pip install 'plotly"):
        draw([good], tmp_path / "curves.html")
    assert not list(tmp_path.glob("curves*"))


def test_a_picture_is_left_to_kaleido(tmp_path, monkeypatch):
    go = pytest.importorskip("plotly.graph_objects")
    written = []
    monkeypatch.setitem(sys.modules, "kaleido", object())
    monkeypatch.setattr(
        go.Figure,
        "write_image",
        lambda self, out, scale: written.append((titles(self.to_dict()), out)),
    )
    steps = [{"reward/mean": 0.5, "entropy": 1.0}]
    out = draw([run(tmp_path / "r", steps)], tmp_path / "curves.png")
    assert written == [(["Reward", "Entropy (dotted: exact)"], out)]
