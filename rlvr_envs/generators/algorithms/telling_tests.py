"""Tests of a plan, chosen by the slightly wrong programs that fail them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from rlvr_envs.core.seeding import Rng, draw_seed
from rlvr_envs.generators.algorithms.draw import SHAPES
from rlvr_envs.generators.algorithms.plan import (
    COMBINE,
    Plan,
    answer,
    answer_by,
    draw_inputs,
    find_family,
)
from rlvr_envs.generators.algorithms.stages import STAGES
from rlvr_envs.generators.programs.nodes import Value
from rlvr_envs.generators.wrong_functions import agrees, most_telling, telling, wrong_functions

Inputs: TypeAlias = dict[str, Value]

_SIZES = (5, 3, 8, 1, 12, 2, 7, 0, 20)  # no multiple of the number of shapes, so all pairs come
_SHOWN_SIZES = (5, 8, 6, 4, 7)
_SHOWN = 6  # tests that those shown are chosen from
_TRIES = 54
_FEW_TRIES = {"most_overlaps": 4}  # where an answer takes a millisecond, whatever the size
_PATIENCE = 12


@dataclass(frozen=True, slots=True)
class PlannedTest:
    """The inputs that belong to a seed and a size, and the right answer."""

    seed: int
    size: int
    inputs: Inputs
    expected: int


def make_test(rng: Rng, plan: Plan, size: int, shape: int | None = None) -> PlannedTest:
    """Draw a test of a size, and of the shape of a number or any."""
    seed = draw_seed(rng)
    if shape is not None:
        seed += shape - seed % len(SHAPES)
    inputs = draw_inputs(plan, seed, size)
    return PlannedTest(seed, size, inputs, answer(plan, inputs))


def examples(rng: Rng, plan: Plan, hidden: Sequence[Inputs]) -> list[PlannedTest]:
    """Draw tests to show: of a few that are not hidden, the two that tell most."""
    wrong = _wrong_answers(plan)
    drawn = [test for test in _candidates(rng, plan, _SHOWN_SIZES) if test.inputs not in hidden]
    while len(drawn) < 2:
        drawn.append(make_test(rng, plan, _SHOWN_SIZES[-1]))
    return most_telling(drawn[:_SHOWN], len(wrong), _teller(wrong), 2)


def telling_tests(rng: Rng, plan: Plan) -> list[PlannedTest]:
    """Draw small tests, each of which fails wrong programs that few before it fail."""
    wrong = _wrong_answers(plan)
    sizes = _SIZES if find_family(plan.family).staged else [size for size in _SIZES if size]
    candidates = _candidates(rng, plan, sizes)
    return list(telling(candidates, len(wrong), _teller(wrong), patience=_PATIENCE))


def _teller(
    wrong: Sequence[Callable[[Inputs], int]],
) -> Callable[[PlannedTest, int], bool]:
    """Return whether a test fails the wrong program of a number."""
    return lambda test, number: not agrees(lambda: wrong[number](test.inputs), test.expected)


def _candidates(rng: Rng, plan: Plan, sizes: Sequence[int]) -> Iterator[PlannedTest]:
    seen: list[Inputs] = []
    for number in range(_FEW_TRIES.get(plan.family, _TRIES)):
        test = make_test(rng, plan, sizes[number % len(sizes)], number % len(SHAPES))
        if test.inputs not in seen:
            seen.append(test.inputs)
            yield test


@lru_cache(maxsize=64)
def _wrong_answers(plan: Plan) -> tuple[Callable[[Inputs], int], ...]:
    """Return what slightly wrong programs answer: in the solution, a stage, or a number."""
    solve = find_family(plan.family).fast
    changes = [STAGES[stage.kind].apply for stage in plan.stages]
    versions = [(plan, wrong, changes) for wrong in wrong_functions(solve)]
    versions += [(other, solve, changes) for other in _near(plan)]
    for place, change in enumerate(changes):
        for wrong in wrong_functions(change):
            versions.append((plan, solve, [*changes[:place], wrong, *changes[place + 1 :]]))
        rest = plan.stages[:place] + plan.stages[place + 1 :]
        without = [*changes[:place], *changes[place + 1 :]]
        versions.append((replace(plan, stages=rest), solve, without))
    return tuple(_answering(*version) for version in versions)


def _answering(
    plan: Plan, solve: Callable[..., int], changes: Sequence[Callable[..., list[int]]]
) -> Callable[[Inputs], int]:
    return lambda inputs: answer_by(plan, inputs, solve, changes)


def _near(plan: Plan) -> Iterator[Plan]:
    """Yield plans with one number one off, or with answers put together in another way."""
    for numbers in _one_off(plan.parameters):
        yield replace(plan, parameters=numbers)
    for place, stage in enumerate(plan.stages):
        for numbers in _one_off(stage.parameters):
            changed = replace(stage, parameters=numbers)
            yield replace(plan, stages=(*plan.stages[:place], changed, *plan.stages[place + 1 :]))
    if plan.parts > 1:
        yield from (replace(plan, combine=way) for way in COMBINE if way != plan.combine)
        yield from (replace(plan, parts=plan.parts + step) for step in (-1, 1))


def _one_off(numbers: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for place, number in enumerate(numbers):
        for step in (-1, 1):
            if number + step:  # never a modulus of 0
                yield (*numbers[:place], number + step, *numbers[place + 1 :])
