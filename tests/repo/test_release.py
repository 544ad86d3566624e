"""The parts of scripts/release.py that need no build."""

import importlib.util
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import rlvr_envs
from rlvr_envs.core import registry

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("release", ROOT / "scripts/release.py")
release = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(release)


def git(folder, *arguments):
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path):
    """A clean repository with one commit."""
    git(tmp_path, "init")
    (tmp_path / "a").write_text("a")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-m", "a")
    return tmp_path


def test_the_version_is_that_of_the_package(tmp_path):
    assert release.version_of(ROOT) == rlvr_envs.__version__
    (tmp_path / "rlvr_envs/core").mkdir(parents=True)
    (tmp_path / "rlvr_envs/core/version.py").write_text("")
    with pytest.raises(release.ReleaseError, match="sets no __version__"):
        release.version_of(tmp_path)


def test_a_clean_tree_without_the_tag_passes(tree):
    release.check_tree(tree, "0.1.0")


def test_changes_are_refused(tree):
    (tree / "b").write_text("b")
    with pytest.raises(release.ReleaseError, match=r"commit or remove them:\n\?\? b"):
        release.check_tree(tree, "0.1.0")


def test_a_version_that_is_tagged_is_refused(tree):
    git(tree, "tag", "v0.1.0")
    with pytest.raises(
        release.ReleaseError, match=r"v0\.1\.0 is tagged already: raise __version__"
    ):
        release.check_tree(tree, "0.1.0")
    release.check_tree(tree, "0.1.1")


NEEDED = ("rlvr_envs/py.typed", "rlvr_envs/sandboxes/languages.toml", "rlvr_vf.py", "x/LICENSE")


def wheel(folder, names):
    path = folder / "a.whl"
    with zipfile.ZipFile(path, "w") as file:
        for name in names:
            file.writestr(name, "")
    return path


def test_what_an_archive_must_hold(tmp_path):
    release.check_contents(wheel(tmp_path, NEEDED))
    with pytest.raises(release.ReleaseError, match=r"a\.whl lacks rlvr_envs/py.typed, LICENSE"):
        release.check_contents(wheel(tmp_path, NEEDED[1:3]))
    with pytest.raises(release.ReleaseError, match=r"a.whl holds rlvr_envs/x.pyc"):
        release.check_contents(wheel(tmp_path, [*NEEDED, "rlvr_envs/x.pyc"]))


def test_an_sdist_is_read_too(tmp_path):
    for name in NEEDED[:-1]:
        (tmp_path / "a" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "a" / name).write_text("")
    path = tmp_path / "a.tar.gz"
    with tarfile.open(path, "w:gz") as file:
        file.add(tmp_path / "a", "a")
    with pytest.raises(release.ReleaseError, match=r"a.tar.gz lacks LICENSE$"):
        release.check_contents(path)


def test_the_smoke_test_plays_a_task_of_each_domain():
    assert list(release.SMOKE) == list(registry.DOMAINS)
    for domain, task in release.SMOKE.items():
        assert registry.find(task).domain == domain


def test_the_smoke_test_tells_who_earns_less(tmp_path):
    def play(*tasks):
        command = [sys.executable, "-c", release.PLAY, *tasks]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    done = play("Gcd-v0", "Countdown-v0", "ChainSearch-v0")
    assert done.stdout.count("the oracle earns 1") == 3, done.stderr
    assert play("NoTask-v0").returncode == 1


def test_what_is_left_to_do_names_the_tag_and_the_archives():
    said = release.by_hand("0.1.0", [Path("dist/a.tar.gz"), Path("dist/a.whl")])
    assert "git tag --annotate --message 'Version 0.1.0' v0.1.0" in said
    assert "twine upload dist/a.tar.gz dist/a.whl" in said


def test_a_command_that_fails_says_what_it_said():
    with pytest.raises(release.ReleaseError, match=r"import sys; .* failed:\nno$"):
        release.run(sys.executable, "-c", "import sys; sys.exit('no')")


def test_nothing_is_tagged_or_uploaded():
    text = (ROOT / "scripts/release.py").read_text("utf-8")
    runs = [line for line in text.splitlines() if "run(" in line]
    assert not [line for line in runs if '"upload"' in line or '"--annotate"' in line]
