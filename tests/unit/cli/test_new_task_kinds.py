"""What `rlvr new-task --kind` writes passes every check as it is."""

import subprocess
import sys
from pathlib import Path

import pytest

from rlvr_envs.cli.main import main

ROOT = Path(__file__).resolve().parents[3]
TOOLS = Path(sys.executable).parent
KINDS = ("answer", "certificate", "interactive")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder with a package of three tasks, which entry points name."""
    metadata = tmp_path / "mine-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    lines = [f"tile_{kind} = tiles.tile_{kind}\n" for kind in KINDS]
    (metadata / "entry_points.txt").write_text(f"[rlvr_envs.tasks]\n{''.join(lines)}")
    for kind in KINDS:
        name = f"puzzles/Tile{kind.capitalize()}"
        assert main(["new-task", name, "--kind", kind, "--into", str(tmp_path / "tiles")]) == 0
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{tmp_path}")
    return tmp_path


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_each_kind_passes_every_conformance_check(package):
    ids = [f"Tile{kind.capitalize()}-v0" for kind in KINDS]
    said = run(sys.executable, "-m", "rlvr_envs", "check", *ids, cwd=package)
    assert said.endswith(" passed, 0 failed\n")
    assert all(task_id in said for task_id in ids)


def test_the_tests_written_beside_them_pass(package):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tiles"]
    assert " passed" in run(*command, cwd=package)


def test_types_are_right(package):
    pytest.importorskip("mypy", reason="mypy is not installed")
    options = ("--config-file", ROOT / "pyproject.toml", "--cache-dir", package / "cache")
    files = [f"tiles/tile_{kind}.py" for kind in KINDS]
    assert "no issues" in run(sys.executable, "-m", "mypy", *options, *files, cwd=package)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("folder", ["rlvr_envs", "tests/unit"])
def test_lint_and_format_have_nothing_to_say(tmp_path, folder, kind):
    ruff = TOOLS / "ruff"
    if not ruff.exists():
        pytest.skip("ruff is not installed")
    (tmp_path / "rlvr_envs/envs").mkdir(parents=True)
    assert main(["new-task", "puzzles/TileSwap", "--kind", kind, "--root", str(tmp_path)]) == 0
    (path,) = (tmp_path / folder / "envs/puzzles").glob("*tile_swap.py")
    place = path.relative_to(tmp_path)
    for command in (["check"], ["format", "--check"]):
        run(
            *("bash", "-c", f'"$0" "$@" --stdin-filename {place} - < {path}'),
            *(ruff, *command, "--no-cache"),
            cwd=ROOT,
        )


def test_the_kinds_say_which_verdict_is_for_what(package):
    constructors = ("correct", "graded", "wrong", "unparsable", "undecided", "timeout")
    for kind in ("answer", "certificate"):
        text = (package / f"tiles/tile_{kind}.py").read_text()
        assert not [name for name in (*constructors, "verifier_error") if f"{name}`" not in text]


def test_a_kind_and_a_program_exclude_each_other(capsys):
    with pytest.raises(SystemExit):
        main(["new-task", "code/Mine", "--kind", "certificate", "--from-program", "x.py"])
    assert "not allowed with" in capsys.readouterr().err
