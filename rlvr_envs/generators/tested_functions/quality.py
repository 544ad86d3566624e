"""How good a test suite is: it must pass on the function, and fail on changed versions of it."""

from collections.abc import Sequence
from functools import lru_cache

from rlvr_envs.generators.programs.interpret import IrError, interpret
from rlvr_envs.generators.programs.mutate import Mistake, make, possible
from rlvr_envs.generators.programs.nodes import Function, Program, Value
from rlvr_envs.generators.tested_functions.functions import Args, rule_function
from rlvr_envs.generators.tested_functions.suite import Check
from rlvr_envs.generators.tested_functions.values import is_of_type

_MAX_STEPS = 20_000  # of one call: mutants may loop for ever
RAISES = "raises an exception"  # stands for the output of a call that has none


def output(program: Program, args: Sequence[object]) -> str:
    """Return what the program prints for arguments, or that it raises an exception."""
    inputs: dict[str, Value] = {}
    for (name, kind), value in zip(program.inputs, args, strict=True):
        if isinstance(value, (list, tuple)):
            inputs[name] = list(value)
        elif is_of_type(value, kind) and isinstance(value, (int, str)):
            inputs[name] = value
    try:
        return interpret(program, inputs, max_steps=_MAX_STEPS).output.removesuffix("\n")
    except IrError:
        return RAISES


@lru_cache(maxsize=64)
def slips(kind: str, n_rules: int, seed: int) -> tuple[Mistake, ...]:
    """Return the single changes that can be made to a function."""
    program = rule_function(kind, n_rules, seed).program
    return tuple(slip for slip in possible(program) if slip.path[0] == "functions")


def mutant(program: Program, slip: Mistake) -> Program | None:
    """Return the program with a change in it, or None if that is no program."""
    try:
        return make(program, [slip])
    except IrError:
        return None


def kept(
    program: Program, mutants: dict[int, Program], inputs: Sequence[Args]
) -> tuple[tuple[int, ...], tuple[Args, ...]]:
    """Return the mutants that some input tells from the program, and inputs that tell them all.

    The mutants are in the order in which they were told, so the hardest come last. The others are
    taken to do the same as the program.
    """
    alive = dict(mutants)
    chosen: list[Args] = []
    told: list[int] = []
    for args in inputs:
        wanted = output(program, args)
        if wanted == RAISES:
            continue
        killed = [number for number, each in alive.items() if output(each, args) != wanted]
        if killed:
            chosen.append(args)
            told += killed
            for number in killed:
                del alive[number]
        if not alive:
            break
    return tuple(told), tuple(chosen)


def first_failure(program: Program, function: Function, checks: Sequence[Check]) -> str:
    """Return the name of the first test that fails on the program, or an empty text."""
    for check in checks:
        right = is_of_type(check.expected, function.returns)
        if not right or output(program, check.args) != str(check.expected):
            return check.test
    return ""
