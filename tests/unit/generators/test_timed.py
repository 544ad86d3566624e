"""Speed is measured where the kernel counts, and refused elsewhere."""

import pytest

from rlvr_envs.core.errors import SpeedNotMeasurable
from rlvr_envs.generators.slow_programs import timed
from rlvr_envs.sandboxes.namespaces import NamespacesBackend
from rlvr_envs.sandboxes.sandbox import Sandbox
from rlvr_envs.verifiers.program import Call

LOOP = "def f(n):\n    for _ in range(n): pass\n    return n\n"


def test_costs_are_those_of_each_call():
    few, many = timed.costs(LOOP, "f", [Call((1,), 1), Call((10**7,), 10**7)], cpu_s=10)
    assert many > few


def test_an_estimate_is_no_measurement(monkeypatch):
    with Sandbox(NamespacesBackend(cgroups=False), slots=1) as sandbox:
        monkeypatch.setattr(timed, "shared_sandbox", lambda: sandbox)
        with pytest.raises(SpeedNotMeasurable, match=r"namespaces .*`rlvr doctor`"):
            timed.costs(LOOP, "f", [Call((1,), 1)], cpu_s=10)
