"""Whether a statement, a generator and solutions make a task; what is wrong is said plainly."""

import builtins
import inspect
import string
import symtable
import textwrap
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import Rng, stream
from rlvr_envs.generators.program_tasks.program_task import (
    LEVELS,
    Kind,
    Program,
    Solution,
    Values,
    output_text,
    run_solution,
    scale_at,
    stdin_text,
)

MIN_LEVELS = 5  # different scales
MIN_DISTINCT = 10  # outputs of `_DRAWS` inputs
MAX_COMMON = 0.3  # the share of the commonest output
MAX_ALIKE = 0.1  # the share of pairs of problems that one program solves both of
MAX_STDIN = 200_000  # characters of an input at level 20

_DRAWS = 100
_AGREE_LEVELS = range(0, 13, 2)  # where solutions are compared; slow ones must get there too
_AGREE_DRAWS = 12
_PROBLEMS = 30
_KINDS = get_args(Kind)


@dataclass(frozen=True, slots=True)
class ProgramReport:
    """What was measured of a program that passed."""

    levels: int  # different scales up to level 30
    compared: int  # inputs on which all solutions agree
    distinct: int  # different outputs of 100 inputs
    commonest: float  # the share of the commonest of them
    alike: float  # the share of pairs of problems that one program solves both of


def check_program(program: Program) -> ProgramReport:
    """Return what was measured of a program.

    Raises:
        ConfigError: it makes no good task; the message says why, and what to change.
    """
    _check_parts(program)
    levels = _check_scale(program)
    _check_statement(program)
    _check_solutions(program)
    _check_generator(program)
    compared = _check_agreement(program)
    distinct, commonest = _check_diversity(program)
    return ProgramReport(levels, compared, distinct, commonest, _check_constants(program))


def _check_parts(program: Program) -> None:
    if not program.reads:
        raise ConfigError("the program reads nothing: name its inputs and their kinds in `reads`")
    for name, kind in program.reads.items():
        if kind not in _KINDS:
            raise ConfigError(
                f"the input {name!r} is of kind {kind!r}; kinds are {', '.join(_KINDS)}"
            )
    if len(program.solutions) < 2 or len(set(program.solutions)) < len(program.solutions):
        raise ConfigError(
            f"at least two different solutions are needed, got {len(set(program.solutions))}: "
            "write another, slow and plain, to check the first by"
        )


def _check_scale(program: Program) -> int:
    for name, ends in program.scale.items():
        if len(ends) != 2 or not 0 <= ends[0] <= ends[1]:
            raise ConfigError(
                f"the scale of {name!r} is (value at level 0, value at about level 30), the second "
                f"at least the first, got {ends!r}"
            )
    levels = len({tuple(scale_at(program, level).items()) for level in range(LEVELS + 1)})
    if levels < MIN_LEVELS:
        raise ConfigError(
            f"the scale gives {levels} level{'s' * (levels != 1)}, and at least {MIN_LEVELS} are "
            "needed: widen a range"
        )
    return levels


def _gaps(statement: str) -> set[str]:
    try:
        fields = [field for _, field, _, _ in string.Formatter().parse(statement)]
    except ValueError as error:
        raise ConfigError(
            f"the statement cannot be filled in ({error}); write {{{{ for {{"
        ) from error
    return {field for field in fields if field is not None}


def _check_statement(program: Program) -> None:
    drawn = [_draw(program, level, 0)[1] for level in range(4, LEVELS)]
    if isinstance(program.statement, str):
        gaps = _gaps(program.statement)
    else:
        gaps = set().union(*(_gaps(program.statement(constants)) for constants in drawn))
    names = set(drawn[0])
    if not names:
        raise ConfigError(
            "there are no constants, so one program answers every problem: put a number into the "
            "statement that is drawn anew each time"
        )
    if gaps - names:
        raise ConfigError(
            f"the statement names {sorted(gaps - names)}, which are no constants ({sorted(names)})"
        )
    if names - gaps:
        raise ConfigError(f"the statement never says the constants {sorted(names - gaps)}")
    if names & set(program.reads):
        raise ConfigError(f"{sorted(names & set(program.reads))} are constants and inputs at once")


def _check_solutions(program: Program) -> None:
    wanted = {*program.reads, *_draw(program, 4, 0)[1]}
    for solution in program.solutions:
        got = set(inspect.signature(solution).parameters)
        if got != wanted:
            raise ConfigError(
                f"{solution.__name__} takes {sorted(got)}; its parameters are the inputs and the "
                f"constants, {sorted(wanted)}"
            )
    first = program.solutions[0]
    borrowed = sorted(_borrowed(first))
    if borrowed:
        raise ConfigError(
            f"{first.__name__} uses {borrowed} from outside of itself; its text has to stand "
            "alone: import and define within it"
        )


def _borrowed(solution: Solution) -> set[str]:
    """Return the names that a function's text uses, but neither defines nor finds built in."""
    try:
        text = textwrap.dedent(inspect.getsource(solution))
    except OSError as error:
        raise ConfigError(f"the text of {solution.__name__} cannot be read: {error}") from error
    tables = list(symtable.symtable(text, solution.__name__, "exec").get_children())
    used: set[str] = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        if isinstance(table, symtable.Function):
            used |= set(table.get_globals())
    return used - set(dir(builtins)) - {solution.__name__}


def _rng(*key: str | int) -> Rng:
    return stream("check_program", *key)


