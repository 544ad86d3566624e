"""Build a release and try it, and say what is left to do by hand: nothing is published or tagged.

It checks that the tree is clean and the version not tagged, builds the sdist and the wheel, checks
their metadata, installs the wheel in a fresh environment, runs a smoke test there, and prints the
release notes of `changes/`. With --write it puts them into CHANGELOG.md, and removes the notes.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# A task of each domain.
SMOKE = {
    "math": "Gcd-v0",
    "code": "RegexSynthesis-v0",
    "np_hard": "SubsetSum-v0",
    "puzzles": "Countdown-v0",
    "search": "ChainSearch-v0",
    "verilog": "EdgeDetector-v0",
}
# What two of them need beside the package itself.
EXTRAS = ("solvers", "verilog")
PLAY = """
import sys
import gymnasium as gym
import rlvr_envs

for task in sys.argv[1:]:
    env = gym.make(f"rlvr/{task}", difficulty=0)
    env.reset(seed=0)
    solution = env.unwrapped.instance.solution()
    for action in [solution] if isinstance(solution, str) else solution:
        _, reward, terminated, _, info = env.step(action)
    assert terminated and reward == 1.0, (task, info["verdict"])
    print(f"{task}: the oracle earns 1")
"""


class ReleaseError(Exception):
    """The tree, the version or what was built is not fit for a release."""


def main() -> int:
    """Run every step; the exit status is 1 if one says no."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the notes into CHANGELOG.md")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the archives go")
    args = parser.parse_args()
    try:
        release(args.out, write=args.write)
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


def release(out: Path, *, write: bool) -> None:
    """Build, check, install, try, and tell."""
    version = version_of(ROOT)
    check_tree(ROOT, version)
    built = build(out, version)
    for archive in built:
        check_contents(archive)
    run(sys.executable, "-m", "twine", "check", "--strict", *built)
    smoke(built[1], out / "smoke")
    notes = run(sys.executable, "-m", "towncrier", "build", "--draft", "--version", version)
    print(f"\n{notes}")
    if write:
        run(sys.executable, "-m", "towncrier", "build", "--yes", "--version", version)
        print("the notes are in CHANGELOG.md now, and changes/ is empty: commit both")
    print(by_hand(version, built))


def version_of(root: Path) -> str:
    """Return the version that the package says it has.

    Raises:
        ReleaseError: it says none.
    """
    text = (root / "rlvr_envs/core/version.py").read_text("utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    if found is None:
        raise ReleaseError("rlvr_envs/core/version.py sets no __version__")
    return found[1]


def check_tree(root: Path, version: str) -> None:
    """Refuse a tree with changes, and a version that is tagged.

    Raises:
        ReleaseError: it says which, and what to do.
    """
    changed = run("git", "status", "--porcelain", cwd=root)
    if changed:
        raise ReleaseError(f"the tree has changes; commit or remove them:\n{changed}")
    if run("git", "tag", "--list", tag_of(version), cwd=root):
        raise ReleaseError(
            f"{tag_of(version)} is tagged already: raise __version__ in rlvr_envs/core/version.py"
        )


def tag_of(version: str) -> str:
    """Return the tag of a version."""
    return f"v{version}"


def build(out: Path, version: str) -> tuple[Path, Path]:
    """Return the sdist and the wheel.

    Raises:
        ReleaseError: there are others than these two afterwards.
    """
    out.mkdir(parents=True, exist_ok=True)
    for old in (*out.glob("*.whl"), *out.glob("*.tar.gz")):
        old.unlink()
    run(sys.executable, "-m", "build", "--outdir", str(out), str(ROOT))
    expected = (
        out / f"rlvr_envs-{version}.tar.gz",
        out / f"rlvr_envs-{version}-py3-none-any.whl",
    )
    found = {*out.glob("*.whl"), *out.glob("*.tar.gz")}
    if found != set(expected):
        raise ReleaseError(
            f"expected {[*map(str, expected)]}, built were {sorted(map(str, found))}"
        )
    return expected


def names_in(archive: Path) -> list[str]:
    """Return the names of the files in a wheel or an sdist."""
    if archive.suffix == ".whl":
        return zipfile.ZipFile(archive).namelist()
    with tarfile.open(archive) as file:
        return file.getnames()


def check_contents(archive: Path) -> None:
    """Refuse an archive without what the package reads at run time, or with what is not code.

    Raises:
        ReleaseError: it says what is missing, or what should not be there.
    """
    names = names_in(archive)
    needed = ("rlvr_envs/py.typed", "rlvr_envs/sandboxes/languages.toml", "rlvr_vf.py", "LICENSE")
    missing = [name for name in needed if not any(each.endswith(name) for each in names)]
    if missing:
        raise ReleaseError(f"{archive.name} lacks {', '.join(missing)}")
    strange = [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".so"))]
    if strange:
        raise ReleaseError(f"{archive.name} holds {', '.join(strange)}")


def smoke(wheel: Path, folder: Path) -> None:
    """Install a wheel in a fresh environment, and try it there."""
    venv.create(folder / "venv", with_pip=True, clear=True)
    python = str(folder / "venv/bin/python")
    wanted = f"{wheel}[{','.join(EXTRAS)}]"
    run(python, "-m", "pip", "install", "--quiet", wanted, "-c", str(ROOT / "constraints.txt"))
    rlvr = str(folder / "venv/bin/rlvr")
    place = run(python, "-c", "import rlvr_envs; print(rlvr_envs.__file__)", cwd=folder)
    if not place.startswith(str(folder.resolve())):
        raise ReleaseError(f"the fresh environment imports {place}")
    print(f"{len(run(rlvr, 'list', cwd=folder).splitlines())} lines of `rlvr list`")
    print(run(python, "-c", PLAY, *SMOKE.values(), cwd=folder))
    options = ("--difficulty", "0", "--episodes", "2", "--policy", "oracle", "--out", "run")
    run("rm", "-rf", "run", cwd=folder)
    print(run(rlvr, "eval", "Gcd-v0", "Countdown-v0", *options, cwd=folder))


def by_hand(version: str, built: Sequence[Path]) -> str:
    """Return what the owner of the project does, once the above is right."""
    tag, files = tag_of(version), shlex.join(map(str, built))
    return (
        "left to do by hand:\n"
        "  1. read the notes; `--write` puts them into CHANGELOG.md; commit\n"
        f"  2. git tag --annotate --message 'Version {version}' {tag}\n"
        f"  3. git push origin {tag}\n"
        f"  4. upload, under a name of yours (`rlvr-envs` on PyPI is not ours):\n"
        f"     python -m twine upload {files}"
    )


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Return what a command prints, outside of the tree's own packages.

    Raises:
        ReleaseError: it fails.
    """
    done = subprocess.run(
        [str(each) for each in command],
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        raise ReleaseError(f"{shlex.join(map(str, command))} failed:\n{said}")
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
