"""The benchmark's page: complete, well formed, harmless, whatever was run."""

import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from fakes import bench_runs

from rlvr_envs.bench.compare import compare, compared
from rlvr_envs.bench.entries import gather
from rlvr_envs.bench.results import Algorithm
from rlvr_envs.bench.statistics import Bootstrap
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream

pytest.importorskip("plotly")

from rlvr_envs.bench.report import write_report, write_table

FEW = Bootstrap(resamples=20)
VOID = {"meta", "link", "br", "hr", "img", "input"}
HOSTILE = "</script></pre><script>alert(1)</script><img src=x onerror=alert(2)>|"


class Outline(HTMLParser):
    """Checks that tags nest, and collects tags, scripts, titles and texts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.scripts, self.text, self.titles = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not {name for name, _ in attrs} & {"src", "href"}
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append([dict(attrs).get("type"), ""])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1][1] += data
            return
        self.text.append(data)
        if self.open and self.open[-1] in ("h2", "h3"):
            self.titles.append(data)

    @property
    def shown(self):
        return "".join(self.text)

    @property
    def figures(self):
        return [json.loads(data, parse_constant=pytest.fail) for kind, data in self.scripts if kind]


def algorithms(count, suite):
    rng = stream("report", count)
    return [
        bench_runs.drawn(suite, f"algorithm-{number}", rng, mean=0.2 + 0.6 * number / count)
        for number in range(count)
    ]


def written(suite, entries, tmp_path, **settings):
    gathered = gather(suite, entries, **settings)
    out = tmp_path / "new" / "report.html"
    path = write_report(compared(gathered, FEW), gathered, out)
    assert path == tmp_path / "new" / "report.html"
    return Outline(path.read_text("utf-8"))


@pytest.mark.parametrize(
    ("count", "experiments", "seeds"), [(1, 1, 1), (1, 20, 2), (2, 1, 3), (3, 4, 1), (30, 20, 2)]
)
def test_a_page_of_any_size(count, experiments, seeds, tmp_path):
    suite = bench_runs.suite(experiments, seeds)
    found = written(suite, algorithms(count, suite), tmp_path)
    assert ("Probability of improvement" in found.titles) == (count > 1)
    assert ("Abilities" in found.titles) == (experiments >= 3)
    # the IQM and the profile on two tracks, three curves; the matrix on both; the radar
    assert len(found.figures) == 7 + 2 * (count > 1) + (experiments >= 3)
    for number in range(count):
        assert f"algorithm-{number}" in found.text
    for number in range(experiments):
        assert found.text.count(f"Does it learn task {number}?") == 2


def test_figures_show_what_was_measured(tmp_path):
    suite = bench_runs.suite(experiments=3, seeds=2)
    finals = {"good": 0.55, "bad": 0.28}
    entries = [
        bench_runs.entry(suite, name, {f"e{e}": [final] * 2 for e in range(3)})
        for name, final in finals.items()
    ]
    figures = written(suite, entries, tmp_path).figures
    points = [(trace["x"][0], trace["y"][0]) for trace in figures[0]["data"]]
    assert points == [(pytest.approx(0.5), 0), (pytest.approx(0.2), 1)]
    matrix = figures[2]["data"][0]
    assert matrix["z"] == [[None, 1.0], [0.0, None]]
    assert matrix["text"][0][1] == "1.00*<br>1.00 to 1.00"
    _, curve, *_ = figures[4]["data"]
    assert (curve["name"], curve["x"][5]) == ("good", 0.5)
    assert curve["y"][5] == pytest.approx(0.25)
    _, profile, *_ = figures[7]["data"]
    above = dict(zip(profile["x"], profile["y"], strict=True))
    assert {share for tau, share in above.items() if tau < 0.49} == {1.0}
    assert {share for tau, share in above.items() if tau > 0.51} == {0.0}
    radar = figures[9]["data"][0]
    assert radar["theta"] == ["basics", "noise", "long answers", "basics"]
    assert radar["r"] == pytest.approx([0.5] * 4)


def test_a_matrix_entry_and_its_mirror_have_mirrored_intervals(tmp_path):
    suite = bench_runs.suite(experiments=2, seeds=6)
    figures = written(suite, algorithms(2, suite), tmp_path).figures
    texts = figures[2]["data"][0]["text"]
    chance, low, high = (
        float(part.strip("*")) for part in texts[0][1].replace("<br>", " to ").split(" to ")
    )
    mirror = [float(part.strip("*")) for part in texts[1][0].replace("<br>", " to ").split(" to ")]
    assert mirror == pytest.approx([1 - chance, 1 - high, 1 - low], abs=0.011)


def test_many_algorithms_look_different_and_most_wait_for_a_click(tmp_path):
    suite = bench_runs.suite(experiments=3, seeds=2)
    curves = written(suite, algorithms(30, suite), tmp_path).figures[4]["data"][1::2]
    assert len({(line["line"]["color"], line["line"]["dash"]) for line in curves}) == 30
    assert sum(line["visible"] is True for line in curves) == 8


def test_nothing_in_a_result_can_run_or_load(tmp_path):
    suite = replace(bench_runs.suite(experiments=3, seeds=2), title=HOSTILE)
    suite = replace(
        suite,
        experiments=tuple(
            replace(each, question=HOSTILE, axis=f"{HOSTILE}{each.name}")
            for each in suite.experiments
        ),
    )
    hostile = Algorithm(name=HOSTILE, source=HOSTILE, settings={HOSTILE: f"{HOSTILE}\ud800"})
    finals = {f"e{e}": [0.4, 0.5] for e in range(3)}
    runs = bench_runs.entry(
        suite, "", finals, algorithm=hostile, failed=HOSTILE, machine={"processor": HOSTILE}
    )
    found = written(suite, [runs, *algorithms(1, suite)], tmp_path)
    kinds = [kind for kind, _ in found.scripts]
    assert kinds == [None, *["application/json"] * (len(kinds) - 2), None]
    assert "img" not in found.tags
    assert "<script>alert(1)</script>" in found.shown  # as text, to be read
    assert all("<" not in data for kind, data in found.scripts if kind)
    for figure in found.figures:
        for trace in figure["data"]:
            trace.pop("legendgroup", None)  # which is not shown
        plotted = json.dumps(figure)
        assert "&lt;script" in plotted  # plotly has markup of its own
        assert "<script" not in plotted


def test_the_page_says_what_was_run_and_what_to_beware_of(tmp_path):
    suite = bench_runs.suite(experiments=2, seeds=3)
    entries = algorithms(2, suite)
    entries[0][1] = replace(entries[0][1], trust="metered", failed="out of memory")
    shown = written(suite, entries, tmp_path).shown
    for part in (
        suite.hash[:12],
        "draft 2",
        "The suite is a draft",
        "an abacus",
        '"lr": 0.1',
        "metered and plug-in, runs: 6",
        "· plug-in, runs: 6",
        "e0, seed 1",
        "out of memory",
        "16.7%",  # one of six runs failed
    ):
        assert part in shown, part
    assert "common" not in shown
    frozen = bench_runs.suite(experiments=2, seeds=3, status="frozen")
    entries = [
        [replace(run, split="validation") for run in runs[:4]] for runs in algorithms(2, frozen)
    ]
    shown = written(frozen, entries, tmp_path).shown
    assert "is a draft" not in shown
    assert "validation problems, with which" in shown
    assert "fewer than 5 runs" in shown


def test_missing_runs_are_an_error_or_shown(tmp_path):
    suite = bench_runs.suite(experiments=2, seeds=3)
    entries = algorithms(2, suite)
    del entries[1][4]
    with pytest.raises(ConfigError, match="algorithm-1 lacks e1 with seed 1"):
        written(suite, entries, tmp_path)
    assert not (tmp_path / "new").exists()
    shown = written(suite, entries, tmp_path, common=True).shown
    assert "Left out are 1 of each: e1 with seed 1." in shown


def test_the_table_for_the_docs(tmp_path):
    suite = bench_runs.suite(experiments=2, seeds=3)
    path = write_table(compare(suite, algorithms(2, suite), how=FEW), tmp_path / "table.md")
    lines = path.read_text("utf-8").splitlines()
    assert [line.split(" | ")[0] for line in lines] == [
        "| equal samples",
        "| ---",
        "| algorithm-1",
        "| algorithm-0",
        "",
        "| equal tokens",
        "| ---",
        "| algorithm-1",
        "| algorithm-0",
    ]
    assert {line.count("|") for line in lines if line} == {11}
