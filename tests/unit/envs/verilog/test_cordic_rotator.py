"""CordicRotator: both sources against each other and whole numbers in Python, and wrong answers."""

import math
from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.cordic_rotator import (
    FEATURES,
    CordicRotatorConfig,
    CordicRotatorTask,
    CordicSources,
    step_table,
)
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

CORDIC = CordicSources(
    clocking=Clocking("clk", "rst", 1, asynchronous=False),
    width=6,
    steps=5,
    kinds=("hyperbolic", "circular"),
    vector_code=1,
    starts=(1, 2, 3),
    features=FEATURES,
    names=("start", "x", "y", "z"),
)
ANGLES = {  # of a half turn of 180 degrees, in degrees
    "circular": [45.0, 26.565051, 14.036243, 7.125016, 3.576334, 1.789911, 0.895174],
    "hyperbolic": [31.472924, 14.633973, 7.199718, 3.585682, 3.585682, 1.791078, 0.895320],
    "linear": [45.0, 22.5, 11.25, 5.625, 2.8125, 1.40625, 0.703125],
}


def signed(value, bits):
    value %= 1 << bits
    return value - (1 << bits) if value >> (bits - 1) else value


def nearest(value, shift, *, up):
    """Return value / 2**shift, rounded to the nearest, halves up, or down."""
    whole, rest = divmod(value, 2**shift)
    return whole + (up and shift > 0 and 2 * rest >= 2**shift)


def turned(cordic, vector, x, y, z):
    """Return the numbers after a quarter turn, where one is needed."""
    q = 2 ** (cordic.width - 2)
    if vector:
        if x >= 0:
            return x, y, z
        return (-y, x, z - q) if y < 0 else (y, -x, z + q)
    if z >= q:
        return -y, x, z - q
    return (y, -x, z + q) if z < -q else (x, y, z)


def calculated(cordic, mode, kind, numbers):
    """Return the results as words, and how many cycles it takes."""
    has = cordic.features.__contains__
    inner = cordic.width + 2 * has("guard")
    x, y, z = (signed(n, cordic.width) for n in numbers)
    vector, name = has("vectoring") and mode == cordic.vector_code, cordic.kinds[kind]
    if has("quadrant") and name == "circular":
        x, y, z = (signed(n, inner) for n in turned(cordic, vector, x, y, z))
    cycles = 0
    for shift, constant in step_table(name, cordic.steps, cordic.width):
        cycles += 1
        if has("early") and (y if vector else z) == 0:
            break
        d = (1 if y < 0 else -1) if vector else (1 if z >= 0 else -1)
        sx, sy = (nearest(n, shift, up=has("round")) for n in (x, y))
        m = {"circular": 1, "linear": 0, "hyperbolic": -1}[name]
        x, y, z = x - m * d * sy, y + d * sx, z - d * constant
        x, y, z = (signed(n, inner) for n in (x, y, z))
    top = 2 ** (cordic.width - 1)
    if has("guard"):
        x, y, z = (max(-top, min(top - 1, n)) for n in (x, y, z))
    return tuple(n % 2**cordic.width for n in (x, y, z)), cycles


def simulated(cordic, rows):
    """Return the outputs in each cycle."""
    shown, coming, left, done, seen = cordic.starts, None, 0, 0, []
    for row in rows:
        outputs = dict(zip(("x_out", "y_out", "z_out"), shown, strict=True))
        seen.append(outputs | {"busy": int(left > 0), "done": done})
        done = 0
        if left:
            left -= 1
            if not left:
                shown, done = coming, 1
        elif row["start"]:
            numbers = row["x_in"], row["y_in"], row["z_in"]
            coming, left = calculated(cordic, row.get("mode", 0), row.get("kind", 0), numbers)
    return seen


@pytest.mark.parametrize("kind", ANGLES)
def test_the_table_holds_angles(kind):
    rows = step_table(kind, 7, 9)
    assert [n for _, n in rows] == [round(angle / 180 * 256) for angle in ANGLES[kind]]
    first = kind == "hyperbolic"
    assert [s for s, _ in rows] == ([1, 2, 3, 4, 4, 5, 6] if first else list(range(7)))


