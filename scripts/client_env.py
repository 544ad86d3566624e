"""Make the virtual environment of a client that we integrate with, and print its Python.

    python scripts/client_env.py trl

The environment stands in ``build/clients`` and holds this package and the versions that
``tests/clients/NAME.txt`` pins. It is made again when that file or our own metadata changes. A
client that needs another Python says so in its file: ``# python 3.12``. A file with the line
``# no-deps`` names all packages itself: what they ask for beside is left out.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / "tests" / "clients"
ENVIRONMENTS = ROOT / "build" / "clients"
NO_DEPS = "# no-deps"


def python_of(name: str) -> Path:
    """Return where the Python of a client's environment stands, there or not."""
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    digest = hashlib.sha256(pins_of(name).read_bytes())
    digest.update(f"{json.dumps(ours)} {ROOT} {sys.version}".encode())
    return ENVIRONMENTS / f"{name}-{digest.hexdigest()[:12]}" / "bin" / "python"


def pins_of(name: str) -> Path:
    """Return the file that pins a client's packages."""
    path = PINS / f"{name}.txt"
    if not path.is_file():
        known = ", ".join(sorted(found.stem for found in PINS.glob("*.txt")))
        raise SystemExit(f"no client {name!r} (known: {known})")
    return path


def interpreter(name: str) -> str:
    """Return the Python that makes a client's environment: ours, or the version that it needs."""
    wanted = re.search(r"^# python (\d+\.\d+)$", pins_of(name).read_text(), re.MULTILINE)
    if wanted is None:
        return sys.executable
    installed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    found = sorted(installed.glob(f"{wanted[1]}.*/bin/python"))
    for python in [f"python{wanted[1]}", *map(str, found)]:
        with_venv = [python, "-c", "import ensurepip, venv"]
        if not shutil.which(python):
            continue
        if subprocess.run(with_venv, capture_output=True, check=False).returncode == 0:
            return python
    raise SystemExit(f"{name} needs Python {wanted[1]}: put python{wanted[1]} on the PATH")


def make(name: str) -> Path:
    """Make the environment of a client, unless it is there; return its Python."""
    python = python_of(name)
    if python.exists():
        return python
    for old in ENVIRONMENTS.glob(f"{name}-*"):
        shutil.rmtree(old)
    folder = python.parent.parent
    partial = folder.with_name(f"{folder.name}.part")
    subprocess.run([interpreter(name), "-m", "venv", "--clear", partial], check=True)
    pip = [partial / "bin" / "python", "-m", "pip", "install", "--quiet"]
    pins = pins_of(name)
    alone = ["--no-deps"] if NO_DEPS in pins.read_text("utf-8").splitlines() else []
    subprocess.run([*pip, *alone, "--requirement", pins], cwd=ROOT, check=True)
    subprocess.run([*pip, "--editable", str(ROOT)], check=True)
    _repair_scripts(partial, folder)
    partial.rename(folder)
    return python


def _repair_scripts(partial: Path, folder: Path) -> None:
    """Give the commands of an environment its final path."""
    for path in (partial / "bin").iterdir():
        if path.is_symlink() or not path.is_file():
            continue
        text = path.read_bytes()
        if os.fsencode(partial) in text:
            path.write_bytes(text.replace(os.fsencode(partial), os.fsencode(folder)))


def main() -> None:
    """Make an environment."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="a file of tests/clients without its .txt")
    print(make(parser.parse_args().name))


if __name__ == "__main__":
    main()
