"""Inputs of a program, chosen by the programs with a mistake that print something else for them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, takewhile
from typing import TypeAlias

from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.programs.interpret import IrError, interpret
from rlvr_envs.generators.programs.mutate import Mistake, possible, put
from rlvr_envs.generators.programs.nodes import Program, Value
from rlvr_envs.generators.programs.random_program import random_inputs
from rlvr_envs.generators.wrong_functions import telling

Inputs: TypeAlias = dict[str, Value]

_MISTAKES = 80  # tried, of all that can be made
_TRIES = 40
_PATIENCE = 10
_BUDGET = 120_000  # steps of programs with mistakes: some 40 ms
# Lengths and magnitudes in turn: most mistakes show for short inputs, which cost least.
_SHAPES = ((4, 20), (14, 40), (2, 5), (6, 100), (22, 20), (1, 2), (3, 1000), (10, 3), (16, 60))


def varied_inputs(rng: Rng, program: Program) -> Iterator[Inputs]:
    """Draw inputs of a random program without end, from tiny to long and with large numbers."""
    for number in count():
        length, magnitude = _SHAPES[number % len(_SHAPES)]
        yield random_inputs(rng, program, length=length, magnitude=magnitude)


def telling_inputs(rng: Rng, program: Program, inputs: Iterable[Inputs]) -> list[Inputs]:
    """Return inputs for which programs with a mistake print something else than the right one."""
    options = possible(program)
    chosen = [options[at] for at in rng.permutation(len(options))[:_MISTAKES].tolist()]
    teller = _Teller(program, chosen)
    tried = takewhile(lambda numbered: numbered[0] < _TRIES and teller.left > 0, enumerate(inputs))
    return list(telling((each for _, each in tried), len(chosen), teller.told, patience=_PATIENCE))


class _Teller:
    """Runs programs with a mistake, as long as there are steps left."""

    def __init__(self, program: Program, mistakes: Sequence[Mistake]) -> None:
        self.left = _BUDGET
        self._program = program
        self._wrong = [put(program, mistake) for mistake in mistakes]
        self._known: tuple[Inputs, list[str], int] = {}, [], 0

    def told(self, inputs: Inputs, number: int) -> bool:
        """Whether a program with a mistake prints something else, or fails."""
        if self._known[0] is not inputs:
            run = interpret(self._program, inputs)
            self._known = inputs, run.output.split(), run.steps
        _, expected, steps = self._known
        self.left -= steps
        if self.left < 0:
            return False
        try:
            run = interpret(self._wrong[number], inputs, max_steps=2 * steps + 200)
        except IrError:
            return True
        return run.output.split() != expected
