"""`rlvr plot`."""

import pytest

from rlvr_envs.agents.grpo.tracking.metrics import Metrics
from rlvr_envs.cli.main import main


@pytest.fixture
def runs(tmp_path):
    for name, reward in (("a", 0.25), ("b", 0.75)):
        metrics = Metrics(tmp_path / name, quiet=True)
        for step in range(1, 41):
            metrics.log(step, {"reward/mean": reward})
        metrics.close()
    return tmp_path


def test_it_writes_a_page_and_says_where(runs, capsys):
    pytest.importorskip("plotly")
    out = runs / "plots" / "two.html"
    assert main(["plot", str(runs / "a"), str(runs / "b"), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    text = out.read_text("utf-8")
    assert "Training of a, b" in text
    assert "the mean of a step and the 1 before it" in text


def test_seeds_and_smoothing_are_passed_on(runs, capsys):
    pytest.importorskip("plotly")
    out = runs / "seeds.html"
    given = [str(runs / "a"), str(runs / "b"), "--seeds", "--smooth", "7", "--out", str(out)]
    assert main(["plot", *given]) == 0
    text = out.read_text("utf-8")
    assert "Training of 2 seeds" in text
    assert "the 6 before it" in text


def test_fits_are_printed(runs, capsys):
    pytest.importorskip("plotly")
    out = runs / "fitted.html"
    metrics = Metrics(runs / "c", quiet=True)
    for step in range(1, 61):
        metrics.log(step, {"reward/mean": 0.1 + 0.6 / (1 + (20 / step) ** 2)})
    metrics.close()
    assert main(["plot", str(runs / "c"), "--fit", "--out", str(out)]) == 0
    path, told = capsys.readouterr().out.splitlines()
    assert path == str(out)
    assert told.startswith("c, reward/mean: 0.1 + (0.7 - 0.1) / (1 + (20 / step)^2)")
    with pytest.raises(SystemExit):
        main(["plot", str(runs / "c"), "--seeds", "--each"])


def test_each_run_by_itself(runs, capsys):
    pytest.importorskip("plotly")
    (runs / "both").mkdir()
    for name in ("a", "b"):
        (runs / name).rename(runs / "both" / name)
    given = ["plot", str(runs / "both"), "--out", str(runs / "x.html")]
    assert main(given) == 0
    assert "Training of both, 2 seeds" in (runs / "x.html").read_text("utf-8")
    assert main([*given, "--each"]) == 0
    assert "Training of a, b" in (runs / "x.html").read_text("utf-8")


def test_the_page_lies_in_the_folder_of_the_first_run(runs, capsys):
    pytest.importorskip("plotly")
    page = runs / "a" / "curves.html"
    assert main(["plot", str(runs / "a")]) == 0
    assert capsys.readouterr().out == f"{page}\n"
    assert main(["plot", str(runs / "a"), "--smooth", "7"]) == 0  # the same run: drawn anew
    assert "the 6 before it" in page.read_text("utf-8")


@pytest.mark.parametrize("earlier", ["page", "text"])
def test_what_is_not_of_the_same_runs_is_replaced_by_force_only(runs, capsys, earlier):
    pytest.importorskip("plotly")
    out = runs / "x.html"
    if earlier == "page":
        assert main(["plot", str(runs / "a"), "--out", str(out)]) == 0
    else:
        out.write_text("my notes")
    before = out.read_bytes()
    given = ["plot", str(runs / "b"), "--out", str(out)]
    assert main(given) == 2
    assert "was not made of these runs" in capsys.readouterr().err
    assert out.read_bytes() == before
    assert main([*given, "--force"]) == 0
    assert "Training of b" in out.read_text("utf-8")


def test_a_folder_without_a_run_is_said_in_a_line(tmp_path, capsys):
    assert main(["plot", str(tmp_path), "--out", str(tmp_path / "x.html")]) == 2
    assert "is not a run" in capsys.readouterr().err
