"""Helper functions of random programs: idioms with constants drawn at random.

Each takes integers of any sign below `VARIABLE_BOUND`, or a list, and ends after few steps.
"""

from collections.abc import Callable

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.programs import nodes

A, B, N, XS, AT = nodes.Var("a"), nodes.Var("b"), nodes.Var("n"), nodes.Var("xs"), nodes.Var("i")
OUT = nodes.Var("out")
Made = tuple[nodes.Function, int]  # a function, and the largest magnitude of what it returns


def random_function(rng: Rng, taken: set[str]) -> Made | None:
    """Return a function under a name that is not taken, or None where every idiom is."""
    makers = [maker for name, maker in _MAKERS.items() if name not in taken]
    return pick(rng, makers)(rng) if makers else None


def _digit_sum(rng: Rng) -> Made:
    base = pick(rng, (2, 3, 10, 10))
    body = (
        nodes.Let("rest", "int", nodes.Binary("max", N, -N)),
        nodes.Let("out", "int", nodes.Int(0)),
        nodes.While(
            nodes.Var("rest") > 0,
            (
                nodes.Assign("out", OUT + nodes.Var("rest") % base),
                nodes.Assign("rest", nodes.Var("rest") // base),
            ),
        ),
        nodes.Return(OUT),
    )
    return nodes.Function("digit_sum", (("n", "int"),), "int", body), 100


def _common_divisor(rng: Rng) -> Made:
    body = (
        nodes.If(B.eq(0), (nodes.Return(nodes.Binary("max", A, -A)),)),
        nodes.Return(nodes.Call("gcd", (B, A % B))),
    )
    return nodes.Function("gcd", (("a", "int"), ("b", "int")), "int", body), 10**9


def _collatz(rng: Rng) -> Made:
    factor, start = pick(rng, ((3, 1), (3, 1), (5, 1), (3, 5))), integer(rng, 20, 60)
    value = nodes.Var("value")
    body = (
        nodes.Let("value", "int", N % start + 1),
        nodes.Let("out", "int", nodes.Int(0)),
        nodes.While(
            (value > 1) & (integer(rng, 8, 40) > OUT),
            (
                nodes.If(
                    (value % 2).eq(0),
                    (nodes.Assign("value", value // 2),),
                    (nodes.Assign("value", (value * factor[0] + factor[1]) % 10_007),),
                ),
                nodes.Assign("out", OUT + 1),
            ),
        ),
        nodes.Return(OUT),
    )
    return nodes.Function("collatz_steps", (("n", "int"),), "int", body), 40


def _mix(rng: Rng) -> Made:
    modulus = pick(rng, (97, 101, 128, 251, 1000, 1009))
    value = (A * integer(rng, 2, 12) + B * integer(rng, 2, 12) + integer(rng, 0, 30)) % modulus
    return nodes.Function(
        "mix", (("a", "int"), ("b", "int")), "int", (nodes.Return(value),)
    ), modulus


def _choose(rng: Rng) -> Made:
    first, second = (A - B, A + B) if rng.random() < 0.5 else (A * 2 - B, B * 3 - A)
    condition = (A % integer(rng, 2, 4)).eq(0) if rng.random() < 0.5 else A > B
    body = (nodes.If(condition, (nodes.Return(first),)), nodes.Return(second))
    return nodes.Function("choose", (("a", "int"), ("b", "int")), "int", body), 4 * 10**9


def _clamp(rng: Rng) -> Made:
    low = integer(rng, -10, 5)
    high = low + integer(rng, 5, 40)
    value = nodes.Binary("max", nodes.Int(low), nodes.Binary("min", nodes.Int(high), N))
    return nodes.Function("clamp", (("n", "int"),), "int", (nodes.Return(value),)), 60


def _power(rng: Rng) -> Made:
    modulus = pick(rng, (97, 101, 997, 1009))
    half = nodes.Call("power", (A, B // 2))
    body = (
        nodes.If(B <= 0, (nodes.Return(nodes.Int(1)),)),
        nodes.Let("half", "int", half),
        nodes.Let("out", "int", nodes.Var("half") * nodes.Var("half") % modulus),
        nodes.If((B % 2).eq(1), (nodes.Assign("out", OUT * (A % modulus) % modulus),)),
        nodes.Return(OUT),
    )
    return nodes.Function("power", (("a", "int"), ("b", "int")), "int", body), modulus


def _tally(rng: Rng) -> Made:
    modulus = integer(rng, 2, 5)
    condition: nodes.Expression = pick(
        rng,
        (
            XS[AT] > A,
            XS[AT] < A,
            (XS[AT] % modulus).eq(A % modulus),
            (XS[AT] + AT) % modulus > A % modulus,
        ),
    )
    body = (
        nodes.Let("out", "int", nodes.Int(0)),
        nodes.For(
            "i",
            nodes.Int(0),
            nodes.Length(XS),
            (nodes.If(condition, (nodes.Assign("out", OUT + 1),)),),
        ),
        nodes.Return(OUT),
    )
    return nodes.Function("tally", (("xs", "list"), ("a", "int")), "int", body), 4000


def _alternate(rng: Rng) -> Made:
    modulus, every = pick(rng, (97, 1000, 1009)), integer(rng, 2, 4)
    body = (
        nodes.Let("out", "int", nodes.Int(0)),
        nodes.For("i", nodes.Int(0), nodes.Length(XS), (
            nodes.If((AT % every).eq(A % every), (nodes.Assign("out", OUT + XS[AT] % modulus),), (
                nodes.Assign("out", OUT - XS[AT] % modulus),
            )),
        )),
        nodes.Return(OUT),
    )  # fmt: skip
    return nodes.Function("alternate", (("xs", "list"), ("a", "int")), "int", body), 4_000_000


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
