"""Programs in seven languages do what the interpreter of their representation says they do.

Each language's toolchain runs in the sandbox; a language that is not installed is skipped, by name.
"""

import pytest

from rlvr_envs.core.seeding import stream
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
    Index,
    Int,
    Length,
    Let,
    ListOf,
    Neg,
    Print,
    Program,
    Return,
    SetItem,
    Str,
    Var,
    While,
    wrap,
)
from rlvr_envs.generators.programs.random_program import MAX_STEPS, random_inputs, random_program
from rlvr_envs.generators.programs.stdin import stdin_text
from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.base import Case, Limits
from rlvr_envs.sandboxes.shared import shared_sandbox

LANGUAGES = ("lua", "r", "ocaml", "fortran", "ruby", "perl", "bash")
LARGEST = 2**53 - 1
LIMITS = Limits(cpu_s=20)

a, b, c, i, j, n, s, t, x, y, xs, ys = map(Var, "a b c i j n s t x y xs ys".split())  # noqa: SIM905


def lowest(left, right):
    return Binary("min", wrap(left), wrap(right))


def highest(left, right):
    return Binary("max", wrap(left), wrap(right))


def joined(left, right):
    return Binary("concat", left, right)


def both_agree(program, cases, language):
    found = languages.find(language)
    if not found.available():
        pytest.skip(f"{language} is not installed: {found.install}")
    source = emit(program, language)
    job = found.job(source, limits=LIMITS)
    runs = [Case(stdin=stdin_text(program, inputs).encode()) for inputs in cases]
    results = shared_sandbox().run_batch(job, runs)
    for inputs, result in zip(cases, results, strict=True):
        expected = interpret(program, inputs, max_steps=MAX_STEPS).output
        assert result.ok, (inputs, result.detail, result.stderr.decode(), source)
        assert result.stdout.decode() == expected, (inputs, source)
        assert result.stderr == b"", (inputs, source)


