"""What the generated pages of tasks quote of stored measurements."""

import importlib
import json
import sys
from pathlib import Path

import pytest

from rlvr_envs.core import registry

ROOT = Path(__file__).resolve().parents[2]

sys.path.append(str(ROOT / "scripts"))  # which are no part of the package
pages = importlib.import_module("gen_env_pages")

RESULTS = ROOT / "benchmarks" / "results"
STORED = [path for path in sorted(RESULTS.glob("throughput*.json")) if ".raw." not in path.name]


def test_a_page_says_why_problems_are_made_slowly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    spec, other = registry.find("Alu-v0"), registry.find("Fifo-v0")
    assert pages.made_slowly(spec) == ""
    figures = {"under_the_floor": {"Alu-v0": [3.26, "each is weighed"]}}
    stored = {"difficulty": {"tasks": 7}, "figures": figures}
    (tmp_path / "throughput_verilog.json").write_text(json.dumps(stored), encoding="utf-8")
    assert pages.made_slowly(spec) == (
        "At difficulty 7, 3.3 problems are made in a second of CPU time "
        "(`benchmarks/throughput.py`): each is weighed."
    )
    assert pages.made_slowly(other) == ""
    page = pages.page(spec, {}, ["", pages.made_slowly(spec)])
    assert page.rstrip().endswith(": each is weighed.")


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_every_slow_task_has_a_reason(path: Path) -> None:
    slow = json.loads(path.read_text("utf-8"))["figures"].get("under_the_floor", {})
    assert "NO REASON GIVEN" not in [reason for _, reason in slow.values()]
