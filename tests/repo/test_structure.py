"""Where code lives: bounds on what `scripts/structure.py` counts. They may only shrink."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BOUNDS = {
    "private modules": 10,
    "private modules that one module imports": 0,
    "modules that import each other": 0,
}


def test_the_structure_does_not_get_worse():
    command = [sys.executable, str(ROOT / "scripts" / "structure.py")]
    told = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    counts = {line[8:].strip(): int(line[:8].replace(",", "")) for line in told.splitlines()}
    assert {name: counts[name] for name in BOUNDS if counts[name] > BOUNDS[name]} == {}
