"""Random programs end, stay in bounds, and are worth asking about."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.programs.check import check, walk_statements
from rlvr_envs.generators.programs.interpret import interpret
from rlvr_envs.generators.programs.nodes import Call, Int, Print, Program, Var, While
from rlvr_envs.generators.programs.random_functions import _MAKERS
from rlvr_envs.generators.programs.random_program import MAX_STEPS, random_inputs, random_program

SIZES = (1, 2, 4, 8, 13, 20, 32)


def draw(size, seed, **options):
    rng = stream("random program", size, seed)
    return random_program(rng, size=size, **options), rng


@pytest.mark.parametrize("size", SIZES)
def test_every_program_is_well_formed_and_ends_in_bounds(size):
    for seed in range(25):
        program, rng = draw(size, seed)
        check(program)
        for length, magnitude in ((1, 1), (8, 20), (32, 1000)):
            inputs = random_inputs(rng, program, length=length, magnitude=magnitude)
            ran = interpret(program, inputs, max_steps=MAX_STEPS)
            assert ran.output.strip()


def test_outputs_depend_on_the_inputs():
    for seed in range(30):
        program, rng = draw(6, seed)
        outputs = {interpret(program, random_inputs(rng, program)).output for _ in range(12)}
        assert len(outputs) >= 3, program


def test_programs_differ_and_use_what_there_is():
    programs = [draw(10, seed)[0] for seed in range(60)]
    assert len(set(programs)) == 60
    texts = "".join(map(repr, programs))
    for part in ("For(", "While(", "If(", "Append(", "SetItem(", "Call(", "'concat'", "'min'"):
        assert part in texts, part
    assert any(isinstance(s, While) for p in programs for s in walk_statements(p.body))


def test_the_same_stream_gives_the_same_program():
    assert draw(9, 4)[0] == draw(9, 4)[0]


def test_inputs_and_functions_can_be_chosen():
    for seed in range(10):
        program, _ = draw(6, seed, inputs=("str", "int"), functions=2)
        assert [kind for _, kind in program.inputs] == ["str", "int"]
        assert len(program.functions) == 2 or len(program.body) == 1


def test_helper_functions_return_what_they_promise():
    extremes = (-(10**9), -1, 0, 1, 7, 10**9)
    for name, make in _MAKERS.items():
        for seed in range(6):
            function, bound = make(stream(name, seed))
            lists = function.params[0][1] == "list"
            inputs = (("xs", "list"),) if lists else ()
            for first in extremes:
                for second in extremes:
                    args = (Var("xs"), Int(second)) if lists else (Int(first), Int(second))
                    call = Call(function.name, args[: len(function.params)])
                    program = check(Program(inputs, (function,), (Print((call,)),)))
                    result = int(interpret(program, {"xs": [5, -9, 1000, 0]}).output)
                    assert abs(result) <= bound, (name, first, second)


def test_wrong_arguments_are_errors():
    with pytest.raises(ConfigError):
        draw(0, 0)
    with pytest.raises(ConfigError):
        draw(3, 0, inputs=("bool",))
    program, rng = draw(3, 0)
    for options in ({"length": 0}, {"length": 33}, {"magnitude": 1001}):
        with pytest.raises(ConfigError):
            random_inputs(rng, program, **options)
