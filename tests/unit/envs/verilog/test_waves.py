"""Waveforms in prompts: what they show is what both sources of the design do."""

from dataclasses import replace

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.hardware import waves
from rlvr_envs.generators.hardware.families import family
from rlvr_envs.generators.hardware.waves import CYCLES, perhaps_waved

FAMILIES = (
    *("UpDownCounter-v0", "ShiftRegister-v0", "EdgeDetector-v0", "SequenceDetector-v0"),
    "StateMachine-v0",
)
LEVELS = (0, 2, 4, 6, 8, 10)


def drawn(name, difficulty, seed):
    task_type = family(name)
    return task_type(task_type.Config.at(difficulty)).design(stream(name, difficulty, seed))


def waved(name, difficulty, seed, monkeypatch):
    """Return a design with a run of it in the figure."""
    monkeypatch.setattr(waves, "ONE_IN", 1)
    return perhaps_waved(drawn(name, difficulty, seed), stream("waves", seed))


def read(design):
    """Return what a figure tells: a row of words for each cycle."""
    text = design.figure[design.figure.index("This is a run") :]
    names = [s.name for s in design.signals if s.name != design.clocking.clock]
    if "```" not in text:
        rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line[:1] == "|"]
        assert rows[0] == ["cycle", *(f"`{name}`" for name in names)]
        return [dict(zip(("cycle", *names), row, strict=True)) for row in rows[2:]]
    lines = text.split("```")[1].strip("\n").splitlines()
    start = lines[0].index("0")
    size = lines[0].index("1") - start
    found = {}
    for line in lines:
        cells = line[start:].ljust(size * (CYCLES + 1))
        words = [cells[n * size : (n + 1) * size].strip() for n in range(CYCLES + 1)]
        plain = {"_" * size: "0", "#" * size: "1", "?" * size: "?"}
        found[line[:start].strip()] = [plain.get(word, word) for word in words]
    assert list(found) == ["cycle", *names]
    return [{name: found[name][n] for name in found} for n in range(CYCLES + 1)]


@pytest.mark.parametrize("difficulty", LEVELS)
@pytest.mark.parametrize("name", FAMILIES)
def test_both_sources_do_what_is_shown(name, difficulty, monkeypatch, run_design):
    for seed in range(2):
        design = waved(name, difficulty, seed, monkeypatch)
        widths = {signal.name: signal.width for signal in design.signals}
        outputs = [s.name for s in design.signals if s.direction == "output"]
        clocking, told = design.clocking, read(design)
        assert [row["cycle"] for row in told] == [str(n) for n in range(CYCLES + 1)]
        levels = [int(row[clocking.reset]) for row in told]
        assert levels == [clocking.reset_active] + [1 - clocking.reset_active] * CYCLES
        assert {told[0][out] for out in outputs} == {"?"}
        values = [
            {n: int(row[n], 16 if widths[n] > 4 else 2) for n in widths if n != clocking.clock}
            for row in told[1:]
        ]
        rows = [
            {n: v for n, v in row.items() if n not in (*outputs, clocking.reset)} for row in values
        ]
        shown = [{out: row[out] for out in outputs} for row in values]
        assert run_design(design, rows) == shown
        assert run_design(replace(design, golden=design.alternative), rows) == shown


@pytest.mark.parametrize("name", FAMILIES)
def test_long_runs_are_told_rightly(name, run_design, random_rows):
    for difficulty, seed in ((5, 1), (9, 2)):
        design = drawn(name, difficulty, seed)
        rows = random_rows(design, 300, seed=seed)
        for number, row in enumerate(rows):
            for port in ("restart", "abort", "load", "clear", "keep"):
                if port in row and number % 5:
                    row[port] = 0
        assert design.behaviour(rows) == run_design(design, rows)


def test_some_problems_show_a_run_and_the_others_are_as_they_were():
    task_type = family("UpDownCounter-v0")
    task = task_type(task_type.Config.at(4))
    problems = [task.generate(stream("some", seed)) for seed in range(60)]
    shown = ["This is a run" in task.prompt(problem) for problem in problems]
    assert 10 <= sum(shown) <= 30
    assert any("```\ncycle" in problem.figure for problem in problems)
    assert any("| cycle |" in problem.figure for problem in problems)


def test_there_is_one_table_at_most(monkeypatch):
    design = waved("SequenceDetector-v0", 8, 0, monkeypatch)
    assert "| i | pattern |" in design.figure
    assert "| cycle |" not in design.figure
    assert "```\ncycle" in design.figure


def test_a_run_shows_something(monkeypatch):
    for name in FAMILIES:
        told = read(waved(name, 3, 1, monkeypatch))
        design = drawn(name, 3, 1)
        outputs = [s.name for s in design.signals if s.direction == "output"]
        assert any(len({row[out] for row in told[1:]}) > 1 for out in outputs)
