"""What a run may pose: tasks, mixtures and their shares, splits, and rows of files."""

import json

import pytest

from rlvr_envs.agents.grpo.config import Data
from rlvr_envs.agents.grpo.problems import Problems, expand, file_of, is_numbered
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.source import open_source
from rlvr_envs.curricula import Proposal

SPLITS = "train=0.6,valid=0.2,test=0.2"


@pytest.fixture
def questions(tmp_path):
    """A file of forty questions for MathDataset."""
    path = tmp_path / "sums.jsonl"
    rows = ({"question": f"What is {n} + 1?", "answer": str(n + 1)} for n in range(40))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def rows(tmp_path):
    """A file of rows as `rlvr generate` writes them: of two tasks, one at two levels."""
    path = tmp_path / "rows.jsonl"
    found = [open_source("Gcd-v0", difficulty=n % 2).draw(n).to_row() for n in range(20)]
    found += [open_source("NextTerm-v0", difficulty=1).draw(n).to_row() for n in range(10)]
    path.write_text("".join(json.dumps(row) + "\n" for row in found))
    return path


def test_shares_and_knobs_of_tasks():
    knobs, shares = expand(["Gcd-v0(answer_format='json')", "NextTerm-v0"], (3, 1))
    assert knobs == {"rlvr/Gcd-v0": {"answer_format": "json"}, "rlvr/NextTerm-v0": {}}
    assert shares == {"rlvr/Gcd-v0": 3, "rlvr/NextTerm-v0": 1}


def test_a_mixture_becomes_its_tasks_which_divide_its_share():
    mixed = 'Math-v0(tasks=("Gcd-v0", "NextTerm-v0"), weights={"Gcd-v0": 3, "NextTerm-v0": 1})'
    knobs, shares = expand([mixed, "Sudoku-v0"], (2, 1))
    assert shares == {"rlvr/Gcd-v0": 1.5, "rlvr/NextTerm-v0": 0.5, "rlvr/Sudoku-v0": 1}
    assert list(knobs.values()) == [{}, {}, {}]
    whole, shares = expand(["Math-v0"])
    assert set(whole) == set(open_source("Math-v0").task_ids)
    assert sum(shares.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("tasks", "weights", "told"),
    [
        (["Gcd-v0", "rlvr/Gcd-v0"], (), "rlvr/Gcd-v0 is there twice"),
        (["Math-v0", "Gcd-v0"], (), r"the second time by Gcd-v0"),
        (["Gcd-v0"], (1, 2), "one for each of the 1 tasks"),
        (["Gcd-v0", "NextTerm-v0"], (1, 0), "positive"),
        (["Gcdd-v0"], (), "did you mean 'rlvr/Gcd-v0'"),
    ],
)
def test_tasks_that_cannot_be(tasks, weights, told):
    with pytest.raises(Exception, match=told):
        expand(tasks, weights)


def test_levels_are_of_tasks_that_have_some(questions):
    problems = Problems(
        Data(tasks=(f'MathDataset-v0(path="{questions}")', "Gcd-v0"), difficulty="0-1")
    )
    assert problems.cells == [("rlvr/MathDataset-v0", None), ("rlvr/Gcd-v0", 0), ("rlvr/Gcd-v0", 1)]
    assert problems.numbered == ["rlvr/MathDataset-v0"]
    assert is_numbered("rlvr/SearchCorpus-v0")
    assert not is_numbered("rlvr/Gcd-v0")
    assert len(problems.indices("rlvr/MathDataset-v0")) == 40


def test_knobs_reach_the_problems(questions):
    problems = Problems(Data(tasks=(f'MathDataset-v0(path="{questions}", max_turns=3)',)))
    instance = problems.instance(Proposal(task="MathDataset-v0", difficulty=4, index=7))
    assert instance.prompt().startswith("What is 7 + 1?")


def test_splits_share_no_problem(questions):
    data = Data(tasks=(f'MathDataset-v0(path="{questions}")', "Gcd-v0"), splits=SPLITS)
    problems = Problems(data)
    train = problems.indices("rlvr/MathDataset-v0")
    test = problems.indices("rlvr/MathDataset-v0", held_out=True)
    assert not set(train) & set(test)
    assert 15 < len(train) < 33
    assert 2 < len(test) < 15
    asked = {q.instance().fingerprint() for q in problems.questions(12)}
    rng = stream("test")
    seeds = [problems.seed(rng, "rlvr/Gcd-v0", 0) for _ in range(200)]
    source = problems.source("rlvr/Gcd-v0", 0)
    trained = {source.draw(seed).fingerprint() for seed in seeds}
    assert len(asked) > 12
    assert not asked & trained
    assert not asked & {problems.instance(Proposal(index=index)).fingerprint() for index in train}


