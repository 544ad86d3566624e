"""Stack: both sources against each other and a list, and wrong answers."""

import itertools
from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.stack import FEATURES, OPERATIONS, StackConfig, StackSources, StackTask
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

STACK = StackSources(
    clocking=Clocking("clk", "rst", 1, asynchronous=False),
    depth=4,
    width=3,
    codes=tuple(zip((7, 0, 3, 9, 12, 5, 1, 14, 2, 6, 11), OPERATIONS, strict=True)),
    bits=4,
    idle=5,
    slides=False,
    sticky=False,
    features=FEATURES,
    op="op",
    word="din",
)


def moved(name, stack, word):
    """Return the words after an operation, the top one last."""
    below, top = stack[:-2], stack[-2:]
    return {
        "push": lambda: [*stack, word],
        "pop": lambda: stack[:-1],
        "replace": lambda: [*stack[:-1], word],
        "dup": lambda: [*stack, stack[-1]],
        "swap": lambda: [*below, top[1], top[0]],
        "over": lambda: [*stack, top[0]],
        "nip": lambda: [*below, top[1]],
        "add": lambda: [*below, sum(top) % 8],
        "sub": lambda: [*below, (top[0] - top[1]) % 8],
        "rot": lambda: [*stack[:-3], *top, stack[-3]],
        "clear": list,
    }[name]()


NEEDS = {"push": 0, "clear": 0, "pop": 1, "replace": 1, "dup": 1, "rot": 3}


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        task = StackTask(StackConfig.at(difficulty))
        design = task.design(stream("stack", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize(
    ("slides", "sticky"), list(itertools.product((False, True), (False, True)))
)
def test_it_follows_a_list(slides, sticky, run_design, random_rows):
    machine = replace(STACK, slides=slides, sticky=sticky)
    design = machine.design()
    rows = random_rows(design, 500)
    for number, row in enumerate(rows):
        if number % 5 < 2:  # otherwise it is mostly empty
            row["op"] = 7
    names = dict(STACK.codes)
    stack, error, seen, done = [], 0, [], set()
    for row in rows:
        n = len(stack)
        seen.append(
            {
                "top": stack[-1] if n else 5,
                "second": stack[-2] if n > 1 else 5,
                "empty": int(n == 0),
                "full": int(n == 4),
                "count": n,
                "error": error,
            }
        )
        name = names.get(row["op"])
        error = error if sticky else 0
        if name is None:
            continue
        after = moved(name, stack, row["din"]) if n >= NEEDS.get(name, 2) else None
        if after is None or (len(after) > 4 and not slides):
            error = 1
        else:
            stack = after[-4:]
            done.add(name)
    assert done == set(OPERATIONS)
    assert run_design(design, rows) == seen


def test_wrong_answers_are_told():
    design = STACK.design()
    swapped = tuple((code, {"add": "sub", "sub": "add"}.get(n, n)) for code, n in STACK.codes)
    others = [
        replace(STACK, slides=True),
        replace(STACK, sticky=True),
        replace(STACK, idle=0),
        replace(STACK, depth=5),
        replace(STACK, codes=swapped),
    ]
    for other in others:
        verdict = judge(other.design().alternative, design.reference)
        assert verdict.score == 0.0, other
        assert "differently" in verdict.detail


@pytest.mark.parametrize(
    ("right", "slip"),
    [
        ("items[used - 3] <= below;", ""),
        ("if (used < 2) fails = 1; else", ""),
        ("used <= 0;", ""),
        ("assign top = used == 0 ? 3'd5 :", "assign top = "),
    ],
)
def test_a_slip_is_told(right, slip):
    design = STACK.design()
    assert right in design.golden
    assert judge(design.golden.replace(right, slip), design.reference).score == 0.0


@pytest.mark.parametrize(
    "knobs", [{"depth": 1}, {"width": 13}, {"operations": 1}, {"operations": 12}, {"features": 5}]
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        StackConfig(**knobs)
