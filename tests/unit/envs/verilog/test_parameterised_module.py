"""ParameterisedModule: both sources, models in Python, and answers that avoid the parameters."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.parameterised_module import (
    PARAMETERS,
    ParameterisedModuleConfig,
    ParameterisedModuleTask,
    Piece,
    _Assembly,
)
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

CLOCKING = Clocking("clk", "rst")


def assembly(kind, *values):
    piece = Piece(
        kind,
        "Piece",
        PARAMETERS[kind],
        dict(zip(PARAMETERS[kind], values[0], strict=True)),
        None if kind == "extreme" else CLOCKING,
    )
    named = tuple(dict(zip(PARAMETERS[kind], row, strict=True)) for row in values)
    return _Assembly(piece, named).design()


COUNTERS = [(4, 11, 7, 3, 0, 0), (3, 6, 5, 4, 1, 0), (3, 8, 2, 3, 0, 1), (5, 20, 3, 7, 1, 1)]
DELAYS = [(3, 1, 5, 0, 1, 2), (4, 3, 9, 1, 0, 0), (2, 2, 1, 1, 1, 3)]
EXTREMES = [(3, 4, 0, 0, 0, 2), (3, 4, 1, 0, 1, 14), (2, 5, 1, 1, 0, 0), (4, 2, 0, 1, 1, 9)]


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 4, 6, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    config = ParameterisedModuleConfig.at(difficulty)
    for seed in range(3):
        design = ParameterisedModuleTask(config).design(stream("size", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail
        assert verdict.parts["proved"] == 1.0


@pytest.mark.parametrize("kind", sorted(PARAMETERS))
def test_both_sources_are_equivalent_for_all_parameters(kind):
    values = {"counter": COUNTERS, "delay": DELAYS, "extreme": EXTREMES}[kind]
    design = assembly(kind, *values)
    verdict = judge(design.alternative, design.reference)
    assert verdict.score == 1.0, verdict.detail


def test_counters_count_as_numbers(run_design, random_rows):
    design = assembly("counter", *COUNTERS)
    rows = random_rows(design, 150)
    counts, seen = [row[2] for row in COUNTERS], []
    for row in rows:
        outs = {}
        for k, (_, modulus, _, step, down, saturate) in enumerate(COUNTERS):
            moved = counts[k] - step if down else counts[k] + step
            past = moved not in range(modulus)
            outs |= {f"count{k}": counts[k], f"past{k}": int(past and row[f"enable{k}"])}
            if row[f"enable{k}"]:
                counts[k] = min(max(moved, 0), modulus - 1) if saturate else moved % modulus
        seen.append(outs)
    assert run_design(design, rows) == seen


def test_delays_are_lists(run_design, random_rows):
    design = assembly("delay", *DELAYS)
    rows = random_rows(design, 150)
    lines, seen = [[row[2]] * row[1] for row in DELAYS], []
    for row in rows:
        outs = {}
        for k, (width, _, _, gated, reverse, mask) in enumerate(DELAYS):
            text = f"{lines[k][-1]:0{width}b}"
            outs[f"dout{k}"] = int(text[::-1] if reverse else text, 2) ^ mask
            if row[f"enable{k}"] or not gated:
                lines[k] = [row[f"din{k}"], *lines[k][:-1]]
        seen.append(outs)
    assert run_design(design, rows) == seen


def test_extremes_are_those_of_python(run_design, random_rows):
    design = assembly("extreme", *EXTREMES)
    rows = random_rows(design, 200)
    seen = []
    for row in rows:
        outs = {}
        for k, (width, count, signed, lowest, last, base) in enumerate(EXTREMES):
            words = [row[f"words{k}"] >> (width * i) & (2**width - 1) for i in range(count)]
            half = 2 ** (width - 1) if signed else 0
            values = [(word ^ half) - half for word in words]
            best = min(values) if lowest else max(values)
            places = [i for i, value in enumerate(values) if value == best]
            place = places[-1] if last else places[0]
            outs |= {f"best{k}": words[place], f"index{k}": (place + base) % 16}
        seen.append(outs)
    assert run_design(design, rows) == seen


def posed(kind):
    task = ParameterisedModuleTask(ParameterisedModuleConfig(parameters=4, instances=3, width=4))
    for seed in range(100):
        problem = task.generate(stream("posed", seed))
        if kind in problem.title:
            return task, problem
    raise LookupError(kind)


@pytest.mark.parametrize("kind", ["a counter", "a delay line", "an extreme word"])
def test_the_answer_is_the_module_alone(kind):
    task, problem = posed(kind)
    answer = task.solve(problem)
    given = problem.figure.split("```")[1].strip("\n")
    assert "module TopModule" not in answer
    assert given in task.prompt(problem)
    assert task.verify(problem, answer).score == 1.0
    assert task.verify(problem, f"{answer}\nmodule Spare; endmodule").score == 1.0
    for both in (f"{answer}\n{given}", f"{given}\n{answer}"):
        verdict = task.verify(problem, both)
        assert verdict.score == 0.0
        assert "duplicate definition of 'TopModule'" in verdict.detail


@pytest.mark.parametrize("kind", ["a counter", "a delay line", "an extreme word"])
def test_parameters_cannot_be_left_out(kind):
    task, problem = posed(kind)
    answer = task.solve(problem)
    last = [line for line in answer.split("\n") if "parameter " in line][-1].strip(" ,")
    name = last.split()[1]
    for old, new in ((name, f"{name}_"), ("parameter WIDTH", "localparam WIDTH")):
        assert old in answer
        verdict = task.verify(problem, answer.replace(old, new))
        assert verdict.score == 0.0
        assert "does not compile" in verdict.detail


def test_a_parameter_that_is_ignored_is_told():
    task, problem = posed("a counter")
    answer = task.solve(problem)
    wrong = answer.replace("WIDTH'(START)", "WIDTH'(1)").replace("+ STEP", "+ 1")
    assert wrong != answer
    verdict = task.verify(problem, wrong)
    assert verdict.score == 0.0
    assert "differently" in verdict.detail


@pytest.mark.parametrize("ending", ["/*", "`ifdef OFF", "`define TopModule Other\n/*", "module X;"])
def test_the_answer_cannot_hide_the_given_module(ending):
    task, problem = posed("a counter")
    flat = problem.golden.replace("module TopModule", "module Flat")
    assert task.verify(problem, f"{flat}\n{ending}").score == 0.0


@pytest.mark.parametrize(
    "knobs", [{"parameters": 0}, {"parameters": 7}, {"instances": 5}, {"width": 1}]
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        ParameterisedModuleConfig(**knobs)