def test_without_splits_the_questions_are_those_of_an_evaluation():
    found = [q.key for q in Problems(Data(tasks=("Gcd-v0",), difficulty="1")).questions(5)]
    from rlvr_envs.evaluation.plan import Plan

    plan = Plan(ids=("rlvr/Gcd-v0",), difficulties=(1,), episodes=5)
    assert found == [q.key for cell in plan.cells() for q in cell.questions(plan)]


def test_rows_say_their_tasks(rows):
    problems = Problems(Data(source=f'rows(path="{rows}")'))
    assert problems.cells == [
        ("rlvr/Gcd-v0", 0),
        ("rlvr/Gcd-v0", 1),
        ("rlvr/NextTerm-v0", 1),
    ]
    assert problems.weights == {"rlvr/Gcd-v0": 20, "rlvr/NextTerm-v0": 10}
    assert len(problems.rows_of()) == 30
    assert len(problems.rows_of("Gcd-v0", 1)) == 10
    only = Problems(Data(tasks=("NextTerm-v0",), source=f'rows(path="{rows}")'))
    assert len(only.rows_of()) == 10


def test_rows_are_cut_in_splits_too(rows):
    problems = Problems(Data(source=f'pool(over=rows(path="{rows}"))', splits=SPLITS))
    train = {row["fingerprint"] for row in problems.rows_of()}
    asked = [q.instance() for q in problems.questions(100)]
    assert asked
    assert not train & {instance.fingerprint() for instance in asked}
    assert len({q.key for q in problems.questions(100)}) == len(asked)


def test_a_folder_that_is_cut_already_holds_out_its_last_split(tmp_path, rows):
    lines = rows.read_text().splitlines(keepends=True)
    for split, part in {"a": lines[:12], "b": lines[12:20], "c": lines[20:]}.items():
        (tmp_path / "cut").mkdir(exist_ok=True)
        (tmp_path / "cut" / f"{split}-0.jsonl").write_text("".join(part))
    source = f'rows(path="{tmp_path / "cut"}"'
    problems = Problems(Data(source=source + ")"))
    assert problems.split
    assert len(problems.rows_of()) == 12
    assert {q.instance().spec.id for q in problems.questions(99)} == {"rlvr/NextTerm-v0"}
    second = Problems(Data(source=source + ', split="b")'))
    assert len(second.rows_of()) == 8
    last = Problems(Data(source=source + ', split="c")'))
    assert not last.split
    with pytest.raises(ConfigError, match="cut in a, b, c already"):
        Problems(Data(source=source + ")", splits=SPLITS))
    (tmp_path / "cut" / "c-0.jsonl").write_text(lines[0])
    with pytest.raises(ConfigError, match=r"1 problems of .* are in a and c"):
        Problems(Data(source=source + ")"))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"splits": "train=1"}, "leaves nothing to evaluate on"),
        ({"splits": "train"}, "splits look like"),
        ({"source": "rows"}, "needs a file"),
        ({"source": "rows(path='no/such.jsonl')"}, "no file or folder"),
        ({"tasks": ("Sudoku-v0",)}, r"has no row of rlvr/Sudoku-v0"),
    ],
)
def test_data_that_cannot_be(rows, changes, told):
    given = {"source": f'rows(path="{rows}")'} | changes
    with pytest.raises(ConfigError, match=told):
        Problems(Data(**given))


def test_a_split_without_problems_is_said(questions):
    data = Data(
        tasks=(f'MathDataset-v0(path="{questions}")', "GuessNumber-v0"),
        splits="train=0.000001,test=0.999999",
    )
    problems = Problems(data)
    with pytest.raises(ConfigError, match="no problem of rlvr/MathDataset-v0 to train on"):
        problems.indices("rlvr/MathDataset-v0")
    with pytest.raises(ConfigError, match="GuessNumber-v0 at difficulty 0 has too few problems"):
        problems.seed(stream("test"), "rlvr/GuessNumber-v0", 0)


def test_a_file_is_found_through_other_sources():
    assert file_of("auto") is None
    assert file_of("pool") is None
    assert file_of('pool(over=rows(path="a", split="test"))') == ("a", "test")
