"""Python functions become functions of programs that return the same."""

import pytest

from rlvr_envs.generators.programs.check import check
from rlvr_envs.generators.programs.interpret import IrError, interpret
from rlvr_envs.generators.programs.lower import lower
from rlvr_envs.generators.programs.nodes import Call, Print, Program, Var

LIMIT = 40


def scramble(xs: list[int], k: int) -> list[int]:
    """Return something that uses most of what there is."""
    out = xs[:]
    extra = [k] * (k % 3 + 1)
    for i in range(len(xs)):
        out[i] = xs[i] * k % LIMIT
        out[i] += 1
        if 0 <= i < 2 and not (xs[i] == k or xs[i] < -k):
            out.append(max(i, -k, xs[i] // 2))
        elif xs[i] > 3:
            extra.append(i)
        else:
            out[i] -= ends(xs, i)
    k_left = k
    while k_left > 0:
        k_left -= 2
        out.append(k_left)
    for _round in range(2):
        out.append(len(extra))
    return out


def ends(xs: list[int], at: int) -> int:
    first = xs[0]
    if at == 1:
        first = xs[len(xs) - 1]
    return first


def backwards(s: str, mark: str) -> str:
    out = ""
    for i in range(len(s)):
        if s[i] != mark:
            out = s[i] + out
        else:
            out += "-"
    return out


def is_long(s: str) -> bool:
    return len(s) > 3


def longest(s: str, t: str) -> str:
    known = is_long(s)
    if known and not is_long(t):
        return s
    return t


def as_program(function, params):
    names = tuple(Var(name) for name, _ in params)
    return check(Program(params, lower(function), (Print((Call(function.__name__, names),)),)))


@pytest.mark.parametrize("k", range(7))
@pytest.mark.parametrize("xs", [[], [5], [3, -9, 4, 4], [0, 9, 2, 7, -1, 12]])
def test_numbers_and_lists(xs, k):
    program = as_program(scramble, (("xs", "list"), ("k", "int")))
    assert interpret(program, {"xs": xs, "k": k}).output.split() == list(map(str, scramble(xs, k)))


@pytest.mark.parametrize(("s", "t"), [("hello", "l"), ("abcd", "x"), ("ab", "b")])
def test_strings(s, t):
    params = (("s", "str"), ("t", "str"))
    given = {"s": s, "t": t}
    assert interpret(as_program(longest, params), given).output == longest(s, t) + "\n"
    assert interpret(as_program(backwards, params), given).output == backwards(s, t) + "\n"


def test_functions_come_after_those_that_they_call():
    assert [function.name for function in lower(scramble)] == ["ends", "scramble"]


def untyped(x):
    return x


def comprehension(xs: list[int]) -> int:
    return sum(x for x in xs)


def power(x: int) -> int:
    return x**2


def stepped(n: int) -> int:
    total = 0
    for i in range(0, n, 2):
        total += i
    return total


def unknown(n: int) -> int:
    return n + not_defined  # noqa: F821


@pytest.mark.parametrize("function", [untyped, comprehension, power, unknown])
def test_the_rest_of_python_is_refused(function):
    with pytest.raises(IrError):
        lower(function)


def test_a_step_is_refused():
    with pytest.raises(IrError):
        lower(stepped)
