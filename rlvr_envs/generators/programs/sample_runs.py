"""What output prediction and input prediction share: a random program with one run of it."""

import re
from dataclasses import dataclass

from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.programs.emit import prepared_for
from rlvr_envs.generators.programs.interpret import StepLimit, interpret
from rlvr_envs.generators.programs.nodes import Program, Value
from rlvr_envs.generators.programs.random_program import MAX_STEPS, random_inputs, random_program
from rlvr_envs.generators.programs.random_scope import LETTERS, MAX_INPUT, MAX_ITEMS
from rlvr_envs.generators.programs.trace import trace

_PROGRAMS = 40  # tried before any is taken
_OTHERS = 10  # further inputs that a program is tried on
_LONGEST = 400  # characters of an output
_MOST_STEPS = 5_000  # of a run told line by line
_LONGEST_RUN = 5_000  # characters of it: more would teach nobody
_SPELLINGS = {"cpp": "C++", "javascript": "JavaScript", "ocaml": "OCaml"}
_INTEGER = re.compile(r"[+-]?[0-9]{1,9}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Execution:
    """A program, an input of it, what it prints then, and how many steps that takes."""

    program: Program
    inputs: dict[str, Value]
    output: str
    steps: int


def draw_execution(rng: Rng, size: int, length: int, magnitude: int) -> Execution:
    """Draw a program and an input whose output is not that of other inputs, and not too long.

    The number of steps grows with the square of the size, within bounds.
    """
    least, most = size * size, 4 * size * size + 40
    spare: Execution | None = None
    for _ in range(_PROGRAMS):
        program = random_program(rng, size=size)
        inputs = random_inputs(rng, program, length=length, magnitude=magnitude)
        drawn = _execution(program, inputs, most)
        if drawn is None or not _is_telling(rng, drawn, length, magnitude, most):
            continue
        spare = drawn
        if drawn.steps >= least and (size < 3 or " " in " ".join(drawn.output.split())):
            break
    return spare or _last_resort(rng, length, magnitude)


def _execution(program: Program, inputs: dict[str, Value], most: int) -> Execution | None:
    """Return a run, or None of one that takes too many steps."""
    try:
        run = interpret(program, inputs, max_steps=most)
    except StepLimit:
        return None
    return Execution(program, inputs, run.output, run.steps)


def _is_telling(rng: Rng, drawn: Execution, length: int, magnitude: int, most: int) -> bool:
    """Whether hardly any two inputs give the same output, and none gives this one."""
    if len(drawn.output) > _LONGEST:
        return False
    outputs = []
    for _ in range(_OTHERS):
        inputs = random_inputs(rng, drawn.program, length=length, magnitude=magnitude)
        other = _execution(drawn.program, inputs, 4 * most)
        if other is None:
            return False
        if other.inputs != drawn.inputs:
            outputs.append(other.output)
    return drawn.output not in outputs and len(set(outputs)) >= _OTHERS - 3


def _last_resort(rng: Rng, length: int, magnitude: int) -> Execution:
    """Return the run of a short program, which never takes many steps."""
    drawn = None
    while drawn is None:
        program = random_program(rng, size=1)
        inputs = random_inputs(rng, program, length=length, magnitude=magnitude)
        drawn = _execution(program, inputs, MAX_STEPS)
    return drawn


def language_title(language: str) -> str:
    """Return the name of a language as people write it."""
    return _SPELLINGS.get(language, language.capitalize())


def input_format(program: Program) -> str:
    """Return in words what the program reads."""
    kinds = {
        "int": f"one line with an integer from -{MAX_INPUT} to {MAX_INPUT}",
        "str": (
            f"one line with a string of 1 to {MAX_ITEMS} letters, each one of {', '.join(LETTERS)}"
        ),
        "list": (
            f"a list of 1 to {MAX_ITEMS} integers from -{MAX_INPUT} to {MAX_INPUT}: one line with "
            "its length, then one line with its items, separated by spaces"
        ),
    }
    return "\n".join(f"{i}. {kinds[kind]}" for i, (_, kind) in enumerate(program.inputs, start=1))


def read_inputs(program: Program, text: str) -> dict[str, Value] | None:
    """Read inputs from a standard input, or return None where they are not as asked for.

    White space separates; how it is spread over the lines does not count.
    """
    if len(text) > 20 * MAX_ITEMS * (1 + len(program.inputs)):
        return None
    words = text.split()
    values: dict[str, Value] = {}
    for name, kind in program.inputs:
        if not words:
            return None
        head = words.pop(0)
        if kind == "str":
            if len(head) > MAX_ITEMS or set(head) - set(LETTERS):
                return None
            values[name] = head
            continue
        number = _number(head)
        if kind == "int":
            if number is None:
                return None
            values[name] = number
            continue
        items = [_number(word) for word in words[: number or 0]]
        known = [item for item in items if item is not None]
        if not known or len(known) != number or number > MAX_ITEMS:
            return None
        values[name], words = known, words[number:]
    return None if words else values


def simple_inputs(program: Program, size: int) -> dict[str, Value]:
    """Return inputs with numbers one less than the size, and lists and strings of the size."""
    values: dict[str, Value] = {}
    for name, kind in program.inputs:
        if kind == "str":
            values[name] = LETTERS[0] * size
        else:
            values[name] = size - 1 if kind == "int" else [size - 1] * size
    return values


def told_run(program: Program, language: str, stdin: str) -> list[str]:
    """Return the run of a program on an input, line by line, with the names used in a language.

    Empty where it takes more than `_MOST_STEPS`, or `_LONGEST_RUN` characters to tell.
    """
    inputs = read_inputs(program, stdin)
    if inputs is None:
        return []
    try:
        interpret(program, inputs, max_steps=_MOST_STEPS)
    except StepLimit:
        return []
    written = prepared_for(program, language)
    renamed = {
        name: inputs[old]
        for (name, _), (old, _) in zip(written.inputs, program.inputs, strict=True)
    }
    lines = trace(written, renamed, max_steps=MAX_STEPS)
    return lines if sum(map(len, lines)) <= _LONGEST_RUN else []


def _number(word: str) -> int | None:
    if not _INTEGER.fullmatch(word) or abs(int(word)) > MAX_INPUT:
        return None
    return int(word)
