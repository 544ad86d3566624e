"""Programs in Python, C, C++, JavaScript, Go, Rust and Java do what the interpreter says.

Each toolchain runs in the sandbox; a language that is not installed is skipped, by name.
"""

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.programs.check import check
from rlvr_envs.generators.programs.emit import emit
from rlvr_envs.generators.programs.interpret import interpret
from rlvr_envs.generators.programs.nodes import (
    Append,
    Assign,
    Binary,
    Bool,
    Call,
    For,
    Function,
    If,
    Int,
    Length,
    Let,
    ListOf,
    Neg,
    Not,
    Print,
    Program,
    Return,
    SetItem,
    Str,
    Var,
    While,
)
from rlvr_envs.generators.programs.random_program import MAX_STEPS, random_inputs, random_program
from rlvr_envs.generators.programs.stdin import stdin_text
from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.base import Case, Limits
from rlvr_envs.sandboxes.shared import shared_sandbox

LANGUAGES = ("python", "c", "cpp", "javascript", "go", "rust", "java")
N_RANDOM = 2
xs, ys, zs, i, j, n, s, t, w, e = map(Var, ("xs", "ys", "zs", "i", "j", "n", "s", "t", "w", "e"))
items, b, out = Var("items"), Var("b"), Var("out")


def agree(program, cases, language):
    job = languages.find(language).job(emit(program, language), limits=Limits(cpu_s=10))
    given = [Case(stdin=stdin_text(program, inputs).encode()) for inputs in cases]
    for inputs, result in zip(cases, shared_sandbox().run_batch(job, given), strict=True):
        expected = interpret(program, inputs, max_steps=MAX_STEPS).output
        where = f"{language} {inputs}\n{result.stderr.decode()[:800]}\n{emit(program, language)}"
        assert result.ok, where
        assert result.stdout.decode() == expected, where


@pytest.fixture(params=LANGUAGES)
def language(request):
    if not languages.find(request.param).available():
        pytest.skip(f"the toolchain of {request.param} is not installed")
    return request.param


