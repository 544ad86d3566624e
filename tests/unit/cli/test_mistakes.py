"""What a user mistypes is one line, says what is allowed, and suggests what may have been meant."""

import json
import shlex

import pytest

from rlvr_envs import make_problem
from rlvr_envs.cli.main import main
from rlvr_envs.core.errors import did_you_mean, did_you_mean_path, misspelt
from rlvr_envs.core.registry import unknown

MISTAKES = [
    ("", "name a command: bench, "),
    ("evla", "there is no command 'evla'; did you mean 'eval'?"),
    ("--verion", "there is no option '--verion'; did you mean '--version'?"),
    ("list --doman math", "there is no option '--doman'; did you mean '--domain'?"),
    ("list math", "'math' is one argument too many: rlvr list takes options only"),
    ("list --domain maths", "no domain 'maths'; did you mean 'math'?"),
    ("list --domain", "--domain: expected one argument"),
    ("show", "the following arguments are required: id (see rlvr show --help)"),
    ("show Gdc-v0", "did you mean 'rlvr/Gcd-v0'?"),
    ("show gcd", "did you mean 'rlvr/Gcd-v0'?"),
    ("show Gcd-v0 Sudoku-v0", "'Sudoku-v0' is one argument too many: rlvr show takes id"),
    ("show Gcd-v0 --dificulty 3", "did you mean '--difficulty'?"),
    ("show Gcd-v0 -difficulty 3", "did you mean '--difficulty'?"),
    ("show Gcd-v0 --difficulty hard", "--difficulty: a difficulty is a number such as 3"),
    ("show Gcd-v0 --knob n_number=3", "did you mean 'n_numbers'?"),
    ("show Gcd-v0 --knob n_numbers", "a knob is set as name=value, got 'n_numbers'"),
    ("show StdioProgram-v0 --knob language=pythn", "did you mean 'python'? (known: python, c,"),
    ("show MathDataset-v0 --knob path=row.jsonl", "did you mean 'rows.jsonl'?"),
    ("show CodeDataset-v0 --knob path=row.jsonl", "did you mean 'rows.jsonl'?"),
    ("play Gcd-v0 --episodes abc", "--episodes: an integer from 1 is needed, got 'abc'"),
    ("play Gcd-v0 --episodes -1", "--episodes: an integer from 1 is needed, got '-1'"),
    ("eval Gcd-v0 --polcy oracle", "there is no option '--polcy'; did you mean '--policy'?"),
    ("eval Gcd-v0 --policy orcale", "no policy 'orcale'; did you mean 'oracle'?"),
    ("eval Gcd-v0 --policy oracle --episodes abc", "--episodes: an integer is needed, got 'abc'"),
    ("eval Gcd-v0 --policy oracle --episodes -1", "got -1"),
    ("eval Gcd-v0 --policy oracle --temperature warm", "--temperature: a number is needed, got"),
    ("eval Gcd-v0 --policy oracle --executor procesess", "did you mean 'processes'? (known: ser"),
    ("eval Gcd-v0 --policy oracle --workers x", "--workers: an integer from 1 is needed"),
    ("eval Gcd-v0 --policy oracle --answer-format boxd", "did you mean 'boxed'?"),
    ("eval Gcd-v0 --policy recorded:answer.jsonl", "did you mean 'answers.jsonl'?"),
    ("eval Gcd-v0 --policy recorded:slip.jsonl", "is 'respons' a misspelling of it?"),
    ("eval Gcd-v0 --policy local:modl.gguf", "did you mean 'model.gguf'?"),
    ("generate Gcd-v0 --out g --count many", "--count: an integer from 1 is needed, got 'many'"),
    ("generate Gcd-v0=many --out g", "write an id with its count as ID=500"),
    ("generate Gcd-v0 --out g --format parket", "did you mean 'parquet'? (known: jsonl, parquet)"),
    ("generate Gcd-v0 --out g --decontaminate answrs.jsonl", "did you mean 'answers.jsonl'?"),
    ("generate Gcd-v0", "required: --out (see rlvr generate --help)"),
    ("verify row.jsonl --oracle", "did you mean 'rows.jsonl'?"),
    ("verify datasets --oracle", "did you mean 'dataset'?"),
    ("verify dataset --split trian --oracle", "did you mean 'train'?"),
    ("verify rows.jsonl --answers answer.jsonl", "did you mean 'answers.jsonl'?"),
    ("verify rows.jsonl --answers slip.jsonl", "is 'respons' a misspelling of it?"),
    ("verify bad.jsonl --oracle", "is 'problm' a misspelling of it?"),
    ("verify rows.jsonl", "one of the arguments --answers --oracle is required"),
    ("export --to vrl rows.jsonl --out x", "--to cannot be 'vrl'; did you mean 'verl'?"),
    ("export --to verl row.jsonl --out x", "did you mean 'rows.jsonl'?"),
    ("check Gcd-v0 Gdc-v0", "did you mean 'rlvr/Gcd-v0'?"),
    ("check Gcd-v0 --only documentation", "did you mean 'documentation_is_complete'?"),
    ("new-task puzzels/X", "did you mean 'puzzles'?"),
    ("doctor --backend dokcer", "--backend cannot be 'dokcer'; did you mean 'docker'?"),
    ("languages --jsn", "did you mean '--json'?"),
]
OF_TRAIN = [
    ("train grop --tasks Gcd-v0", "no preset 'grop'; did you mean 'grpo'?"),
    ("train grpo --tasks Gdc-v0", "did you mean 'rlvr/Gcd-v0'?"),
    (
        "train grpo --tasks Gcd-v0 --stpes 3",
        "there is no option '--stpes'; did you mean '--steps'?",
    ),
    ("train --lst", "did you mean '--list'?"),
    ("train grpo --tasks Gcd-v0 --steps abc", "--steps: invalid literal for int()"),
    ("train grpo --tasks Gcd-v0 --device gpu", "--device cannot be 'gpu'"),
    ("train grpo --tasks Gcd-v0 --estimator grop", "no estimator 'grop'; did you mean 'grpo'?"),
    ("train --config", "--config: expected one argument"),
    ("train --config run.yml", "did you mean 'run.yaml'?"),
    ("train --plugin plugn.py --tasks Gcd-v0", "did you mean 'plugin.py'?"),
    ("plot runs/gdc", "did you mean 'runs/gcd'?"),
    ("plot run/gcd", "did you mean 'runs/gcd'?"),
    ("bench lst", "there is no command 'lst'; did you mean 'list'?"),
    ("bench list tiny-v2", "no suite 'tiny-v2'; did you mean 'tiny-v1'?"),
    ("bench run tiny-v1 grop", "no preset 'grop'; did you mean 'grpo'?"),
    ("bench run tiny-v1 baselines:cor", "did you mean 'core'?"),
    ("bench run tiny-v1 grpo --experiments gdc", "did you mean 'gcd'?"),
    ("bench run tiny-v1 grpo --seeds a", "--seeds: an integer from 0 is needed, got 'a'"),
    ("bench compare runs/gdc", "did you mean 'runs/gcd'?"),
    ("bench verify runs/gdc", "did you mean 'runs/gcd'?"),
    ("bench export tiny-v1 gcd --out job --to vrl", "did you mean 'verl'?"),
    ("bench score job x --name x --out y --settings '{x'", "--settings: not JSON"),
]
OF_SERVE = [
    ("serve Gdc-v0", "did you mean 'rlvr/Gcd-v0'?"),
    ("serve Gcd-v0 --port abc", "--port: a port is an integer from 0 to 65535, got 'abc'"),
    ("serve Gcd-v0 --port 99999", "--port: a port is an integer from 0 to 65535, got '99999'"),
    ("serve Gcd-v0 --wire openev", "did you mean 'openenv'?"),
    ("serve Gcd-v0 --idle soon", "--idle: a number is needed, got 'soon'"),
    ("serve Gcd-v0 --tokens token.txt", "did you mean 'tokens.txt'?"),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with files whose names can be mistyped."""
    folder = tmp_path_factory.mktemp("files")
    for name in ("answers.jsonl", "tokens.txt", "model.gguf", "run.yaml", "plugin.py"):
        (folder / name).touch()
    for name in ("runs/gcd", "dataset"):
        (folder / name).mkdir(parents=True)
    row = {"id": "rlvr/Gcd-v0", "config": {}, "answer_format": "boxed", "problm": {}}
    (folder / "bad.jsonl").write_text(json.dumps(row))
    (folder / "slip.jsonl").write_text('{"row": 0, "respons": "3"}\n')
    rows = f"{json.dumps(make_problem('Gcd-v0', seed=0))}\n"
    (folder / "rows.jsonl").write_text(rows)
    (folder / "dataset" / "train-0.jsonl").write_text(rows)
    return folder


@pytest.fixture
def folder(files, monkeypatch):
    """The same, as the working directory."""
    monkeypatch.chdir(files)


def check(command, message, capsys):
    capsys.readouterr()
    try:
        status = main(shlex.split(command))
    except SystemExit as end:
        status = end.code
    told = capsys.readouterr()
    assert (status, told.out) == (2, "")
    assert told.err.startswith("rlvr")
    assert message in told.err
    assert told.err.count("\n") == 1
    assert told.err.endswith("\n")


@pytest.mark.parametrize(("command", "message"), MISTAKES)
def test_a_mistake_is_one_line(command, message, folder, capsys):
    check(command, message, capsys)


@pytest.mark.parametrize(("command", "message"), OF_TRAIN)
def test_a_mistake_of_training_is_one_line(command, message, folder, capsys):
    for package in ("torch", "transformers", "tyro", "plotly", "pydantic"):
        pytest.importorskip(package)
    check(command, message, capsys)


@pytest.mark.parametrize(("command", "message"), OF_SERVE)
def test_a_mistake_of_serving_is_one_line(command, message, folder, capsys):
    for package in ("fastapi", "uvicorn", "prometheus_client"):
        pytest.importorskip(package)
    check(command, message, capsys)


def test_a_message_of_several_lines_is_one_line(monkeypatch, capsys):
    from rlvr_envs.core.errors import ConfigError

    def fail(_):
        raise ConfigError("first\nsecond")

    monkeypatch.setattr("rlvr_envs.cli.list.run", fail)
    assert main(["list"]) == 2
    assert capsys.readouterr().err == "rlvr list: first second\n"


def test_abbreviations_and_negative_values_are_no_mistakes(capsys):
    assert main(["list", "--dom", "math", "--js"]) == 0
    assert len(json.loads(capsys.readouterr().out)) > 5


def test_names_are_compared_whatever_their_capital_letters():
    assert did_you_mean("GRPO", ["grpo", "dapo"]) == "; did you mean 'grpo'?"
    assert did_you_mean("nothing like it", ["grpo", "dapo"]) == ""


def test_what_all_ids_share_makes_none_alike():
    assert "did you mean 'rlvr/Sudoku-v0'?" in str(unknown("rlvr/soduku"))
    assert "did you mean" not in str(unknown("rlvr/Qqxz-v0"))


def test_paths(tmp_path):
    (tmp_path / "runs" / "first").mkdir(parents=True)
    (tmp_path / "e2.py").touch()
    assert did_you_mean_path(tmp_path / "runs") == ""
    assert did_you_mean_path(tmp_path / "rusn" / "first").endswith("/runs/first'?")
    assert did_you_mean_path(tmp_path / "rusn" / "other").endswith("/runs'?")
    assert did_you_mean_path(tmp_path / "mine.py") == ""
    assert did_you_mean_path("/proc/1/fd/nothing/x") == ""


def test_a_file_that_is_no_folder_has_nothing_beside_it(tmp_path):
    (tmp_path / "file").touch()
    assert did_you_mean_path(tmp_path / "file" / "x") == ""


def test_keys():
    assert misspelt("response", {"row": 0, "respons": ""}) == "; is 'respons' a misspelling of it?"
    assert misspelt("response", {"row": 0, 3: ""}) == ""
