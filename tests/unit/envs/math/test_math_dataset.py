"""Questions from files: layouts, what is refused, and rows that outlive their file."""

import json

import gymnasium as gym
import numpy as np
import pytest

import rlvr_envs
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.math_dataset import MathDatasetConfig, MathDatasetProblem, MathDatasetTask
from rlvr_envs.generators.published.math_files import read_gold

ID = "rlvr/MathDataset-v0"


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def answers(path, **knobs):
    env = gym.make(ID, path=path, **knobs).unwrapped
    task = env.source.at_index(0).task
    return [task.problem_at(index).answer for index in range(len(task))]


LAYOUTS = {
    "gsm8k": ({"question": "q", "answer": "Add 1,000 and 234.\n#### 1,234"}, "1234"),
    "math500": ({"problem": "q", "solution": r"so \boxed{7}", "answer": r"\frac{1}{2}"}, r"\frac{1}{2}"),
    "math": ({"problem": "q", "level": "3", "solution": r"\boxed{1}, no: $\boxed{\frac{3}{4}}$."}, r"\frac{3}{4}"),
    "aime": ({"ID": "2024-I-1", "Problem": "q", "Solution": "...", "Answer": 204}, "204"),
    "deepmath": ({"question": "q", "final_answer": r"\infty", "r1_solution_1": "..."}, r"\infty"),
    "gold": ({"id": 3, "gold": "27.0", "question": "q"}, "27.0"),
    "olympiad": ({"question": "q", "final_answer": ["$2n$"]}, "$2n$"),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_are_recognised(tmp_path, name):
    row, gold = LAYOUTS[name]
    assert answers(write(tmp_path / "a.jsonl", [row])) == [gold]


@pytest.mark.parametrize(
    ("cell", "gold"),
    [("####", None), ("  ", None), (None, None), (True, None), (float("nan"), None), ({}, None),
     (["1", "2"], None), (r"\boxed{}", None), (2.5, "2.5"), ("#### -3", "-3"),
     ("$1,2$", "$1,2$"), ("# 5 #### 1,234,567.5", "1234567.5")],
)  # fmt: skip
def test_cells(cell, gold):
    assert read_gold(cell) == gold


def test_parquet_serves_what_jsonl_does(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [{"problem": f"q{n}", "answer": f"{n}/7"} for n in range(20)]
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    jsonl = write(tmp_path / "a.jsonl", rows)
    assert answers(str(tmp_path / "a.parquet")) == answers(jsonl) == [f"{n}/7" for n in range(20)]


def test_an_index_picks_a_row_and_a_seed_picks_one_again(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"q": f"q{n}", "a": n} for n in range(50)])
    env = gym.make(ID, path=path, question_column="q", answer_column="a")
    prompt, _ = env.reset(options={"index": np.int64(7)})
    assert prompt.startswith("q7\n")
    assert env.step(r"\boxed{14/2}")[1] == 1.0
    env.reset(options={"index": 7})
    assert env.step(r"\boxed{8}")[1] == 0.0
    drawn = [env.reset(seed=seed)[0] for seed in range(100)]
    assert drawn == [env.reset(seed=seed)[0] for seed in range(100)]
    assert len(set(drawn)) > 30


@pytest.mark.parametrize("index", [-1, 3, "0", 1.0, None])
def test_an_index_that_does_not_exist(tmp_path, index):
    env = gym.make(ID, path=write(tmp_path / "a.jsonl", [{"question": "q", "gold": "1"}] * 3))
    with pytest.raises(ConfigError, match="from 0 to 2"):
        env.reset(options={"index": index})


def test_a_row_outlives_its_file(tmp_path):
    path = tmp_path / "a.jsonl"
    write(path, [{"question": "q", "gold": "3.14"}])
    rows = [rlvr_envs.make_problem(ID, seed=0, path=str(path), rel_tol=tol) for tol in (None, 0.01)]
    path.unlink()
    rows = json.loads(json.dumps(rows))
    for row in rows:
        assert rlvr_envs.verify(row, rlvr_envs.solve(row)).score == 1.0
    assert [rlvr_envs.verify(row, r"\boxed{3.15}").score for row in rows] == [0.0, 1.0]


def test_a_file_that_has_changed_is_read_again(tmp_path):
    path = tmp_path / "a.jsonl"
    assert answers(write(path, [{"question": "q", "gold": "1"}])) == ["1"]
    assert answers(
        write(path, [{"question": "q", "gold": "2"}, {"question": "r", "gold": "3"}])
    ) == ["2", "3"]


def test_rows_that_cannot_be_judged_are_refused_and_never_scored(tmp_path):
    prose = "any function whose graph is symmetric about the line, for every choice of constants"
    rows = [{"question": "q", "gold": gold} for gold in ("1", "", prose, "4", None)]
    path = write(tmp_path / "a.jsonl", rows)
    with pytest.raises(
        ConfigError, match=r"3 of 5 rows .*a\.jsonl:2: 'gold' holds no answer.*:3.*:5"
    ):
        answers(path)
    assert answers(path, on_bad_gold="skip") == ["1", "4"]
    with pytest.raises(ConfigError, match="1 of 1 rows"):
        answers(write(tmp_path / "b.jsonl", rows[1:2]), on_bad_gold="skip")