def every_node():
    """A program that uses all that there is, in the places where languages differ."""
    lengths = Function(
        "lengths",
        (("b", "list"), ("s", "str"), ("flag", "bool")),
        "int",
        (If(Var("flag"), (Return(Length(b)),)), Return(Length(s) * Length(Str("abc")))),
    )
    doubled = Function(
        "doubled",
        (("items", "list"),),
        "list",
        (
            Let("out", "list", items),
            For("i", Int(0), Length(items), (SetItem("out", i, items[i] * 2),)),
            Return(out),
        ),
    )
    same = Function("same", (("items", "list"),), "list", (Return(items),))
    joined = Function(
        "joined",
        (("s", "str"), ("t", "str")),
        "str",
        (Let("w", "str", Binary("concat", s, t)), Return(Binary("concat", w, Str("!")))),
    )
    odd = Function(
        "odd",
        (("n", "int"),),
        "bool",
        (If(n.eq(0), (Return(Bool(False)),)), Return(Not(Call("odd", (n - 1,))))),
    )
    first = Function(
        "first", (("s", "str"),), "str", (If(Length(s) > 0, (Return(s[0]),)), Return(s))
    )
    statements = (
        Let("unused", "int", Int(5)),
        Assign("unused", Int(6)),
        Let("ys", "list", xs),
        Append("ys", n),
        SetItem("ys", Int(0), Int(99)),
        Print((xs,)),
        Print((ys,)),
        Print((Call("lengths", (xs, s, Bool(True))), Call("lengths", (xs, s, Length(xs) > 50)))),
        Print((Call("doubled", (Call("same", (xs,)),)),)),
        Let("zs", "list", Call("same", (xs,))),
        Append("zs", Int(1)),
        SetItem("zs", Int(0), Int(5)),
        Print((xs,)),
        Print((zs,)),
        Assign("zs", ys),
        Append("zs", Int(4)),
        Print((ys,)),
        Print((Call("joined", (s, t)), Call("first", (Call("joined", (s, t)),)))),
        Print((Call("joined", (Str("a\"\\$b'%@#{x}`${s}"), s[0])),)),
        Print((e,)),
        Let("w", "str", Str("")),
        For("i", Int(0), Length(s), (Assign("w", Binary("concat", s[i], w)),)),
        Print((w, s)),
        Assign("w", s),
        Assign("w", Str("")),
        Print((Length(w), Length(e))),
        If(s.eq(t), (Print((Str("same"),)),), (Print((Str("other"), Str("x y"))),)),
        If(
            s[0].ne("a") | (Call("odd", (Int(7),)) & ~Call("odd", (Int(4),))),
            (Print((Str("yes"),)),),
        ),
        If(
            (n > 0) & (Int(10) // n > 2),
            (Print((Int(1),)),),
            (If(n.eq(0), (Print((Int(2),)),), (Print((Int(3),)),)),),
        ),
        For("i", n, Int(3), (For("j", i, n + 1, (Print((i, j, -i - (-(j - i)), -(i - j) * 2)),)),)),
        For(
            "i",
            Int(0),
            Length(xs),
            (
                Append("xs", xs[i] * xs[Length(xs) - 1] % 101 - (xs[i] - n - (n - 3))),
                SetItem("xs", Length(xs) - 1, xs[Length(xs) - 1] + 1),
            ),
        ),
        Print((xs,)),
        Let("list", "list", ListOf((n, Int(-1), n * n))),
        Print((Var("list"),)),
        Let("print", "int", Int(0)),
        While(~((Var("print") >= 5) | Var("print").eq(3)), (Assign("print", Var("print") + 1),)),
        Print((Var("print"),)),
        Let("flag", "bool", n > Int(2)),
        Assign("flag", ~Var("flag") | (n < 0)),
        If(Var("flag"), (Print((Str("flag"),)),)),
        Print((Int(9007199254740991) - n * n, Int(94906265) * Int(94906265))),
        Print((Int(-9007199254740991) // 3, Int(-9007199254740991) % 1000003)),
        Print((Int(3) * Int(4) - Int(5), Neg(n), -(n * n), Int(999) * Int(999) * 999 * 999)),
    )
    divisions = tuple(
        Print((Int(left) // Int(right), Int(left) % Int(right), n // Int(right), n % right))
        for left in (-7, 7, -6, 6, 0, 123456789012)
        for right in (-3, 3, 5, -2)
    )
    extremes = (
        Print((Binary("min", Int(-7), n), Binary("max", n, Int(3)), Binary("min", n, n + 1))),
    )
    inputs = (("n", "int"), ("xs", "list"), ("s", "str"), ("e", "list"), ("t", "str"))
    functions = (lengths, doubled, same, joined, odd, first)
    return check(Program(inputs, functions, (*statements, *divisions, *extremes)))


def test_every_node(language):
    cases = [
        {"n": 3, "xs": [1, -2, 30], "s": "abc", "e": [], "t": "abc"},
        {"n": 1, "xs": [5], "s": "z", "e": [], "t": "hello w"},
        {"n": -2, "xs": [0, 0, 7, 8], "s": "a", "e": [], "t": "b"},
    ]
    agree(every_node(), cases, language)


@pytest.mark.parametrize("seed", range(N_RANDOM))
def test_random_programs(language, seed):
    rng = stream("emitted", seed)
    program = random_program(rng, size=9 + 14 * seed)
    cases = [
        random_inputs(rng, program, length=1 + 7 * k, magnitude=10**k if k else 1) for k in range(4)
    ]
    agree(program, cases, language)


def test_names_that_a_language_needs_are_kept_out(language):
    words = ("class", "for_each", "func", "fn", "int", "long", "print", "var", "let", "self")
    lets = tuple(Let(word, "int", n + k) for k, word in enumerate(words))
    program = Program((("n", "int"),), (), (*lets, Print(tuple(map(Var, words)))))
    agree(program, [{"n": 4}], language)


def test_a_program_without_inputs(language):
    agree(Program((), (), (Print((Int(7) * 6, Str("x"))),)), [{}], language)
