"""The first commands of the docs work after a plain `pip install .`, or say what they need."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README, START = ((ROOT / name).read_text("utf-8") for name in ("README.md", "docs/start.md"))

# Without the modules and the metadata of all that only extras install.
CUSTOMISE = """
import sys
from importlib.machinery import PathFinder

ABSENT = {
    "accelerate", "docker", "fastapi", "gguf", "httpx", "ortools", "peft", "pettingzoo", "plotly",
    "prometheus-client", "prometheus_client", "pyarrow", "pydantic", "pyosys", "pyyaml", "ray",
    "rich", "shtab", "tantivy", "torch", "transformers", "tyro", "uvicorn", "websockets", "yaml", "z3", "z3-solver",
}

class Plain(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in ABSENT else super().find_spec(name, path, target)

    @classmethod
    def find_distributions(cls, context=None):
        absent = context is not None and context.name in ABSENT
        return iter(()) if absent else super().find_distributions(context)

sys.meta_path[:] = [Plain if finder is PathFinder else finder for finder in sys.meta_path]
"""


@pytest.fixture
def plain(tmp_path):
    """Run Python in a folder of its own, where no optional package is installed."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(CUSTOMISE)

    def run(*arguments, status=0):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(tmp_path / "site")},
            check=False,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


def of_docs(command, **changed):
    """Return the arguments of a command of the README or of the page Start, some options changed."""
    line = re.search(rf"^rlvr {command} (?:.*\\\n)*.*", README + START, re.MULTILINE)[0]
    words = shlex.split(line.replace("\\\n", " "))[1:]
    for name, value in changed.items():
        words[words.index(f"--{name}") + 1] = value
    return ["-m", "rlvr_envs", *words]


def test_the_optional_packages_are_absent(plain):
    code = "import importlib.util as u; print(u.find_spec('plotly'), u.find_spec('pyosys'))"
    assert plain("-c", code).stdout == "None None\n"
    doctor = plain("-m", "rlvr_envs", "doctor").stdout
    assert "installed" not in doctor
    assert "pip install 'pyosys>=" in doctor
    assert "'plotly>=" in doctor


def test_the_evaluation_of_the_readme(plain, tmp_path):
    done = plain(*of_docs("eval"), "--episodes", "1")
    assert re.search(r"^oracle +3 +1\.000", done.stdout, re.MULTILINE)
    assert "pip install 'plotly>=" in done.stderr
    written = {path.name for path in (tmp_path / "runs/first").iterdir()}
    assert {"episodes.jsonl", "summary.json"} <= written
    assert "report.html" not in written


def test_the_data_set_of_the_readme(plain):
    plain(*of_docs("generate", count="12"))
    assert "12 of 12 rows answered" in plain(*of_docs("verify")).stdout


@pytest.mark.parametrize("page", [README, START], ids=["README", "start"])
def test_the_block_of_code(plain, page):
    block = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]  # the first
    assert plain("-c", f"{block}\nprint(terminated)").stdout.splitlines()[-1] == "True"


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (of_docs("train"), "tyro"),
        (of_docs("plot"), "plotly"),
        (["-m", "rlvr_envs", "eval", "Knapsack-v0", "--policy", "oracle"], "ortools"),
        (["-m", "rlvr_envs", "eval", "PuzzleSpec-v0", "--policy", "oracle"], "z3-solver"),
        (["-m", "rlvr_envs", "eval", "Fifo-v0", "--policy", "oracle"], "pyosys"),
        (["-m", "rlvr_envs", "eval", "Gcd-v0", "--policy", "local:./model"], "torch"),
        (
            ["-m", "rlvr_envs", "generate", "Gcd-v0", "--count=2", "--out=d", "--format=parquet"],
            "pyarrow",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else value[2],
)
def test_what_needs_an_extra_says_how_to_get_it(plain, tmp_path, arguments, needed):
    (tmp_path / "model").mkdir()
    (tmp_path / "model/config.json").write_text("{}")
    done = plain(*arguments, status=2)
    assert re.fullmatch(rf"rlvr \w+: .*pip install .*'{needed}>=.*\n", done.stderr)


def test_serving_and_clusters_say_what_they_need(plain):
    serve = plain("-m", "rlvr_envs", "serve", status=2).stderr
    assert "serving needs" in serve
    assert "'fastapi>=" in serve
    generate = ("generate", "Gcd-v0", "--count", "1", "--out", "data", "--executor", "ray")
    assert "install 'ray>=" in plain("-m", "rlvr_envs", *generate, status=2).stderr
