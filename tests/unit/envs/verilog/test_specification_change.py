"""SpecificationChange: what changes is told in full, and only a changed module meets it."""

import dataclasses
import re

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import public_view
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog import specification_change
from rlvr_envs.envs.verilog.specification_change import (
    FAMILIES,
    SpecificationChangeConfig,
    SpecificationChangeTask,
)
from rlvr_envs.generators.hardware.design import silent
from rlvr_envs.generators.hardware.mutations import mutate
from rlvr_envs.generators.hardware.refutation import refuted
from rlvr_envs.verifiers.hdl.interface import Reference


def drawn(difficulty, seed, **knobs):
    config = dataclasses.replace(SpecificationChangeConfig.at(difficulty), **knobs)
    task = SpecificationChangeTask(config)
    return task, task.generate(stream("change", difficulty, seed))


def pairs(monkeypatch, difficulty, count):
    """Return the old and the new design of some problems, and what is said of the change."""
    found = []
    told = specification_change._changes

    def recorded(old, new):
        changes = list(told(old, new))
        found.append((old, new, changes))
        return changes

    monkeypatch.setattr(specification_change, "_changes", recorded)
    for seed in range(count):
        drawn(difficulty, seed)
    return found


def carried_out(rules, changes):
    """Return rules after changes, read from the sentences alone; joined, as groups are."""
    rules, added = dict(enumerate(rules, 1)), {}
    for change in changes:
        found = re.match(r"Rules? (\d+)(?: to (\d+))? (no longer|(?:is|are) replaced by: )", change)
        if found:
            last = int(found[2] or found[1])
            for number in range(int(found[1]), last + 1):
                rules[number] = ""
            if found[3] != "no longer":
                rules[int(found[1])] = change[found.end() :]
        elif found := re.match(r"(?:After rule (\d+)|Before rule 1), this is added: ", change):
            added[int(found[1] or 0)] = change[found.end() :]
    parts = [added.get(0, "")]
    for number, rule in rules.items():
        parts += [rule, added.get(number, "")]
    return " ".join(part for part in parts if part)


@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 12])
def test_the_changes_lead_from_the_old_rules_to_the_new_ones(difficulty, monkeypatch):
    for old, new, changes in pairs(monkeypatch, difficulty, 12):
        assert carried_out(old.rules, changes) == " ".join(new.rules)
        text = "\n".join(changes)
        before = {signal.name: signal for signal in old.signals}
        for signal in new.signals:
            if before.pop(signal.name, None) != signal:
                assert f"`{signal.name}` ({signal.port.size}): {signal.meaning}" in text
        assert all(f"The port `{name}` is removed." in changes for name in before)
        if new.figure != old.figure:
            assert all(line.strip() in text for line in new.figure.split("\n"))
        assert old.title == new.title or new.title in text


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_can_be_changed(family):
    """At one level of three at least: at others, what is drawn may depend on the features."""
    found = []
    for difficulty in (4, 2, 3):
        try:
            found.append(drawn(difficulty, 0, families=(family,), steps=1))
        except ConfigError:
            continue
        break
    task, problem = found[0]
    assert problem.changes
    assert task.verify(problem, problem.golden).score == 1.0


@pytest.mark.slow  # the conformance checks judge other designs in this way
@pytest.mark.parametrize("difficulty", [0, 3, 5, 8, 10])
def test_both_new_modules_are_right(difficulty):
    for seed in range(3):
        task, problem = drawn(difficulty, seed)
        assert task.verify(problem, problem.golden).score == 1.0
        assert task.verify(problem, problem.alternative).score == 1.0


WRONG = {
    "nothing": lambda p: "",
    "words": lambda p: "the module stays as it is",
    "the old module": lambda p: p.source,
    "the old module with a comment": lambda p: f"// changed\n{p.source}",
    "the old module in other layout": lambda p: p.source.replace("\n", "\n\n").replace(" ", "  "),
    "the old module and a new one": lambda p: f"{p.source}\nmodule Changed; endmodule",
    "an unused wire": lambda p: p.source.replace("endmodule", "wire unused = 1'b1;\nendmodule"),
    "the changes": lambda p: "\n".join(p.changes),
    "the description": lambda p: p.description,
    "zeros": lambda p: silent(p.ports),
    "another name": lambda p: p.golden.replace("TopModule", "Changed"),
    "cut off": lambda p: p.golden[: len(p.golden) // 2],
    "twice": lambda p: p.golden + p.golden,
    "a print": lambda p: p.golden.replace("endmodule", 'initial $display("ok");\nendmodule'),
    "ones": lambda p: silent(p.ports).replace(" = 0;", " = '1;"),
}


@pytest.mark.parametrize("difficulty", [0, 5])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_answers_earn_nothing(name, difficulty):
    task, problem = drawn(difficulty, 3)
    assert task.verify(problem, WRONG[name](problem)).score == 0.0


@pytest.mark.parametrize("difficulty", [1, 4, 8])
def test_new_modules_with_a_mistake_earn_nothing(difficulty):
    task, problem = drawn(difficulty, 1)
    reference = Reference(problem.golden, problem.ports, problem.clocking)
    rng, found = stream("mistakes"), 0
    for _ in range(30):
        source = mutate(problem.golden, rng)
        if refuted(source, reference) is not None:
            found += 1
            assert task.verify(problem, source).score == 0.0
    assert found >= 5


def test_the_new_module_stays_hidden():
    _, problem = drawn(3, 0)
    shown = str(public_view(problem))
    assert problem.golden not in shown
    assert problem.alternative not in shown


def test_the_terse_module_is_the_other_one():
    _, plain = drawn(5, 2)
    _, terse = drawn(5, 2, terse=True)
    assert plain.changes == terse.changes
    assert plain.source != terse.source
    assert "logic" in terse.source


def test_families_that_cannot_change_so_much_are_told():
    with pytest.raises(ConfigError, match="allow more families"):
        drawn(1, 0, families=("TrafficLight-v0",))


@pytest.mark.parametrize(
    "knobs", [{"steps": 0}, {"steps": 5}, {"level": -1}, {"families": ("Fifo",)}]
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        SpecificationChangeConfig(**knobs)