def _draw(program: Program, level: int, seed: int) -> tuple[Values, Values]:
    """Draw inputs and constants, and see that they are what they are said to be."""
    rng = _rng(level, seed)
    scale = scale_at(program, level)
    try:
        constants = program.constants(rng, scale)
        inputs = program.inputs(rng, scale, constants)
    except Exception as error:  # the author's code may raise anything
        raise ConfigError(
            f"the generator failed at level {level} (scale {scale}): {error!r}"
        ) from error
    for name, value in constants.items():
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise ConfigError(f"the constant {name!r} is an integer or a text, got {value!r:.80}")
    if list(inputs) != list(program.reads):
        raise ConfigError(
            f"the generator draws {list(inputs)}, and `reads` says {list(program.reads)}"
        )
    for name, kind in program.reads.items():
        if not _is_of_kind(inputs[name], kind):
            raise ConfigError(f"the input {name!r} is no {kind}: {inputs[name]!r:.80}")
    return inputs, constants


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_of_kind(value: Any, kind: Kind) -> bool:
    if kind == "int":
        return _is_integer(value)
    if kind == "str":
        return isinstance(value, str) and bool(value) and value.isascii() and value.isprintable()
    if not isinstance(value, (list, tuple)):
        return False
    if kind == "list":
        return all(map(_is_integer, value))
    return len({len(row) for row in value}) <= 1 and all(
        row and all(map(_is_integer, row)) for row in value
    )


def _check_generator(program: Program) -> None:
    if _draw(program, 6, 1) != _draw(program, 6, 1):
        raise ConfigError(
            "the generator draws different inputs from equal streams: use only the rng it is given"
        )
    size = len(stdin_text(program, _draw(program, 20, 0)[0]))
    if size > MAX_STDIN:
        raise ConfigError(
            f"an input of level 20 takes {size} characters, more than {MAX_STDIN}: narrow the "
            "range of what its length depends on (ranges up to 1000 grow more slowly)"
        )


def _solved(solution: Solution, inputs: Values, constants: Values) -> Any:
    try:
        result = run_solution(solution, inputs, constants)
    except Exception as error:  # the author's code may raise anything
        raise ConfigError(
            f"{solution.__name__} failed on {dict(inputs)!r:.200} with {dict(constants)}: {error!r}"
        ) from error
    items = result if isinstance(result, (list, tuple)) else [result]
    if not all(_is_integer(item) or (isinstance(item, str) and item.split()) for item in items):
        raise ConfigError(
            f"{solution.__name__} returned {result!r:.80}: results are integers, words, or lists "
            "of those"
        )
    return result


def _cases(
    program: Program, levels: Iterator[int] | range, count: int
) -> Iterator[tuple[Values, Values]]:
    for level in levels:
        for seed in range(count):
            yield _draw(program, level, seed)


def _check_agreement(program: Program) -> int:
    compared = 0
    for inputs, constants in _cases(program, _AGREE_LEVELS, _AGREE_DRAWS):
        first, *others = (output_text(_solved(s, inputs, constants)) for s in program.solutions)
        for solution, other in zip(program.solutions[1:], others, strict=True):
            if other != first:
                raise ConfigError(
                    f"solutions differ on {dict(inputs)!r:.300} with {dict(constants)}: "
                    f"{program.solutions[0].__name__} gives {first!r:.80}, {solution.__name__} "
                    f"gives {other!r:.80}"
                )
        compared += 1
    return compared


def _check_diversity(program: Program) -> tuple[int, float]:
    outputs = Counter(
        output_text(_solved(program.solutions[0], *_draw(program, 4 + seed % 7, 100 + seed)))
        for seed in range(_DRAWS)
    )
    (most, count), share = outputs.most_common(1)[0], 0.0
    share = count / _DRAWS
    if len(outputs) < MIN_DISTINCT:
        raise ConfigError(
            f"{_DRAWS} inputs have only {len(outputs)} different outputs, and at least "
            f"{MIN_DISTINCT} are needed: draw more varied inputs, or ask for more"
        )
    if share > MAX_COMMON:
        raise ConfigError(
            f"{share:.0%} of the outputs are {most!r:.80}, and at most {MAX_COMMON:.0%} may be "
            "equal: draw inputs that lead elsewhere"
        )
    return len(outputs), share


def _check_constants(program: Program) -> float:
    """See that a program for one problem does not solve another."""
    first = program.solutions[0]
    problems = []
    for seed in range(_PROBLEMS):
        rng = _rng("constants", seed)
        scale = scale_at(program, 6)
        constants = program.constants(rng, scale)
        problems.append((constants, [program.inputs(rng, scale, constants) for _ in range(8)]))
    alike = 0
    pairs = list(zip(problems, problems[1:] + problems[:1], strict=True))
    for (foreign, _), (constants, cases) in pairs:
        try:
            alike += all(
                output_text(run_solution(first, inputs, foreign))
                == output_text(run_solution(first, inputs, constants))
                for inputs in cases
            )
        except Exception:  # noqa: BLE001, S112  # inputs of one problem may make no sense in another
            continue
    share = alike / len(pairs)
    if share > MAX_ALIKE:
        raise ConfigError(
            f"in {share:.0%} of pairs of problems a program for the one solves the other too, and "
            f"at most {MAX_ALIKE:.0%} may be so: draw the constants from more values, or let them "
            "matter more"
        )
    return share
