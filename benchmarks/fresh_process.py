"""Measures a cell in a process of its own, whose memory and caches no other cell has filled.

A script that is called with ``--cell`` and JSON measures that cell alone and prints its result as
the last line.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def measured(script: str, *cell: Any) -> dict[str, Any]:
    """Return what a script measures of a cell, or ``{"fault": …}`` with its last words."""
    command = [sys.executable, script, "--cell", json.dumps(cell)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        fault = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        return {"fault": fault[0][:200]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])  # libraries may print before
    print(f"{Path(script).stem} {' '.join(map(str, cell))}: {found}"[:400], file=sys.stderr)
    return found


def asked(measure: Callable[..., Any]) -> bool:
    """Measure the cell that this process was started for, if it was; return whether it was."""
    if sys.argv[1:2] != ["--cell"]:
        return False
    print(json.dumps(measure(*json.loads(sys.argv[2]))))
    return True
