"""The files of the page hold what the runs hold."""

import json
import math
import re
import sys

import pytest
from fakes.run_folders import old, problem, record, trained, write_run, write_training

from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.evaluation.metrics import clustered_mean
from rlvr_envs.evaluation.runs import open_runs
from rlvr_envs.evaluation.viewer import index

HOSTILE = "</script><script>alert(1)</script><!--\u2028\u2029\x00\x1b[31m\ud800\\"


def data(page, name, number=0):
    """Return what a piece of data hands to the page."""
    path = page / "data" / ("main.js" if name == "main" else f"{name}-{number}.js")
    text = path.read_bytes().decode("ascii")
    found = re.fullmatch(r"rlvr\(['\"](\w+)['\"],(\d+),(.*)\)\n", text, re.DOTALL)
    assert (found[1], int(found[2])) == (name, number)
    assert "\n" not in found[3]
    return json.loads(found[3], parse_constant=lambda name: pytest.fail(f"{name} in {path}"))


@pytest.fixture
def build(tmp_path):
    def build(*runs):
        page = tmp_path / "page"
        assert index.write_page(open_runs(map(str, runs)), page) == data(page, "main")["rows"]
        return page

    return build


def test_episodes_and_problems_are_there_once(tmp_path, build):
    records = [record(p, seed=s, score=s / 2) for p in ("x", "y") for s in (0, 1, 2)]
    page = build(write_run(tmp_path / "a", records, [problem(r) for r in records[:3]]))
    main, table = data(page, "main"), data(page, "table")
    assert [s["label"] for s in main["series"]] == ["x", "y"]
    assert [s["episodes"] for s in main["series"]] == [3, 3]
    assert main["series"][0]["score"][0] == 0.5
    assert table["series"] == [0, 0, 0, 1, 1, 1]
    assert table["score"] == [0.0, 0.5, 1.0] * 2
    assert [main["statuses"][i] for i in table["status"][:3]] == ["wrong", "partial", "correct"]
    assert table["problem"] == [0, 1, 2] * 2
    assert data(page, "problems")["question"] == [r["question"] for r in records[:3]]
    assert [main["tasks"], main["domains"]] == [["rlvr/Gcd-v0"], ["math"]]
    assert [p["prompt"] for p in data(page, "problem")] == [
        f"What is asked by {r['question']}?" for r in records[:3]
    ]
    assert [t["actions"] for t in data(page, "text")] == [[r["response"]] for r in records]


def test_the_later_record_replaces_the_earlier_one(tmp_path, build):
    records = [record(score=None), record(seed=2), record(response="again")]
    page = build(write_run(tmp_path / "a", records))
    main, table = data(page, "main"), data(page, "table")
    assert main["rows"] == len(table["text"]) == 2
    shown = [data(page, "text")[i]["actions"] for i in table["text"]]
    assert shown == [[records[1]["response"]], ["again"]]


def test_an_unscored_episode_has_no_score(tmp_path, build):
    page = build(write_run(tmp_path / "a", [record(score=None), record(seed=2)]))
    assert data(page, "table")["score"] == [None, 1.0]
    assert data(page, "main")["series"][0]["score"][0] == 1.0


def test_an_old_run_has_no_prompt_unless_another_run_has_it(tmp_path, build):
    before = write_run(tmp_path / "before", [old(record()), old(record(seed=2))])
    after = write_run(tmp_path / "after", [record()], [problem(record())])
    page = build(before, after)
    prompts = [p["prompt"] for p in data(page, "problem")]
    numbers = data(page, "table")["problem"]
    assert [prompts[n] for n in numbers] == [
        "What is asked by rlvr/Gcd-v0|0|1?",
        None,
        "What is asked by rlvr/Gcd-v0|0|1?",
    ]


