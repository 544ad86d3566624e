"""Ids: how they are found, refused and retired."""

import subprocess
import sys
from dataclasses import dataclass

import pytest

from rlvr_envs import Task, list_tasks
from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError, RegistrationError
from rlvr_envs.core.registry import find, register


def test_reading_the_text_finds_what_importing_registers():
    registry.load_all()
    in_package = {
        task_id
        for task_id, spec in registry._SPECS.items()
        if spec.task_type.__module__.startswith("rlvr_envs.envs")
    }
    assert in_package == set(registry._builtin())
    for task_id in in_package:
        assert find(task_id).domain == find(task_id).task_type.__module__.split(".")[2]


@pytest.mark.parametrize(
    "name", ["sum-v0", "Sum", "Sum-v", "rlvr/Sum-v0", "Sum_up-v0", "Süm-v0", ""]
)
def test_malformed_names_are_refused(name):
    with pytest.raises(RegistrationError, match="SubsetSum-v0"):
        register(name, domain="math")


def test_ids_are_taken_once():
    class Another(find("TestSum-v0").task_type):
        pass

    with pytest.raises(RegistrationError, match="taken"):
        register("TestSum-v0", domain="math")(Another)
    with pytest.raises(RegistrationError, match="mixture"):
        register("Math-v0", domain="math")(Another)


def test_two_task_files_of_one_id_are_told():
    found = {}
    registry._add(found, "rlvr/TestTwice-v0", "one.module")
    registry._add(found, "rlvr/TestTwice-v0", "one.module")
    with pytest.raises(RegistrationError, match=r"one\.module and another\.module"):
        registry._add(found, "rlvr/TestTwice-v0", "another.module")


def test_unknown_formats_and_domains_are_refused():
    with pytest.raises(ConfigError, match="no answer format"):
        register("Other-v0", domain="math", answer_format="xml")
    with pytest.raises(RegistrationError, match="did you mean 'math'"):
        list_tasks("maths")


def test_knobs_may_not_take_the_names_of_arguments():
    @dataclass(frozen=True, kw_only=True)
    class BadConfig:
        difficulty: int = 3

    class Bad(Task[BadConfig, find("TestSum-v0").task_type.Problem]):
        pass

    with pytest.raises(RegistrationError, match="'difficulty'"):
        register("Bad-v0", domain="math")(Bad)


def test_removed_ids_say_why(monkeypatch):
    monkeypatch.setitem(registry.REMOVED, "rlvr/Old-v0", "use New-v1; 0.1 was its last release")
    with pytest.raises(RegistrationError, match="use New-v1"):
        find("Old-v0")


def test_lists_are_sorted():
    assert list_tasks() == sorted(list_tasks())
    assert set(list_tasks("math")) <= set(list_tasks())


STUB = """
from dataclasses import dataclass
from rlvr_envs import Task, Verdict

@dataclass(frozen=True)
class StubConfig:
    @classmethod
    def at(cls, difficulty):
        return cls()

@dataclass(frozen=True)
class StubProblem:
    n: int

class StubTask(Task[StubConfig, StubProblem]):
    def generate(self, rng):
        return StubProblem(int(rng.integers(9)))
    def prompt(self, problem):
        return "Say yes."
    def verify(self, problem, answer):
        return Verdict.correct() if answer == "yes" else Verdict.wrong("no")
    def solve(self, problem):
        return "yes"
"""

THIRD_PARTY = """
from third_party_base import StubTask
from rlvr_envs import register
register("ThirdParty-v0", domain="math", answer_format="tag")(StubTask)
"""


def test_entry_points_of_other_packages_are_found(tmp_path):
    info = tmp_path / "third_party-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: third-party\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[rlvr_envs.tasks]\nthird = third_party_tasks\n")
    (tmp_path / "third_party_tasks.py").write_text(THIRD_PARTY)
    (tmp_path / "third_party_base.py").write_text(STUB)
    code = (
        "import gymnasium, rlvr_envs; print(gymnasium.make('rlvr/ThirdParty-v0').reset(seed=1)[0])"
    )
    done = _child(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Say yes.")


def test_a_broken_entry_point_is_loud(tmp_path):
    info = tmp_path / "third_party-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: third-party\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[rlvr_envs.tasks]\nthird = third_party_missing\n")
    done = _child("import rlvr_envs", tmp_path)
    assert done.returncode != 0
    assert "third_party_missing" in done.stderr


def _child(code, folder):
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(folder)!r}); {code}"],
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_spec_says_whether_its_task_is_interactive():
    assert registry.find("Mastermind-v0").interactive
    assert not registry.find("Gcd-v0").interactive
