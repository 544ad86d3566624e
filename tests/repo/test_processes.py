"""What a process of the package holds: never pyosys, which crashes beside torch and OR-Tools."""

import ast
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# These run in an interpreter of the sandbox, and are never imported outside of it.
IN_SANDBOX = {
    "rlvr_envs.verifiers.hdl._elaborate_job",
    "rlvr_envs.verifiers.hdl._yosys_library",
}
# This runs in vLLM's own processes.
IN_VLLM = {"rlvr_envs.agents.grpo.sampling.vllm.plugin"}
# These import the clients of others, each of which has an environment of its own.
OF_CLIENTS = {
    f"rlvr_envs.integrations.{pins.stem}" for pins in (ROOT / "tests/clients").glob("*.txt")
}
EVERYTHING = """
import importlib, json, pkgutil, sys
import gymnasium, rlvr_envs
from rlvr_envs.core import registry

left_out = set(json.loads(sys.argv[1]))
names = [m.name for m in pkgutil.walk_packages(rlvr_envs.__path__, "rlvr_envs.")]
imported = [n for n in names if n not in left_out and not n.endswith("__main__")]
for name in imported:
    importlib.import_module(name)
made = registry.all_ids()
for env_id in made:
    example = {} if env_id in registry.mixture_ids() else dict(registry.find(env_id).example)
    env = gymnasium.make(env_id, **example)
    env.reset(seed=0)
    env.close()
from rlvr_envs.solvers import cp_sat, packages
model = cp_sat.new_model()
solved = cp_sat.solve(model, [model.new_int_var(1, 1, "x")], budget=1.0)
z3 = packages.require("z3").Solver().check()
design = rlvr_envs.make_problem("rlvr/Fifo-v0", seed=0, difficulty=0)
score = rlvr_envs.verify(design, rlvr_envs.solve(design)).score
import torch
print(json.dumps({
    "imported": imported, "made": made, "cp_sat": solved.values, "z3": str(z3),
    "verilog": score, "loaded": sorted(sys.modules),
}))
"""


def importers(module):
    """Return the modules of the package and the tests whose text imports a module."""
    found = set()
    for path in [*(ROOT / "rlvr_envs").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            asked = isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
                ("importorskip", "import_module", "__import__")
            )
            names += [a.value for a in node.args if isinstance(a, ast.Constant)] if asked else []
            if any(str(name).split(".")[0] == module for name in names):
                found.add(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return found


def test_only_what_runs_in_the_sandbox_imports_pyosys():
    assert importers("pyosys") == IN_SANDBOX


@pytest.mark.skipif(find_spec("pyosys") is None, reason="judging Verilog needs pyosys")
def test_a_process_that_uses_everything_does_not_hold_pyosys():
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            "-c",
            EVERYTHING,
            json.dumps(sorted(IN_SANDBOX | IN_VLLM | OF_CLIENTS)),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    assert len(told["imported"]) > 500
    assert len(told["made"]) > 180
    assert (told["cp_sat"], told["z3"], told["verilog"]) == ([1], "sat", 1.0)
    loaded = {name.split(".")[0] for name in told["loaded"]}
    assert {"torch", "ortools", "z3", "sympy"} <= loaded
    assert "pyosys" not in loaded