def test_the_same_seed_may_be_another_problem(tmp_path, build):
    runs = [
        write_run(
            tmp_path / name, [record(fingerprint=name)], [problem(record(), fingerprint=name)]
        )
        for name in "ab"
    ]
    page = build(*runs)
    assert data(page, "table")["problem"] == [0, 1]
    assert "problems of the same seeds differ" in data(page, "pair")["note"]


def test_a_mixture_shows_the_tasks_of_its_problems(tmp_path, build):
    asked = record(id="rlvr/Math-v0")
    page = build(write_run(tmp_path / "a", [asked], [problem(asked)]))
    assert data(page, "main")["tasks"] == ["rlvr/Gcd-v0"]


def test_samples_of_training_have_steps_and_rewards(tmp_path, build):
    page = build(write_training(tmp_path / "grpo", [trained(5), trained(6, score=0.0)]))
    main, table = data(page, "main"), data(page, "table")
    assert main["training"] is True
    assert main["series"][0]["score"] is None  # the samples were chosen to differ in score
    assert (table["step"], table["reward"]) == ([5, 6], [0.9, -0.1])
    assert data(page, "text")[0]["parts"] == [["reward/length", "-0.1"]]
    assert data(page, "problem")[0]["prompt"] == "Prompt 1"


def test_an_evaluation_has_no_steps(tmp_path, build):
    page = build(write_run(tmp_path / "a", [record()]))
    assert data(page, "main")["training"] is False
    assert data(page, "table")["reward"] == [None]


def test_long_runs_are_in_pieces(tmp_path, build, monkeypatch):
    monkeypatch.setattr(index, "ROWS", 4)
    monkeypatch.setattr(index, "_TEXTS", 3)
    monkeypatch.setattr(index, "_CHARS", 1_000)
    records = [record(seed=s, response="x" * (2_000 if s == 4 else 10)) for s in range(10)]
    page = build(write_run(tmp_path / "a", records, [problem(r) for r in records]))
    main = data(page, "main")
    assert main["pieces"] == 3
    assert [len(data(page, "table", i)["text"]) for i in range(3)] == [4, 4, 2]
    assert main["texts"] == [0, 3, 4, 5, 8]
    for number, start in enumerate(main["texts"]):
        for place, texts in enumerate(data(page, "text", number)):
            assert texts["actions"] == [records[start + place]["response"]]


