"""Every page of the documentation tells the browser that it loads nothing from elsewhere."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
THEME = ROOT / "scripts/site_theme"


def test_pages_have_a_policy(tmp_path):
    pytest.importorskip("zensical", reason="the tools of the documentation are not installed")
    assert f"custom_dir: {THEME.relative_to(ROOT)}" in (ROOT / "mkdocs.yml").read_text()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# Title\n\n```python\nx = 1\n```\n")
    settings = f"site_name: x\ntheme:\n  name: material\n  font: false\n  custom_dir: {THEME}\n"
    (tmp_path / "mkdocs.yml").write_text(settings)
    command = [str(Path(sys.executable).with_name("zensical")), "build", "-f", "mkdocs.yml"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    pages = list((tmp_path / "site").rglob("*.html"))
    assert pages
    for page in pages:
        policy = page.read_text().partition('http-equiv="Content-Security-Policy" content="')[2]
        policy = policy.partition('"')[0]
        assert policy.startswith("default-src 'self';")
        assert "http" not in policy
