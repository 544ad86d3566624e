"""TruthTable: both sources against each other, the told values against the design, and slips."""

import re

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.truth_table import TELLINGS, TruthTableConfig, TruthTableTask
from rlvr_envs.verifiers.hdl.judge import judge


def drawn(config, seed):
    return TruthTableTask(config).design(stream("truth", seed))


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 3, 6, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(3):
        design = drawn(TruthTableConfig.at(difficulty), seed)
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail
        assert verdict.parts["proved"] == 1.0


def tabled(figure, letter, row):
    """Read the outputs, whose names begin with a letter, in a row of the table."""
    if not figure:
        return {}
    head, _, *lines = (line.strip("| ").split(" | ") for line in figure.split("\n"))
    (cells,) = (line for line in lines if line[0] == str(row))
    return {n: int(v) for n, v in zip(head, cells, strict=True) if n.startswith(letter)}


def told(design, values, row, width):
    """Read the rules again: return every output in a row."""
    result = {}
    bits = f"{row:0{width}b}"
    names = [s.name for s in design.signals if s.direction == "input"]
    known = {f"x[{i}]": int(bits[width - 1 - i]) for i in range(width)}
    if len(names) > 1:
        known = {name: int(bit) for name, bit in zip(names, bits, strict=True)}
    result |= tabled(design.figure, values, row)
    for rule in design.rules[1:]:
        if found := re.match(r"`(\w+)` is ([01]) if and only if n is in \{(.*)\}\.", rule):
            inside = row in map(int, found[3].split(", "))
            result[found[1]] = int(found[2]) if inside else 1 - int(found[2])
        elif found := re.match(r"`(\w+)` is bit n of the constant \d+'h(\w+),", rule):
            result[found[1]] = int(found[2], 16) >> row & 1
        elif found := re.match(
            r"For `(\w+)`,.*value: (.*)\. If none matches, .* is ([01])\.", rule
        ):
            result[found[1]] = int(found[3])
            for pattern in reversed(found[2].split("; ")):
                text, value = pattern.split(": ")
                if re.fullmatch(text.replace("-", "."), bits):
                    result[found[1]] = int(value)
        elif found := re.match(r"`(\w+)` is 1 if and only if the number `\{(.*)\}` \(first", rule):
            parts = [(known | result)[name] for name in found[2].split(", ")]
            terms = map(int, re.search(r"in \{([\d, ]*)\}\.", rule)[1].split(", "))
            result[found[1]] = int(int("".join(map(str, parts)), 2) in terms)
    return result


@pytest.mark.parametrize("seed", range(6))
def test_rules_and_table_tell_the_design(seed, run_design):
    config = TruthTableConfig(inputs=5, outputs=6, tellings=len(TELLINGS))
    design = drawn(config, seed)
    names = [s.name for s in design.signals if s.direction == "input"]
    letter = design.signals[-1].name.rstrip("0123456789")
    rows = []
    for row in range(32):
        bits = [int(bit) for bit in f"{row:05b}"]
        rows.append(dict(zip(names, bits, strict=True)) if len(names) > 1 else {"x": row})
    assert run_design(design, rows) == [told(design, letter, row, 5) for row in range(32)]


def test_a_wrong_row_is_told():
    design = drawn(TruthTableConfig(inputs=4, outputs=1, tellings=1), 1)
    number = design.alternative.index("16'h") + 4
    digit = design.alternative[number]
    other = f"{int(digit, 16) ^ 4:x}"
    wrong = design.alternative[:number] + other + design.alternative[number + 1 :]
    verdict = judge(wrong, design.reference)
    assert verdict.score == 0.0
    assert "differently" in verdict.detail


def test_inputs_in_the_other_order_are_told():
    config = TruthTableConfig(inputs=3, outputs=4, tellings=4)
    design = next(d for d in (drawn(config, seed) for seed in range(20)) if len(d.signals) > 5)
    word = re.search(r"assign n = \{(.*)\};", design.alternative)[1]
    turned = ", ".join(reversed(word.split(", ")))
    assert judge(design.alternative.replace(word, turned), design.reference).score == 0.0


@pytest.mark.parametrize(
    "knobs", [{"inputs": 1}, {"inputs": 10}, {"outputs": 0}, {"outputs": 9}, {"tellings": 7}]
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        TruthTableConfig(**knobs)
