"""Options and data shared by all tests."""

from pathlib import Path

import pytest

import rlvr_envs  # noqa: F401 - registers every id

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write golden files that do not exist yet (existing ones are never rewritten)",
    )


@pytest.fixture(scope="session")
def math_data():
    """Folder of public math data; it is not part of the project."""
    folder = SHARED_DATA / "math"
    if not folder.is_dir():
        pytest.skip("the public math data (a folder shared/data beside the checkout) is not here")
    return folder