def test_scores_by_level_are_means_clustered_by_problem(tmp_path, build):
    records = [
        record(level=level, seed=seed, sample=sample, score=float(seed > level or sample == 1))
        for level in (0, 2)
        for seed in (1, 2, 3)
        for sample in (0, 1)
    ]
    page = build(write_run(tmp_path / "a", records))
    rows = {(task, level): found for task, level, found in data(page, "main")["scores"]}
    assert rows.keys() == {(task, level) for task in (None, "rlvr/Gcd-v0") for level in (0, 2)}
    expected = clustered_mean([[0.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
    assert rows[None, 2] == pytest.approx([expected.mean, expected.low, expected.high])


def test_every_two_policies_are_compared(tmp_path, build):
    records = [
        record(p, seed=s, score=x)
        for p, scores in {"x": (0.0, 1.0), "y": (1.0, 1.0), "z": (0.0, 0.0)}.items()
        for s, x in enumerate(scores)
    ]
    page = build(write_run(tmp_path / "a", records))
    assert data(page, "main")["pairs"] == [[0, 1], [0, 2], [1, 2]]
    found = data(page, "pair", 0)
    assert found["groups"][0][:5] == ["overall", None, 2, 0.5, 1.0]
    assert found["groups"][0][6] == [1, 1, 0]
    assert found["changes"] == [
        ["rlvr/Gcd-v0|0|0", "rlvr/Gcd-v0", 0, 0.0, 1.0, [["wrong", 1]], [["correct", 1]]]
    ]


def test_of_many_policies_each_is_compared_with_the_first(tmp_path, build, monkeypatch):
    monkeypatch.setattr(index, "_ALL_PAIRS", 2)
    page = build(write_run(tmp_path / "a", [record(p) for p in "xyz"]))
    assert data(page, "main")["pairs"] == [[0, 1], [0, 2]]


def test_hostile_text_stays_data(tmp_path, build):
    verdict = {"score": 1.0, "status": "correct", "detail": HOSTILE}
    verdict["parts"] = {"__proto__": 1, HOSTILE: math.nan}
    asked = record(f"policy {HOSTILE}", task=f"rlvr/{HOSTILE}", response=HOSTILE, answer=HOSTILE)
    asked["verdict"] = verdict
    page = build(write_run(tmp_path / "a", [asked], [problem(asked, prompt=HOSTILE)]))
    text = data(page, "text")[0]
    assert (text["actions"], text["detail"]) == ([HOSTILE], HOSTILE)
    assert text["parts"] == [["__proto__", "1"], [HOSTILE, "nan"]]
    assert data(page, "problem")[0]["prompt"] == HOSTILE
    assert data(page, "table")["answer"] == [HOSTILE]
    assert "alert" not in (page / "index.html").read_text()


@pytest.mark.parametrize(
    ("shots", "shown"),
    [
        ([{"role": "user", "content": "q"}], [["user", "q"]]),
        ([{"prompt": "q", "response": "a"}], [["prompt", "q"], ["response", "a"]]),
        ([["q", "a"]], [["user", "q"], ["assistant", "a"]]),
        (["q"], [["example", "q"]]),
        (2, []),
    ],
)
def test_solved_examples_are_shown_in_whatever_form(tmp_path, build, shots, shown):
    page = build(write_run(tmp_path / "a", [record()], [problem(record(), shots=shots)]))
    assert data(page, "problem")[0]["shots"] == shown


def test_references_may_be_actions_or_missing(tmp_path, build):
    records = [record(seed=s) for s in range(3)]
    stored = [
        problem(r, reference=x) for r, x in zip(records, ("7", ["a", "b"], None), strict=True)
    ]
    page = build(write_run(tmp_path / "a", records, stored))
    assert [p["reference"] for p in data(page, "problem")] == ["7", ["a", "b"], None]


def test_a_page_takes_the_place_of_an_earlier_one_and_of_nothing_else(tmp_path, build):
    run = write_run(tmp_path / "a", [record(seed=s) for s in range(3)])
    page = build(run)
    left = page / "data" / "table-7.js"
    left.write_text("")
    build(run)
    assert not left.exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("")
    with pytest.raises(ConfigError, match="holds other files"):
        index.write_page(open_runs([str(run)]), tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_a_run_without_episodes_and_absurd_numbers_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="no episode has ended yet"):
        index.write_page(open_runs([str(write_run(tmp_path / "a", []))]), tmp_path / "page")
    run = write_run(tmp_path / "b", [record(sample=10**30)])
    with pytest.raises(RowError, match=r"'rlvr/Gcd-v0\|0\|1' is too large"):
        index.write_page(open_runs([str(run)]), tmp_path / "page")


@pytest.mark.parametrize("several", [True, False])
def test_plots_are_drawn_where_there_are_levels(tmp_path, build, several):
    pytest.importorskip("plotly")
    records = [record("<b>x", level=n if several else 0, seed=s) for n in (0, 1) for s in (n, 5)]
    page = build(write_run(tmp_path / "a", records))
    assert data(page, "main")["figures"] == several
    assert (page / "data" / "plotly.js").exists() == several
    if several:
        figure = data(page, "figure")
        assert figure["title"] == "Gcd-v0"
        assert figure["data"][1]["x"] == [0, 1]
        assert "<b>" not in figure["data"][1]["hovertemplate"]


def test_without_plotly_there_are_no_plots(tmp_path, build, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    page = build(write_run(tmp_path / "a", [record(level=n) for n in (0, 1)]))
    assert data(page, "main")["figures"] == 0
    assert len(data(page, "main")["scores"]) == 4
