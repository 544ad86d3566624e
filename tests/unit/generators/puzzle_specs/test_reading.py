"""Specifications of strangers: reading one ends soon, whatever stands in it."""

import pytest

pytest.importorskip("yaml", reason="the extra 'solvers' is not installed")

from rlvr_envs.cli.main import main
from rlvr_envs.generators.puzzle_specs.language import SpecError
from rlvr_envs.generators.puzzle_specs.spec import load, read, shipped


def nested(line):
    """Return YAML in which each of twelve names stands for nine of the one before."""
    lines = ["a0: &a0 {x: 1}"]
    for n in range(1, 13):
        many = ", ".join([f"*a{n - 1}"] * 9)
        lines.append(line.format(n=n, many=many))
    return "\n".join(lines)


LISTS = nested("a{n}: &a{n} [{many}]")
MERGES = nested("a{n}: &a{n} {{<<: [{many}]}}")


@pytest.mark.parametrize("text", [LISTS, MERGES, f"name: a\nsymbols: {{x: 1}}\n{LISTS}"])
def test_aliases_are_refused_before_they_expand(text, tmp_path, capsys):
    with pytest.raises(SpecError, match=r"no aliases \(\*name\).*line [24]"):
        read(text, "spec.yaml")
    path = tmp_path / "spec.yaml"
    path.write_text(text)
    assert main(["show", "PuzzleSpec-v0", "--knob", f"path={path}"]) == 2
    assert "no aliases" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5000,
        "name: 0x" + "f" * 100_000,
        "name: " + "9" * 100_000,
        "? [a]\n: b",
        "- " * 3000,
        "a",
    ],
)
def test_odd_files_are_errors_of_the_specification(text):
    with pytest.raises(SpecError, match=r"spec\.yaml"):
        read(text, "spec.yaml")


def test_what_is_shipped_has_none():
    for name in shipped():
        load(name)
