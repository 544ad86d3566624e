"""Lfsr: both sources against each other and a model in Python, and wrong answers."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.lfsr import FEATURES, LfsrConfig, LfsrTask, _Register
from rlvr_envs.verifiers.hdl.judge import judge


def drawn(difficulty, seed):
    return LfsrTask(LfsrConfig.at(difficulty)).design(stream("lfsr", difficulty, seed))


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        design = drawn(difficulty, seed)
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail
        assert verdict.parts["proved"] == 1.0


FORMS = [
    (left, galois, xnor)
    for left in (False, True)
    for galois, xnor in ((False, False), (False, True), (True, False))
]


@pytest.mark.parametrize(("left", "galois", "xnor"), FORMS)
def test_the_register_runs_as_a_list_of_bits_does(left, galois, xnor, run_design, random_rows):
    mask = 0b110101 if left else 0b101011
    register = _Register(6, mask, left, galois, xnor, 0b10, 0b100001, FEATURES, as_mask=True)
    design = register.design(stream("form", left, galois, xnor))
    rows = random_rows(design, 200)
    name = next(s.name for s in design.signals if s.direction == "output" and s.width > 1)
    bits, seen = [0, 1, 0, 0, 0, 0], []
    for row in rows:
        seen.append({name: number(bits), "hit": int(number(bits) == 0b100001)})
        if row["load"]:
            value = row["seed"]
            bits = binary(0b10 if value == (63 if xnor else 0) else value)
        elif row["enable"]:
            for _ in range(1 + row["fast"]):
                step = undone if row["back"] else stepped
                bits = step(bits, binary(mask), left, galois, xnor)
    assert run_design(design, rows) == seen


def binary(value):
    return [value >> i & 1 for i in range(6)]


def number(bits):
    return sum(bit << i for i, bit in enumerate(bits))


def stepped(bits, taps, left, galois, xnor):
    gone = bits[-1] if left else bits[0]
    if galois:
        moved = [0, *bits[:-1]] if left else [*bits[1:], 0]
        return [bit ^ (tap & gone) for bit, tap in zip(moved, taps, strict=True)]
    fed = (sum(bit & tap for bit, tap in zip(bits, taps, strict=True)) + xnor) % 2
    return [fed, *bits[:-1]] if left else [*bits[1:], fed]


def undone(bits, *form):
    """Find the state that steps to this one by looking at all of them."""
    (before,) = (b for b in map(binary, range(64)) if stepped(b, *form) == bits)
    return before


def test_wrong_answers_are_told():
    register = _Register(5, 0b10100, True, False, False, 1, 9, FEATURES[:3], as_mask=False)
    design = register.design(stream("wrong"))
    assert judge(design.golden, design.reference).score == 1.0
    slips = [
        ("& 5'd20", "& 5'd18"),  # another tap
        ("(^(s", "~(^(s"),  # XNOR
        ("<= 5'd1;", "<= 5'd2;"),  # another start
        ("5'd0 ? 5'd1 : seed", "5'd0 ? 5'd0 : seed"),  # the lock-up state is taken
    ]
    for old, new in slips:
        assert design.golden.count(old) == 1, old
        verdict = judge(design.golden.replace(old, new), design.reference)
        assert verdict.score == 0.0, new
        assert "differently" in verdict.detail


@pytest.mark.parametrize("knobs", [{"width": 2}, {"width": 41}, {"features": 7}, {"features": -1}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        LfsrConfig(**knobs)
