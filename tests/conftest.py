"""Options and data shared by all tests."""

import os
from pathlib import Path

import pytest

import rlvr_envs  # noqa: F401 - registers every id
from rlvr_envs.core.errors import SandboxUnavailable, SpeedNotMeasurable
from rlvr_envs.sandboxes.sandbox import make_backend, probe

# Read when torch is loaded: else its threads wait in a busy loop, beside those of other workers.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the golden lines of tasks that have none (lines that are there stay)",
    )
    parser.addoption(
        "--thorough", action="store_true", help="check every task on many more problems"
    )


@pytest.fixture(scope="session")
def thorough(request):
    """Whether tests that sample problems should take many more of them."""
    return request.config.getoption("--thorough")


def pytest_configure(config):
    """Refuse to write golden lines from several processes: tasks of a domain share a file."""
    if config.getoption("--update-golden") and config.getoption("dist", "no") != "no":
        raise pytest.UsageError(
            "--update-golden writes files that many tests share, so it needs one process: "
            "leave out -n, or say -n 0"
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Skip a test that needs the CPU time of programs where the kernel does not count it."""
    try:
        return (yield)
    except SpeedNotMeasurable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def math_data():
    """Folder of public math data; it is not part of the project."""
    folder = SHARED_DATA / "math"
    if not folder.is_dir():
        pytest.skip("the public math data (a folder shared/data beside the checkout) is not here")
    return folder


@pytest.fixture(scope="session", params=["namespaces", "landlock", "docker"])
def backend(request):
    """Name of a backend that works; one that RLVR_REQUIRE_BACKENDS lists must work."""
    try:
        probe(make_backend(request.param))
    except SandboxUnavailable as error:
        if request.param in os.environ.get("RLVR_REQUIRE_BACKENDS", "").split(","):
            raise
        pytest.skip(str(error))
    return request.param