def reset(**knobs):
    gym.make(ID, **knobs).reset(seed=0)


def test_what_a_user_gets_wrong_is_said(tmp_path):
    with pytest.raises(ConfigError, match=r"no file .*nowhere\.jsonl"):
        reset(path=str(tmp_path / "nowhere.jsonl"))
    good = write(tmp_path / "good.jsonl", [{"question": "q", "gold": "1"}])
    with pytest.raises(ConfigError, match="no column 'questoin'; did you mean 'question'"):
        reset(path=good, question_column="questoin")
    odd = write(tmp_path / "odd.jsonl", [{"frage": "q", "gold": "1"}])
    with pytest.raises(ConfigError, match="set question_column= to one of frage, gold"):
        reset(path=odd)
    (tmp_path / "empty.jsonl").write_text("\n\n")
    with pytest.raises(ConfigError, match="holds no rows"):
        reset(path=str(tmp_path / "empty.jsonl"))
    (tmp_path / "torn.jsonl").write_text('{"question": "q", "gold": "1"}\n\n{"question": "q", "go')
    with pytest.raises(ConfigError, match=r"torn\.jsonl:3: not JSON"):
        reset(path=str(tmp_path / "torn.jsonl"))
    (tmp_path / "a.csv").write_text("question,gold\n")
    with pytest.raises(ConfigError, match="is no table"):
        reset(path=str(tmp_path / "a.csv"))


@pytest.mark.parametrize(
    "knobs",
    [{"on_bad_gold": "ignore"}, {"answer_type": "integr"}, {"rel_tol": 1.0}, {"path": ""},
     {"difficulty": 1}],
)  # fmt: skip
def test_bad_knobs_are_refused_before_the_file_is_read(knobs):
    with pytest.raises(ConfigError):
        gym.make(ID, **({"path": "nowhere.jsonl"} | knobs))


def test_the_shipped_questions_have_the_answers_that_were_worked_out_by_hand():
    assert answers("sample")[:3] == ["68", "810", "14.4"]
    assert len(answers("sample")) == 12


def test_effort_and_baseline_of_a_row():
    task = MathDatasetTask(MathDatasetConfig())
    problem = MathDatasetProblem("Add 12 + 3.", "15", 0)
    assert task.effort(problem) == 6 + 1  # three letters, two numbers and a sign
    assert task.baseline(stream("b"), problem) == "3"
    assert task.baseline(stream("b"), MathDatasetProblem("Is it so?", "1", 0)) == "0"


RATED = [
    {
        "problem": f"q{n}",
        "answer": str(n),
        "level": f"Level {n % 3}",
        "type": ("Algebra", "Geometry")[n % 2],
        "solution": f"First.\nSo it is \\boxed{{{n}}}.",
        "pass_rate": n / 10,
    }
    for n in range(10)
]


@pytest.mark.parametrize(
    ("knobs", "chosen"),
    [
        ({}, range(10)),
        ({"difficulties": ("Level 1",)}, (1, 4, 7)),
        ({"topics": ("Geometry",)}, (1, 3, 5, 7, 9)),
        ({"least_pass_rate": 0.2, "most_pass_rate": 0.5}, (2, 3, 4, 5)),
        ({"most_pass_rate": 0.0}, (0,)),
        ({"topics": ("Algebra",), "difficulties": ("Level 1", "Level 2")}, (2, 4, 8)),
    ],
)
def test_questions_are_chosen_by_what_the_file_says_of_them(tmp_path, knobs, chosen):
    path = write(tmp_path / "a.jsonl", RATED)
    assert answers(path, **knobs) == [str(n) for n in chosen]


def test_a_choice_that_leaves_nothing_says_what_there_is(tmp_path):
    path = write(tmp_path / "a.jsonl", RATED)
    with pytest.raises(ConfigError, match=r"no question .* 'Level 0', 'Level 1'.*'Geometry'"):
        answers(path, topics=("Topology",))
    with pytest.raises(ConfigError, match="least_pass_rate"):
        gym.make(ID, path=path, least_pass_rate=2)


def test_difficulty_topic_and_solution_are_kept(tmp_path):
    env = gym.make(ID, path=write(tmp_path / "a.jsonl", RATED)).unwrapped
    env.reset(options={"index": 4})
    problem = env.instance.problem
    assert (problem.difficulty, problem.topic) == ("Level 1", "Algebra")
    assert env.instance.task.explain(problem) == ["First.", "So it is 4."]
    demonstration = env.instance.demonstration()
    assert demonstration.endswith(r"\boxed{4}")
    assert env.instance.judge(demonstration).score == 1.0


def test_decimals_of_a_file_are_exact_unless_they_are_rounded(tmp_path):
    path = write(tmp_path / "a.jsonl", [{"question": "q", "gold": "3.14"}])
    for rounded, score in ((False, 0.0), (True, 1.0)):
        row = rlvr_envs.make_problem(ID, seed=0, path=path, rounded=rounded)
        assert rlvr_envs.verify(row, r"\boxed{\pi}").score == score