DIVISION = Program(
    (("a", "int"), ("b", "int")),
    (),
    (
        Print((a // b, a % b)),
        Print((-a // b, -a % b, a // -b, a % -b)),
        Print((-(a // b), -(a % b), (a // b) * b + a % b)),
        Print((a % b % b, a // b // b, a - (b - 3), a - b - 3)),
        Print(((a % 1000) * (b % 1000) % 7, (a % 1000) * ((b % 1000) % 7), (a + b) % 10)),
        Print((lowest(a, b), highest(a // 2, b), lowest(a % b, lowest(3, b - 1)))),
        Print((Neg(Neg(a)), a - Int(-5), Int(-7) // 2, Int(-7) % 2, Int(7) // -2, Neg(Int(-3)))),
    ),
)
PAIRS = [
    (p, q) for p in (0, 1, 7, -7, 100, -100, LARGEST // 2, -(LARGEST // 2)) for q in (3, -3, 10)
]
PAIRS += [(LARGEST // 3 * 2, 2), (-(LARGEST // 3 * 2), 2), (LARGEST // 3 * 2, LARGEST // 3)]

LARGE = Program(
    (("a", "int"),),
    (),
    (
        Let("b", "int", a - 1),
        Print((a, b, b // 3, b % 1000003, -a // 2, (a // 7) * 7, Int(LARGEST), Int(-LARGEST))),
        Let("c", "int", Int(94906265) * 94906265),
        Print((c, c % 94906267, c // 94906267, Int(100000) * 100000, Int(100000))),
    ),
)

LISTS = Program(
    (("xs", "list"), ("n", "int")),
    (
        Function(
            "doubled",
            (("items", "list"), ("factor", "int")),
            "list",
            (
                Let("out", "list", ListOf()),
                For(
                    "i",
                    Int(0),
                    Length(Var("items")),
                    (Append("out", Var("items")[i] * Var("factor")),),
                ),
                Return(Var("out")),
            ),
        ),
        Function("same", (("items", "list"),), "list", (Return(Var("items")),)),
        Function(
            "dot",
            (("left", "list"), ("scale", "int"), ("other", "list")),
            "int",
            (
                Let("total", "int", Int(0)),
                For(
                    "i",
                    Int(0),
                    lowest(Length(Var("left")), Length(Var("other"))),
                    (
                        Assign(
                            "total", Var("total") + Var("left")[i] * Var("other")[i] * Var("scale")
                        ),
                    ),
                ),
                Return(Var("total")),
            ),
        ),
    ),
    (
        Let("ys", "list", xs),
        Let("zs", "list", Call("same", (xs,))),
        Append("ys", n),
        SetItem("ys", Int(0), Int(-1)),
        Append("zs", Int(5)),
        Append("zs", Length(xs) + Length(ys)),
        SetItem("zs", Length(Var("zs")) - 1, ys[Length(ys) - 1] + 1),
        Print((xs,)),
        Print((ys,)),
        Print((Var("zs"),)),
        Print((Call("doubled", (ys, Int(3))),)),
        Print((Call("dot", (xs, Int(2), ys)), Call("dot", (ys, n, ys)))),
        Let("fixed", "list", ListOf((Int(4), n, Int(0), n * 2))),
        Let("none", "list", ListOf()),
        Print((Var("none"),)),
        Print((Length(Var("none")), Length(Call("doubled", (Var("fixed"), n))))),
        Assign("xs", Var("fixed")),
        SetItem("xs", xs[2], Int(77)),
        Print((xs[0], xs[xs[2]], xs[n - n + 1], Var("fixed")[0])),
        For("i", Int(0), Length(xs), (Append("xs", i),)),
        Print((xs,)),
        Assign("xs", ListOf()),
        Print((xs,)),
        Assign("n", Int(2)),
        For("i", n - 1, n + 1, (Assign("n", n + i), Print((i, n)))),
        For("i", Int(3), Int(3), (Print((Int(999),)),)),
        For("i", Int(5), n - 20, (Print((Int(999),)),)),
    ),
)
ITEMS = [([], 4), ([0], 0), ([3, -1, 2], 2), (list(range(-30, 30)), -3)]

FIXED_LISTS = Program(
    (("xs", "list"),),
    (Function("first", (("items", "list"),), "int", (Return(Var("items")[0]),)),),
    (
        Let("ys", "list", xs),
        For("i", Int(0), Length(xs), (SetItem("ys", Length(xs) - 1 - i, xs[i]),)),
        Print((xs,)),
        Print((ys,)),
        Print((Call("first", (ys,)),)),
        Let("none", "list", ListOf()),
        Print((Var("none"),)),
    ),
)

STRINGS = Program(
    (("s", "str"), ("t", "str"), ("n", "int")),
    (
        Function(
            "reverse_of",
            (("text", "str"),),
            "str",
            (
                Let("out", "str", Str("")),
                For(
                    "i",
                    Int(0),
                    Length(Var("text")),
                    (Assign("out", joined(Var("text")[i], Var("out"))),),
                ),
                Return(Var("out")),
            ),
        ),
        Function(
            "is_palindrome",
            (("text", "str"),),
            "bool",
            (Return(Call("reverse_of", (Var("text"),)).eq(Var("text"))),),
        ),
        Function(
            "shout",
            (("text", "str"), ("times", "int")),
            "str",
            (
                If((Var("times") < 1) | Length(Var("text")).eq(0), (Return(Str("none")),)),
                Return(
                    joined(
                        Var("text"),
                        joined(Str("!"), Call("shout", (Var("text"), Var("times") - 1))),
                    )
                ),
            ),
        ),
    ),
    (
        Print((s,)),
        Print((t, Length(t), Length(joined(s, t)))),
        Print((joined(joined(s, Str("<")), joined(t, Str(">"))), Int(1))),
        Print(
            (
                Call(
                    "reverse_of",
                    (joined(t, Str("xy")),),
                ),
                n,
            )
        ),
        If(s.eq(t), (Print((Str("equal"),)),), (Print((Str("different"),)),)),
        If(s.ne(t) & (n > 0), (Print((Str("and"),)),)),
        If(s.eq(joined(t, Str(" "))), (Print((Str("trailing blank"),)),)),
        Let("sure", "bool", s.eq(Str("")) | (n % 2).eq(0)),
        If(Var("sure"), (Print((Str("sure"), s, n)),)),
        If(Call("is_palindrome", (s,)), (Print((Str("palindrome"),)),)),
        If(~Call("is_palindrome", (t,)), (Print((Str("no palindrome"),)),)),
        Print((Call("shout", (t, Int(2))),)),
        Print(
            (Index(joined(t, Str("end")), Int(0)), Index(Str("abc"), n % 3), Length(Str("four")))
        ),
        Print(
            (Str("quote \" back \\ tick ` dollar $x ${y} $(z) hash #{n} @xs %s %d 'single' ~ !"),)
        ),
        Print((Str("-n"),)),
        Print((Str("\\n\\t"), Str("&"), Str("//"))),
        Print((Str("--"), Str("[*]"), Str(" two  blanks "))),
        Let("out", "str", Str("")),
        For(
            "i",
            Int(0),
            Length(s),
            (If(s[i].ne(Str(" ")), (Assign("out", joined(Var("out"), s[i])),)),),
        ),
        Print((Str("["), Var("out"), Str("]"))),
    ),
)
TEXTS = [
    ("a", "b", 1),
    ("abba", "abba", 2),
    ("a b", "a", 3),
    ("x  $HOME *  `ls` \\n %d", 'it\'s "q" #{1}', 4),
    ("-n", "-e", 5),
    ("level", "[a-z]*", -3),
]

LOGIC = Program(
    (("xs", "list"), ("a", "int"), ("b", "int"), ("s", "str")),
    (
        Function(
            "is_even",
            (("k", "int"),),
            "bool",
            (If(Var("k").eq(0), (Return(Bool(True)),)), Return(Call("is_odd", (Var("k") - 1,)))),
        ),
        Function(
            "is_odd",
            (("k", "int"),),
            "bool",
            (Return(Var("k").ne(0) & Call("is_even", (Var("k") - 1,))),),
        ),
        Function(
            "down",
            (("k", "int"),),
            "bool",
            (Return((Var("k") <= 0) | Call("down", (Var("k") - 1,))),),
        ),
        Function("answer", (), "int", (Return(Int(42)),)),
    ),
    (
        Let("at", "int", Int(0)),
        While(
            (Var("at") < Length(xs)) & (xs[Var("at")] >= 0),
            (Assign("at", Var("at") + 1),),
        ),
        Print((Str("first negative at"), Var("at"))),
        If(b.ne(0) & (a // b > 2), (Print((Str("large quotient"),)),), (Print((Str("small"),)),)),
        If(b.eq(0) | (a % b).eq(0), (Print((Str("divides"),)),)),
        If(~(b.ne(0) & ((a + b) % b).eq(1)), (Print((Str("no one"),)),)),
        Let("at_end", "bool", (Length(xs) > 0) & (xs[Length(xs) - 1] % 2).eq(0)),
        Let("never", "bool", Bool(False)),
        If(Var("at_end") & ~Var("never"), (Print((Str("ends even"),)),)),
        If(
            Call("is_even", (highest(a, 0) % 50,)),
            (Print((Str("even"),)),),
            (
                If(
                    Call("is_odd", (highest(a, 0) % 50,)) & Call("down", (Int(5),)),
                    (Print((Str("odd"), Call("answer", ()))),),
                    (Print((Str("never"),)),),
                ),
            ),
        ),
        If(
            (Length(s) > 2) & (s[2].eq(Str("x")) | (s[0].eq(Str("x")) & (a < b))),
            (Print((Str("an x"),)),),
            (
                If(
                    (Length(s) > 0) & s[Length(s) - 1].eq(Str("z")),
                    (Print((Str("ends in z"),)),),
                    (If(a < b, (Print((Str("less"),)),), (Print((Str("not less"),)),)),),
                ),
            ),
        ),
        Let("place", "int", Int(0)),
        While(
            (Var("place") < Length(s)) & s[Var("place")].ne(Str("x")),
            (Assign("place", Var("place") + 1),),
        ),
        Print((Var("place"),)),
        While(
            Call("is_even", (highest(Var("place"), 0),)) | (Var("place") > 100),
            (Assign("place", Var("place") + 3), If(a.eq(b), (), (Print((Var("place"),)),))),
        ),
        Assign("never", (a < b) | ((b < 3) & ~(a.eq(5)))),
        If(Var("never"), (Print((Str("at last"),)),)),
        If((a < b) & (b < 9) | (a > b) & (b > 9), (Print((Str("mixed"),)),)),
        If((a < b) & ((b < 9) | (a > 0)), (Print((Str("nested"),)),)),
    ),
)
FACTS = [
    ([], 0, 0, "y"),
    ([1, 2, -3, 4], 7, 2, "abxz"),
    ([5], 9, 3, "xbz"),
    ([5, 6], -9, 4, "x"),
    ([0, 0, 8], 12, 12, "zz"),
    ([-1], 35, 17, "abcdefgh xyz"),
]

RETURNS = Program(
    (("n", "int"), ("xs", "list")),
    (
        Function(
            "smallest_factor",
            (("k", "int"),),
            "int",
            (
                For("d", Int(2), Var("k"), (If((Var("k") % Var("d")).eq(0), (Return(Var("d")),)),)),
                Return(Var("k")),
            ),
        ),
        Function(
            "find",
            (("items", "list"), ("wanted", "int")),
            "int",
            (
                Let("at", "int", Int(0)),
                While(
                    Var("at") < Length(Var("items")),
                    (
                        If(
                            Var("items")[Var("at")].eq(Var("wanted")),
                            (Return(Var("at")),),
                            (Assign("at", Var("at") + 1),),
                        ),
                    ),
                ),
                Return(Int(-1)),
            ),
        ),
        Function(
            "grade",
            (("k", "int"),),
            "str",
            (
                If(Var("k") < 0, (Return(Str("negative")),)),
                Let("word", "str", Str("small")),
                If(
                    Var("k") < 10,
                    (If(Var("k").eq(3), (Return(Str("three")),)), Assign("word", Str("digit"))),
                    (If(Var("k") > 50, (Assign("word", Str("large")),)),),
                ),
                Return(Var("word")),
            ),
        ),
        Function(
            "sign",
            (("k", "int"),),
            "int",
            (
                Let("zero", "int", Int(0)),
                If(
                    Var("k") < Var("zero"),
                    (Return(Int(-1)),),
                    (If(Var("k").eq(Var("zero")), (Return(Var("zero")),)),),
                ),
                Return(Int(1)),
            ),
        ),
        Function(
            "fib",
            (("k", "int"),),
            "int",
            (
                If(Var("k") < 2, (Return(Var("k")),)),
                Return(Call("fib", (Var("k") - 1,)) + Call("fib", (Var("k") - 2,))),
            ),
        ),
        Function(
            "gcd",
            (("p", "int"), ("q", "int")),
            "int",
            (
                If(Var("q").eq(0), (Return(Var("p")),)),
                Return(Call("gcd", (Var("q"), Var("p") % Var("q")))),
            ),
        ),
        Function(
            "evens",
            (("items", "list"), ("limit", "int")),
            "list",
            (
                Let("out", "list", ListOf()),
                For(
                    "i",
                    Int(0),
                    Length(Var("items")),
                    (
                        If((Var("items")[i] % 2).eq(0), (Append("out", Var("items")[i]),)),
                        If(Length(Var("out")) >= Var("limit"), (Return(Var("out")),)),
                    ),
                ),
                Return(Var("out")),
            ),
        ),
        Function(
            "depth",
            (("k", "int"),),
            "int",
            (If(Var("k").eq(0), (Return(Int(0)),)), Return(Call("depth", (Var("k") - 1,)) + 1)),
        ),
    ),
    (
        Print((Call("smallest_factor", (highest(n, 2),)), Call("find", (xs, n)))),
        Print((Call("sign", (n - 2,)), Call("sign", (n - 3,)), Call("sign", (Int(-4),)))),
        Print((Call("grade", (n,)), Call("grade", (Int(-1),)), Call("grade", (Int(3),)))),
        Print((Call("fib", (Int(12),)), Call("gcd", (n * 6, Int(84))))),
        Print((Call("evens", (xs, Int(2))),)),
        Print((Call("fib", (Call("fib", (Int(6),)),)) * 2 - Call("gcd", (Int(12), n)) // 2,)),
        Let("total", "int", Int(0)),
        For(
            "i",
            Int(0),
            Int(4),
            (
                Let("k", "int", i * 2),
                For(
                    "j",
                    i,
                    Var("k") + 1,
                    (
                        Let("part", "int", Call("gcd", (i + 6, j + 6))),
                        Assign("total", Var("total") + Var("part") * Var("k")),
                        Assign("k", Var("k") + 1),
                    ),
                ),
            ),
        ),
        For("i", Int(1), Int(3), (Let("k", "int", i), Assign("total", Var("total") - Var("k")))),
        Print((Var("total"),)),
        Print((Call("depth", (Int(100),)),)),
        SetItem("xs", Call("find", (xs, xs[0])), Call("depth", (Int(3),))),
        Append("xs", Call("fib", (Int(7),)) % Call("fib", (Int(5),))),
        Print((xs,)),
    ),
)
RETURNS_CASES = [(1, [4]), (3, [1, 3, 8, 6, 4]), (91, [2, 2]), (12, [7, 12, 13])]

NAMES = Program(
    (("end", "int"), ("local", "list"), ("my", "str")),
    (
        Function(
            "print",
            (("function", "int"), ("val", "int")),
            "int",
            (Let("result", "int", Var("function") + Var("val")), Return(Var("result"))),
        ),
        Function("sort", (("copy", "list"),), "list", (Return(Var("copy")),)),
        Function("echo", (("do", "str"),), "str", (Return(Var("do")),)),
    ),
    (
        Let("then", "int", Call("print", (Var("end"), Int(1)))),
        Let("integer", "int", Var("then") * 2),
        Let("size", "int", Length(Var("local"))),
        Let("sum", "int", Int(0)),
        For("for", Int(0), Var("size"), (Assign("sum", Var("sum") + Var("local")[Var("for")]),)),
        Let("modulo", "int", Var("sum") % 5),
        Let("length", "list", Call("sort", (Var("local"),))),
        Append("length", Var("modulo")),
        Let("c", "int", Int(3)),
        Let("t", "bool", Var("c") > 2),
        Let("data", "int", Int(8)),
        Let("max", "int", highest(Var("c"), Var("data"))),
        If(Var("t"), (Print((Var("then"), Var("integer"), Var("size"), Var("sum"), Var("max"))),)),
        Print((Call("echo", (Var("my"),)), Length(Var("my")))),
        Print((Var("length"),)),
        Print((Var("local"),)),
    ),
)

# What random programs found: signs before variables that change, sums that begin and end with a
# parenthesis, branches that hold nothing, lengths as numbers.
CORNERS = Program(
    (("a", "int"), ("xs", "list"), ("s", "str")),
    (
        Function(
            "cube",
            (("items", "list"),),
            "int",
            (
                Let("size", "int", Length(Var("items")) * Length(Var("items"))),
                Return(Var("size") * Length(Var("items"))),
            ),
        ),
        Function("many", (("k", "int"),), "int", (Return(Var("k") * Var("k") * Var("k")),)),
        Function(
            "signed",
            (("k", "int"),),
            "int",
            (
                For("i", Int(0), Int(3), (If(i > Var("k"), (Return(-(i + 1) * (Var("k") + 2)),)),)),
                Return(-(Var("k") + 1) + (Var("k") - 1)),
            ),
        ),
    ),
    (
        Let("b", "int", -(a + 1) + (a - 1) * (a + 2)),
        Assign("b", -b - (-a)),
        Print((-b, Neg(Neg(b)), Int(3) - (-b), (a + 1) * (b - 1))),
        If(b < 0, (), (Print((Str("not below"),)),)),
        If(~(b < 0) | (a > 3), (), (Print((Str("neither"),)),)),
        If(a > 0, (), ()),
        If(a > 0, (If(a > 1, (), ()),), (If(a < -1, (), (Print((Str("inner"),)),)),)),
        While((b > 5) & (a > 900), ()),
        For("i", Int(0), Int(2), ()),
        Print((Call("cube", (xs,)), Call("many", (Length(xs),)), Call("signed", (a,)))),
        Let("n", "int", Length(s) * Length(s)),
        Print((n * n * n, Length(s) * Length(s) * Length(s), Neg(Length(s)))),
        SetItem("xs", Int(0), Length(xs) * Length(s)),
        Let("ys", "list", ListOf((Length(xs), Length(s)))),
        Append("ys", ys[1] * ys[1] * ys[1] * ys[1]),
        Print((ys,)),
        Print((xs[0] * xs[0] * ys[0], lowest(Length(s), a) - highest(Length(s), -a))),
        Print((s[lowest(Length(s) - 1, highest(a, 0))], Index(joined(s, s), Length(s)))),
    ),
)

INTS = [{"a": p, "b": q} for p, q in PAIRS]
PROGRAMS = {
    "division": (DIVISION, INTS),
    "large": (LARGE, [{"a": LARGEST}, {"a": 2}, {"a": 7 - LARGEST}, {"a": 123456789012345}]),
    "lists": (LISTS, [{"xs": p, "n": q} for p, q in ITEMS]),
    "fixed lists": (FIXED_LISTS, [{"xs": [3]}, {"xs": [5, -2, 9]}]),
    "strings": (STRINGS, [{"s": p, "t": q, "n": r} for p, q, r in TEXTS]),
    "logic": (LOGIC, [{"xs": p, "a": q, "b": r, "s": w} for p, q, r, w in FACTS]),
    "returns": (RETURNS, [{"n": p, "xs": q} for p, q in RETURNS_CASES]),
    "corners": (
        CORNERS,
        [
            {"a": 4, "xs": [7] * 600, "s": "abcdefghij" * 8},
            {"a": -3, "xs": [1], "s": "x"},
            {"a": 0, "xs": [5, 6], "s": "yz"},
        ],
    ),
    "names": (NAMES, [{"end": 5, "local": [2, 5], "my": "yes"}]),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_what_the_interpreter_does(name, language):
    both_agree(*PROGRAMS[name], language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("seed", range(4))
def test_a_random_program_does_what_the_interpreter_does(seed, language):
    rng = stream("emitters", seed)
    program = random_program(rng, size=6 + 6 * seed)
    both_agree(program, [random_inputs(rng, program) for _ in range(3)], language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_emitted_is_plain_text(language):
    for program, _ in PROGRAMS.values():
        source = emit(program, language)
        assert source.isascii()
        assert source.endswith("\n")
        assert not source.endswith("\n\n")
        assert all(line == line.rstrip() for line in source.splitlines())
