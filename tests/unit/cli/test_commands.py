"""The small subcommands, run as a user runs them."""

import json
import subprocess
import sys

import pytest

from rlvr_envs.cli._text import fill, table
from rlvr_envs.cli.main import commands, main
from rlvr_envs.core.env import TextEnv


def test_every_command_has_help(capsys):
    for name in commands():
        with pytest.raises(SystemExit) as stop:
            main([name, "--help"])
        assert stop.value.code == 0
        assert name in capsys.readouterr().out


def test_an_unknown_command_gets_a_suggestion(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["evall"])
    assert ended.value.code == 2
    assert (
        "there is no command 'evall'; did you mean 'eval'? (known: bench, "
        in capsys.readouterr().err
    )


def test_a_command_imports_no_other():
    program = """if True:
        import sys
        from rlvr_envs.cli.main import main
        main(["list", "--domain", "puzzles"])
        loaded = {name.rpartition(".")[2] for name in sys.modules if name.startswith("rlvr_envs.cli.")}
        sys.exit(f"{sorted(loaded)}" if loaded - {"main", "list", "_text"} else 0)
    """
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_list(capsys):
    assert main(["list", "--domain", "math", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {"id": "rlvr/Gcd-v0", "domain": "math"}.items() <= {
        **next(row for row in rows if row["id"] == "rlvr/Gcd-v0")
    }.items()
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert "rlvr/Math-v0" in out
    assert "Find the greatest common divisor" in out


def test_list_of_an_unknown_domain(capsys):
    assert main(["list", "--domain", "maths"]) == 2
    assert "did you mean 'math'" in capsys.readouterr().err


def test_show_a_task(capsys):
    assert main(["show", "Gcd-v0", "--difficulty", "2", "--seed", "3"]) == 0
    out = capsys.readouterr().out
    for part in (
        "Verification:",
        "max_divisor",
        "UnicodeText",
        "greatest common divisor of",
        "boxed{",
    ):
        assert part in out


def test_show_explains(capsys):
    assert main(["show", "Gcd-v0", "--difficulty", "2", "--seed", "3", "--explain"]) == 0
    out = capsys.readouterr().out
    lines = TextEnv("rlvr/Gcd-v0", difficulty=2)
    lines.reset(seed=3)
    steps = lines.instance.task.explain(lines.instance.problem)
    assert "A worked solution:\n\n    " + "\n    ".join(steps) + "\n\nAn answer" in out


def test_show_says_that_there_is_no_explanation(capsys):
    assert main(["show", "MathDataset-v0", "--explain"]) == 0
    assert "This problem has no worked solution.\n\nAn answer" in capsys.readouterr().out


def test_show_fills_paragraphs_anew(capsys):
    assert main(["show", "VehicleRouting-v0"]) == 0
    about = capsys.readouterr().out.split("\nKnobs along")[0]
    lines = [line for line in about.splitlines() if line.startswith(" ")]
    assert lines
    for line in lines:
        assert line.startswith("    ")
        assert "  " not in line.strip()


def test_show_a_mixture(capsys):
    assert main(["show", "rlvr/Math-v0"]) == 0
    assert "rlvr/Gcd-v0" in capsys.readouterr().out


def test_show_with_a_knob(capsys):
    assert main(["show", "Gcd-v0", "--knob", "n_numbers=5"]) == 0
    assert main(["show", "Gcd-v0", "--knob", "n_number=5"]) == 2
    assert "did you mean 'n_numbers'" in capsys.readouterr().err


def test_show_an_unknown_id(capsys):
    assert main(["show", "Gdc-v0"]) == 2
    assert "did you mean 'rlvr/Gcd-v0'" in capsys.readouterr().err


def test_a_bad_difficulty_is_explained(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["show", "Gcd-v0", "--difficulty", "hard"])
    assert stop.value.code == 2
    assert "0-5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "Gcd-v0", "--seed", "-1"], "an integer from 0 is needed, got '-1'"),
        (["play", "Gcd-v0", "--seed", "x"], "an integer from 0 is needed, got 'x'"),
        (["play", "Gcd-v0", "--episodes", "0"], "an integer from 1 is needed, got '0'"),
        (["show", "Gcd-v0", "--difficulty", "5-2"], "'5-2' is empty"),
        (["show", "Gcd-v0", "--difficulty", "1000000000"], "at most 1000 here"),
        (["play", "Gcd-v0", "--difficulty", "0-1001"], "at most 1000 here"),
        (["eval", "Gcd-v0", "--policy", "oracle", "--difficulty", "0,9999"], "at most 1000 here"),
        (["generate", "Gcd-v0", "--out", "x", "--difficulty", "0:.5,2-2000:1"], "at most 1000"),
    ],
)
def test_numbers_out_of_range_are_refused_at_once(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", ["eval", "generate", "play", "show"])
def test_knobs_are_set_in_the_same_way_everywhere(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    help_text = capsys.readouterr().out
    assert "--knob NAME=VALUE" in help_text
    assert "--difficulty D" in help_text


@pytest.mark.parametrize(
    "command",
    [["show", "Gcd-v0"], ["play", "Gcd-v0"], ["eval", "Gcd-v0", "--policy", "oracle"],
     ["generate", "Gcd-v0=3", "--out", "unused"]],
    ids=lambda command: command[0],
)  # fmt: skip
def test_a_knob_of_the_wrong_kind_is_explained(command, capsys):
    assert main([*command, "--knob", "n_numbers=many"]) == 2
    told = capsys.readouterr().err
    assert "GcdTask cannot use n_numbers='many'" in told
    assert "rlvr show" in told


def test_a_table_puts_numbers_flush_right():
    text = table(("task", "n", "score"), [("a", "5", "0.5 [0.1, 0.9]"), ("bb", "12", "–")])
    assert text.split("\n") == [
        "task   n           score",
        "a      5  0.5 [0.1, 0.9]",
        "bb    12               –",
    ]


def test_a_narrow_terminal_gets_words_wrapped(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    text = table(("id", "about"), [("rlvr/Gcd-v0", "the greatest common divisor of integers")])
    assert text.split("\n")[1:] == [
        "rlvr/Gcd-v0  the greatest common divisor",
        "             of integers",
    ]
    assert max(map(len, fill("word " * 20 + "\n" + "x" * 60).split("\n"))) == 60
    assert len(fill("word " * 20).split("\n")[0]) <= 40


def play(text, *options):
    return subprocess.run(
        [sys.executable, "-m", "rlvr_envs", "play", "Gcd-v0", "--seed", "0", *options],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_play():
    first = play("1000000007\n", "--episodes", "1")
    assert "wrong: 0" in first
    answer = first.split("an answer of full marks:\n")[1].split()[0]
    assert "correct: 1" in play(f"{answer}\n", "--episodes", "1")
    assert "correct: 1" in play(f"\\boxed{{{answer}}}\n", "--episodes", "1")


def test_moves_of_a_game_need_no_box(monkeypatch, capsys):
    env = TextEnv("TowerOfHanoiGame-v0", difficulty=0)
    env.reset(seed=0)
    moves = [move.removeprefix("\\boxed{").removesuffix("}") for move in env.instance.solution()]
    lines = iter(moves)
    monkeypatch.setattr("builtins.input", lambda _="": next(lines))
    options = ["--difficulty", "0", "--seed", "0", "--episodes", "1"]
    assert main(["play", "TowerOfHanoiGame-v0", *options]) == 0
    assert "correct: 1" in capsys.readouterr().out


def test_play_ends_with_the_input():
    assert "nothing was played" in play("")


def test_check(capsys):
    assert main(["check", "Gcd-v0", "--only", "documentation_is_complete"]) == 0
    assert "1 passed, 0 failed" in capsys.readouterr().out
    assert main(["check", "Gcd-v0", "--only", "documentation"]) == 2
    assert "did you mean" in capsys.readouterr().err


def test_check_explains_a_failure(capsys, monkeypatch):
    from rlvr_envs.core.registry import find

    monkeypatch.setattr(find("Gcd-v0").task_type, "__doc__", "Nothing.")
    assert main(["check", "Gcd-v0", "--only", "documentation_is_complete"]) == 1
    out = capsys.readouterr().out
    assert "asked: The docstring" in out
    assert "seen:  the docstring lacks the section 'Description'" in out


def test_doctor(capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "worker pool  works" in out
    assert "math" in out


def test_new_task_writes_files_that_work(tmp_path, capsys):
    (tmp_path / "rlvr_envs" / "envs").mkdir(parents=True)
    assert main(["new-task", "puzzles/TileSwap", "--root", str(tmp_path)]) == 0
    source = tmp_path / "rlvr_envs/envs/puzzles/tile_swap.py"
    assert source.exists()
    assert (tmp_path / "changes/tile_swap.env.md").read_text().startswith("Add `rlvr/TileSwap-v0`")
    code = (
        f"import runpy; runpy.run_path({str(source)!r}, run_name='tile_swap'); "
        "from rlvr_envs import make_problem, solve, verify; "
        "row = make_problem('TileSwap-v0', seed=0); print(verify(row, solve(row)).score)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "1.0", done.stderr
    assert main(["new-task", "puzzles/TileSwap", "--root", str(tmp_path)]) == 2
    assert "exist already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["puzzels/TileSwap"], "did you mean 'puzzles'"),
        (["puzzles/lightsOut"], "DOMAIN/Name"),
        (["TileSwap"], "DOMAIN/Name"),
        (["math/Gcd"], "exists already"),
    ],
)
def test_new_task_refuses_bad_names(arguments, message, capsys, tmp_path):
    assert main(["new-task", *arguments, "--root", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def test_new_task_outside_a_checkout(tmp_path, capsys):
    assert main(["new-task", "math/Mine", "--root", str(tmp_path)]) == 2
    assert "--into" in capsys.readouterr().err
    assert main(["new-task", "math/Mine", "--into", str(tmp_path / "tasks")]) == 0
    assert "entry-points" in capsys.readouterr().out


@pytest.mark.parametrize("flag", ["-O", "-OO"])
def test_optimised_python_works_too(flag):
    for command in (["list"], ["show", "Gcd-v0"], ["eval", "Gcd-v0", "--policy", "oracle"]):
        done = subprocess.run(
            [sys.executable, flag, "-m", "rlvr_envs", *command],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "Gcd-v0" in done.stdout


def test_eval_needs_no_extra(monkeypatch, capsys):
    for package in ("rich", "plotly", "httpx", "pyarrow"):
        monkeypatch.setitem(sys.modules, package, None)
    assert main(["eval", "Gcd-v0", "--policy", "oracle", "--episodes", "2"]) == 0
    assert capsys.readouterr().out.split("\n")[2].split()[:3] == ["policy", "n", "score"]


def test_eval_prints_the_tasks_of_a_large_mixture_when_asked(capsys):
    command = ["eval", "All-v0", "--policy=constant:1", "--difficulty=0", "--episodes=40"]
    assert main([*command, "--no-progress"]) == 0
    short = capsys.readouterr().out
    count = int(short.split()[0])
    assert f"--per-task-table prints a row for each of the {count} tasks." in short
    assert main([*command, "--no-progress", "--per-task-table"]) == 0
    whole = capsys.readouterr().out
    assert whole.startswith(short[: short.index("\n\n--per-task-table")])
    rows = [line for line in whole.splitlines() if line.startswith("  rlvr/")]
    assert len(rows) == count
    assert "too few to compare" in whole


def test_without_plotly_a_run_says_how_to_get_its_page(monkeypatch, capsys, tmp_path):
    command = ["eval", "Gcd-v0", "--policy", "oracle", "--episodes", "2", f"--out={tmp_path}"]
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "plotly", None)
        assert main(command) == 0
    shown = capsys.readouterr()
    assert "oracle" in shown.out
    assert "pip install 'plotly>=" in shown.err
    assert "repeat this command" in shown.err
    assert not (tmp_path / "report.html").exists()
    episodes = (tmp_path / "episodes.jsonl").read_bytes()
    pytest.importorskip("plotly")
    assert main(command) == 0
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "episodes.jsonl").read_bytes() == episodes


def test_a_missing_package_ends_an_evaluation_and_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ortools.sat.python.cp_model", None)
    command = ["eval", "Knapsack-v0", "--policy", "oracle", "--difficulty", "1", "--episodes", "2"]
    assert main(command) == 2
    assert "pip install" in capsys.readouterr().err


def test_a_folder_that_may_not_be_written_is_one_line(capsys):
    assert main(["generate", "Gcd-v0", "--count", "2", "--out", "/proc/nowhere"]) == 1
    assert capsys.readouterr().err == "rlvr generate: No such file or directory: /proc/nowhere\n"
