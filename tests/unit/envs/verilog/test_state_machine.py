"""StateMachine: both sources against each other and an interpreter, and wrong answers."""

from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.state_machine import (
    BACK,
    FEATURES,
    Branch,
    Machine,
    StateMachineConfig,
    StateMachineTask,
    _guards,
    _rows,
)
from rlvr_envs.verifiers.hdl.judge import judge

A_IS_1, B_IS_0 = ((0, 1),), ((1, 0),)
ROWS = (
    (Branch(A_IS_1, 1, 2), Branch((), 0, 1)),
    (Branch(((0, 0), (1, 1)), 2, 0), Branch(B_IS_0, BACK, 3), Branch((), 1, 1)),
    (Branch(B_IS_0, 3, 3), Branch((), 0, 0)),
    (Branch(A_IS_1, BACK, 1), Branch(B_IS_0, 3, 2), Branch((), 2, 2)),
)
MACHINE = Machine(
    states=("IDLE", "RUN", "WAIT", "DONE"),
    inputs=("a", "b"),
    rows=ROWS,
    values=(0, 1, 3, 2),
    outputs=2,
    mealy=False,
    abort=2,
    visited=3,
    times=(1, 2, 3, 1),
    out="y",
    telling=0,
    features=FEATURES,
)


def drawn(difficulty, seed):
    task = StateMachineTask(StateMachineConfig.at(difficulty))
    return task.design(stream("machine", difficulty, seed))


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 4, 6, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        design = drawn(difficulty, seed)
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize("mealy", [False, True])
def test_it_does_what_an_interpreter_of_its_rows_does(mealy, run_design, random_rows):
    design = replace(MACHINE, mealy=mealy).design(stream("rows", mealy))
    rows = random_rows(design, 600, seed=int(mealy))
    for number, row in enumerate(rows):
        row["enable"] |= number % 3 > 0
        row["abort"] &= number % 8 == 0
    state, came, entered, visits, seen, met = 0, 0, 0, 0, [], set()
    for row in rows:
        met.add(state)
        branch = next(b for b in ROWS[state] if all(row["ab"[i]] == v for i, v in b.guard))
        output = branch.value if mealy else (0, 1, 3, 2)[state]
        seen.append({"y": output, "visits": visits % 16})
        target, anew = state, False
        if row["abort"]:
            target, anew = 2, True
        elif row["enable"]:
            entered += 1
            if entered >= (1, 2, 3, 1)[state]:
                target = came if branch.target == BACK else branch.target
        if target != state:
            came, state, anew = state, target, True
            visits += state == 3
        if anew:
            entered = 0
    assert met == {0, 1, 2, 3}
    assert visits > 2
    assert run_design(design, rows) == seen


def test_every_state_can_be_reached():
    for seed in range(20):
        config = StateMachineConfig.at(seed % 9)
        rows = _rows(stream("reached", seed), config, back=False)
        reached, ahead = {0}, [0]
        while ahead:
            new = {branch.target for branch in rows[ahead.pop()]} - reached
            reached |= new
            ahead += new
        assert reached == set(range(config.states))


def test_conditions_of_a_state_all_decide_for_some_inputs():
    config = StateMachineConfig(inputs=2, branches=3)
    for seed in range(50):
        guards = _guards(stream("guards", seed), config)
        decided = set()
        for word in range(4):
            hold = [all(word >> i & 1 == v for i, v in guard) for guard in guards]
            decided.add(hold.index(True) if True in hold else 3)
        assert decided == {0, 1, 2, 3}


def test_three_tellings_are_of_one_machine():
    designs = [replace(MACHINE, telling=n).design(stream("told")) for n in range(3)]
    assert len({design.golden for design in designs}) == 1
    assert "| RUN | `a` is 0 and `b` is 1 | WAIT | 2'd1 |" in designs[0].figure
    sentence = (
        "In RUN (output 2'd1): if `a` is 0 and `b` is 1, go to WAIT; if `b` is 0, go to the "
        "previous state; otherwise, go to RUN."
    )
    assert f"- {sentence}\n" in designs[1].figure
    assert sentence in designs[2].rules


def test_wrong_answers_are_told():
    design = MACHINE.design(stream("wrong"))
    swapped = (ROWS[0], (ROWS[1][1], ROWS[1][0], ROWS[1][2]), *ROWS[2:])
    others = [
        replace(MACHINE, mealy=True),
        replace(MACHINE, abort=1),
        replace(MACHINE, visited=1),
        replace(MACHINE, times=(1, 2, 2, 1)),
        replace(MACHINE, rows=(*ROWS[:3], (Branch(A_IS_1, 0, 1), *ROWS[3][1:]))),
    ]
    for other in others:
        verdict = judge(other.design(stream("wrong")).golden, design.reference)
        assert verdict.score == 0.0, other
        assert "differently" in verdict.detail
    # These two conditions never hold at the same time, so their order does not matter.
    same = replace(MACHINE, rows=swapped).design(stream("wrong"))
    assert judge(same.golden, design.reference).score == 1.0


@pytest.mark.parametrize(
    "knobs",
    [
        {"states": 1},
        {"states": 17},
        {"inputs": 5},
        {"branches": 4},
        {"outputs": 0},
        {"features": 6},
    ],
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        StateMachineConfig(**knobs)


@pytest.mark.parametrize("difficulty", [0, 1, 3, 8, 10])
def test_no_state_ignores_the_inputs_and_all_are_reached(difficulty):
    config = StateMachineConfig.at(difficulty)
    for seed in range(40):
        rows = _rows(stream("rows", seed), config, back=difficulty >= 10)
        assert all(len({branch.target for branch in row}) > 1 for row in rows)
        reached, ahead = {0}, [0]
        while ahead:
            targets = {b.target for b in rows[ahead.pop()]} - reached - {BACK}
            reached |= targets
            ahead += targets
        assert len(reached) == config.states
