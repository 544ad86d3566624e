"""Runs the real clients, each in a virtual environment of its own.

`make integration-NAME` makes the environment of a client and runs its tests. Where it was not
made, they are skipped, unless RLVR_REQUIRE_CLIENTS lists the client.
"""

import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 540
# Where a machine keeps its certificates; clients that install something need them.
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def _client_env():
    spec = importlib.util.spec_from_file_location("client_env", ROOT / "scripts/client_env.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Client:
    """A client's environment; runs its commands in a folder."""

    def __init__(self, python, folder):
        self.python = python
        self.folder = folder

    def run(self, *arguments, **variables):
        """Run Python there with arguments; return what it printed."""
        return self.command(self.python, *arguments, **variables)

    def command(self, command, *arguments, **variables):
        """Run a command of the environment, such as ``inspect``, and return what it printed."""
        path = self.python.parent / command
        env = {
            "PATH": f"{self.python.parent}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "OMP_NUM_THREADS": "1",
            "OMP_WAIT_POLICY": "PASSIVE",
            "HF_HUB_OFFLINE": "1",
            **{name: os.environ[name] for name in CERTIFICATES if name in os.environ},
            **variables,
        }
        done = subprocess.run(
            [str(path), *map(str, arguments)],
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
        assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-8000:]}"
        return done.stdout


@pytest.fixture
def client(request, tmp_path):
    """The environment of the client that the test's module is named after: test_NAME.py."""
    name = request.module.__name__.rpartition(".")[2].removeprefix("test_")
    python = _client_env().python_of(name)
    if not python.exists():
        reason = f"the environment of {name} was not made: make integration-{name}"
        if name in os.environ.get("RLVR_REQUIRE_CLIENTS", "").split(","):
            pytest.fail(reason)
        pytest.skip(reason)
    return Client(python, tmp_path)
