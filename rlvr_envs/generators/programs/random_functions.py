"""Helper functions of random programs: idioms with constants drawn at random.

Each takes integers of any sign below `VARIABLE_BOUND`, or a list, and ends after few steps.
"""

from collections.abc import Callable

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.programs.nodes import (
    Assign,
    Binary,
    Call,
    Expression,
    For,
    Function,
    If,
    Int,
    Length,
    Let,
    Return,
    Var,
    While,
)

A, B, N, XS, AT = Var("a"), Var("b"), Var("n"), Var("xs"), Var("i")
OUT = Var("out")
Made = tuple[Function, int]  # a function, and the largest magnitude of what it returns


def random_function(rng: Rng, taken: set[str]) -> Made | None:
    """Return a function under a name that is not taken, or None where every idiom is."""
    makers = [maker for name, maker in _MAKERS.items() if name not in taken]
    return pick(rng, makers)(rng) if makers else None


def _digit_sum(rng: Rng) -> Made:
    base = pick(rng, (2, 3, 10, 10))
    body = (
        Let("rest", "int", Binary("max", N, -N)),
        Let("out", "int", Int(0)),
        While(
            Var("rest") > 0,
            (
                Assign("out", OUT + Var("rest") % base),
                Assign("rest", Var("rest") // base),
            ),
        ),
        Return(OUT),
    )
    return Function("digit_sum", (("n", "int"),), "int", body), 100


def _common_divisor(rng: Rng) -> Made:
    body = (If(B.eq(0), (Return(Binary("max", A, -A)),)), Return(Call("gcd", (B, A % B))))
    return Function("gcd", (("a", "int"), ("b", "int")), "int", body), 10**9


def _collatz(rng: Rng) -> Made:
    factor, start = pick(rng, ((3, 1), (3, 1), (5, 1), (3, 5))), integer(rng, 20, 60)
    value = Var("value")
    body = (
        Let("value", "int", N % start + 1),
        Let("out", "int", Int(0)),
        While(
            (value > 1) & (integer(rng, 8, 40) > OUT),
            (
                If(
                    (value % 2).eq(0),
                    (Assign("value", value // 2),),
                    (Assign("value", (value * factor[0] + factor[1]) % 10_007),),
                ),
                Assign("out", OUT + 1),
            ),
        ),
        Return(OUT),
    )
    return Function("collatz_steps", (("n", "int"),), "int", body), 40


def _mix(rng: Rng) -> Made:
    modulus = pick(rng, (97, 101, 128, 251, 1000, 1009))
    value = (A * integer(rng, 2, 12) + B * integer(rng, 2, 12) + integer(rng, 0, 30)) % modulus
    return Function("mix", (("a", "int"), ("b", "int")), "int", (Return(value),)), modulus


def _choose(rng: Rng) -> Made:
    first, second = (A - B, A + B) if rng.random() < 0.5 else (A * 2 - B, B * 3 - A)
    condition = (A % integer(rng, 2, 4)).eq(0) if rng.random() < 0.5 else A > B
    body = (If(condition, (Return(first),)), Return(second))
    return Function("choose", (("a", "int"), ("b", "int")), "int", body), 4 * 10**9


def _clamp(rng: Rng) -> Made:
    low = integer(rng, -10, 5)
    high = low + integer(rng, 5, 40)
    value = Binary("max", Int(low), Binary("min", Int(high), N))
    return Function("clamp", (("n", "int"),), "int", (Return(value),)), 60


def _power(rng: Rng) -> Made:
    modulus = pick(rng, (97, 101, 997, 1009))
    half = Call("power", (A, B // 2))
    body = (
        If(B <= 0, (Return(Int(1)),)),
        Let("half", "int", half),
        Let("out", "int", Var("half") * Var("half") % modulus),
        If((B % 2).eq(1), (Assign("out", OUT * (A % modulus) % modulus),)),
        Return(OUT),
    )
    return Function("power", (("a", "int"), ("b", "int")), "int", body), modulus


def _tally(rng: Rng) -> Made:
    modulus = integer(rng, 2, 5)
    condition: Expression = pick(
        rng,
        (
            XS[AT] > A,
            XS[AT] < A,
            (XS[AT] % modulus).eq(A % modulus),
            (XS[AT] + AT) % modulus > A % modulus,
        ),
    )
    body = (
        Let("out", "int", Int(0)),
        For("i", Int(0), Length(XS), (If(condition, (Assign("out", OUT + 1),)),)),
        Return(OUT),
    )
    return Function("tally", (("xs", "list"), ("a", "int")), "int", body), 4000


def _alternate(rng: Rng) -> Made:
    modulus, every = pick(rng, (97, 1000, 1009)), integer(rng, 2, 4)
    body = (
        Let("out", "int", Int(0)),
        For("i", Int(0), Length(XS), (
            If((AT % every).eq(A % every), (Assign("out", OUT + XS[AT] % modulus),), (
                Assign("out", OUT - XS[AT] % modulus),
            )),
        )),
        Return(OUT),
    )  # fmt: skip
    return Function("alternate", (("xs", "list"), ("a", "int")), "int", body), 4_000_000


_MAKERS: dict[str, Callable[[Rng], Made]] = {
    "digit_sum": _digit_sum,
    "gcd": _common_divisor,
    "collatz_steps": _collatz,
    "mix": _mix,
    "choose": _choose,
    "clamp": _clamp,
    "power": _power,
    "tally": _tally,
    "alternate": _alternate,
}