def test_a_rotation_turns_a_vector():
    cordic = replace(CORDIC, width=12, steps=12, kinds=("circular",), features=())
    gain = math.prod(math.sqrt(1 + 4.0**-k) for k in range(12))
    for degrees in (-80, -30, 0, 10, 45, 77):
        angle = round(degrees / 180 * 2048)
        (x, y, z), cycles = calculated(cordic, 0, 0, (500, 0, angle % 4096))
        assert cycles == 12
        assert signed(x, 12) == pytest.approx(500 * gain * math.cos(math.radians(degrees)), abs=8)
        assert signed(y, 12) == pytest.approx(500 * gain * math.sin(math.radians(degrees)), abs=8)
        assert abs(signed(z, 12)) <= 2


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        task = CordicRotatorTask(CordicRotatorConfig.at(difficulty))
        design = task.design(stream("cordic", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("count", range(len(FEATURES) + 1))
def test_it_follows_whole_numbers(count, other, run_design, random_rows):
    kinds = ("circular", "linear") if other else ("hyperbolic", "circular")
    cordic = replace(
        CORDIC,
        width=5 + other,
        steps=5 + other,
        features=FEATURES[:count],
        kinds=kinds if count > 4 else ("circular",),
        vector_code=int(other),
    )
    design = cordic.design()
    rows = random_rows(design, 1500, seed=count)
    expected = simulated(cordic, rows)
    assert sum(row["done"] for row in expected) > 80
    assert run_design(design, rows) == expected
    assert run_design(replace(design, golden=design.alternative), rows) == expected


def test_mutants_earn_nothing(random_rows, judged_mutants):
    cordic = replace(CORDIC, width=5, steps=3)
    design = cordic.design()
    rows = random_rows(design, 900)
    assert judged_mutants(design, rows, simulated(cordic, rows), 12) == 12


@pytest.mark.parametrize(
    "slip",
    [
        {"steps": 4},
        {"steps": 6},
        {"kinds": ("circular", "hyperbolic")},
        {"kinds": ("linear", "circular")},
        {"vector_code": 0},
        {"starts": (1, 2, 4)},
        {"features": tuple(f for f in FEATURES if f != "round")},
        {"features": tuple(f for f in FEATURES if f != "guard")},
        {"features": tuple(f for f in FEATURES if f != "quadrant")},
        {"features": tuple(f for f in FEATURES if f != "early")},
        {"clocking": Clocking("clk", "rst", 1, asynchronous=True)},
    ],
)
def test_another_rotator_earns_nothing(slip):
    other = replace(CORDIC, **slip).design()
    assert judge(other.alternative, CORDIC.design().reference).score == 0.0


@pytest.mark.parametrize(
    ("features", "right", "slip"),
    [
        (FEATURES, "xr >>> s", "xr >> s"),
        (FEATURES[:5], "z >= 0;", "z > 0;"),
        (FEATURES[:5], "y < 0 : z", "y <= 0 : z"),
        (FEATURES, "ny = up ? y + xs : y - xs;", "ny = up ? y + x : y - x;"),
        (FEATURES, "s == 0 ? 0 : 1 << (s - 1)", "1 << s"),
        (FEATURES, "nx > 31 ? 31 :", "nx > 31 ? 30 :"),
        (FEATURES, "ny < -32 ? -32 : ny", "ny"),
        (FEATURES, " || stop) begin", ") begin"),
        (FEATURES, "kind == 1 && ", ""),  # the quarter turn of the other kind
        (FEATURES, "y <= -$signed(x_in);", "y <= $signed(x_in);"),
        (FEATURES, "kind_kept <= kind;", "kind_kept <= 0;"),
        (FEATURES, "done <= 0;\n            if", "if"),  # it stays
    ],
)
def test_a_slip_is_told(features, right, slip):
    design = replace(CORDIC, features=features).design()
    assert right in design.golden
    assert judge(design.golden.replace(right, slip), design.reference).score == 0.0


@pytest.mark.parametrize(
    ("right", "other"),
    [
        ("s == 0 ? 0 : 1 << (s - 1)", "1 << s >> 1"),
        ("z >= 0;", "z > 0;"),  # a calculation ends where z is 0
        ("step <= step + 1;", "step <= stop ? step : step + 1;"),
    ],
)
def test_a_change_that_makes_no_difference_earns_full_marks(right, other):
    design = CORDIC.design()
    assert right in design.golden
    assert judge(design.golden.replace(right, other), design.reference).score == 1.0


@pytest.mark.parametrize("knobs", [{"width": 4}, {"steps": 1}, {"steps": 13}, {"features": 7}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        CordicRotatorConfig(**knobs)
