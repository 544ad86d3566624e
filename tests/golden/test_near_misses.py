"""Near misses are small, likely mistakes: one change each, always the same, never the reference."""

import pytest
from near_misses import SHORT, near_misses

PROGRAM = """def count(xs: list[int], bound: int) -> int:
    # how many + how much
    total = 0
    for x in xs:
        if x < bound and xs[x - 1]:
            total = total + 17
    return total
"""


def answers(reference, **options):
    return [miss.answer for miss in near_misses(reference, **options)]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("17", ["18", "71", "-17"]),
        ("9", ["8", "-9", "99"]),
        ("-3", ["-4", "3", "-33"]),
        ("3, 1, 2", ["3, 2, 2", "3, 2, 1", "3, 1"]),
        (r"\frac{9}{2}", [r"\frac{9}{3}", r"\frac{2}{9}", r"\frac{9}"]),
        (r"\{-3, 4\}", [r"\{-3, 5\}", r"\{4, -3\}", r"\{-3\}"]),
        ("3x^2 - 2x", ["3x^3 - 2x", "2x - 3x^2", "3x^2 + 2x"]),
        ("12 * 5", ["12 * 6", "5 * 12", "12 + 5"]),
        ("TTF", ["TFF", "TFT", "TT"]),
        ("U", ["D", "UU"]),
        ("DDL", ["DUL", "DLD", "DD"]),
        ("# .\n. #", ["# .\n# #", ". #\n. #", "# .\n."]),
        ("0 1\n1 0", ["0 1\n0 0", "1 0\n1 0", "0 1\n1"]),
        ("Tess", ["Tees", "Tses", "Tes"]),
        ("Sue, Dan", ["Sue, Den", "Dan, Sue", "Sue"]),
    ],
)
def test_an_answer_gets_one_small_mistake(reference, expected):
    assert answers(reference)[:3] == expected


def test_latex_commands_are_not_items():
    matrix = r"\begin{pmatrix} 3 & 1 \\ 2 & 4 \end{pmatrix}"
    assert answers(matrix)[:3] == [
        r"\begin{pmatrix} 3 & 1 \\ 3 & 4 \end{pmatrix}",
        r"\begin{pmatrix} 3 & 2 \\ 1 & 4 \end{pmatrix}",
        r"\begin{pmatrix} 3 & 1 \\ 2 \end{pmatrix}",
    ]


def test_a_program_gets_another_operator_or_constant():
    made = answers(PROGRAM, program=True)
    assert made[:3] == [
        PROGRAM.replace("bound and xs", "bound or xs"),
        PROGRAM.replace("x < bound", "x <= bound"),
        PROGRAM.replace("total + 17", "total - 17"),
    ]
    assert PROGRAM.replace("17", "18") in made
    assert PROGRAM.replace("total = 0", "total = 1") in made


@pytest.mark.parametrize(
    "line",
    [
        "    # a + b",
        '    """Return the least + 1."""',
        "// a + b",
        "-- a + b",
        "for (int i = 0; i < 3; i++)",
        "while i < 3:",
        "input [1:0] a + b",
        "always_ff @(posedge clk or negedge rst)",
        "y = xs[i - 1]",
    ],
)
def test_lines_whose_change_says_nothing_keep_their_operators(line):
    made = answers(f"{line}\nreturn a * b % c\n", program=True)
    assert sorted(made[:2]) == [f"{line}\nreturn a * b + c\n", f"{line}\nreturn a + b % c\n"]


@pytest.mark.parametrize(
    ("constant", "other"),
    [("3'd7", "3'd6"), ("1'b0", "1'b1"), ("8'hce", "8'hcf"), ("4'd9", "4'd8"), ("29", "28")],
)
def test_constants_of_hardware_keep_their_width(constant, other):
    made = answers(f"logic [3:0] y;\nassign y = {constant};", program=True)
    assert made[0] == f"logic [3:0] y;\nassign y = {other};"


def test_of_a_declaration_a_type_is_changed():
    stub = "def f(k: int, m: list[str]) -> bool: ..."
    assert answers(stub, program=True)[0] == stub.replace("bool", "int")


def test_an_episode_gets_one_other_action_or_order():
    moves = [r"\boxed{U}", r"\boxed{U}", r"\boxed{R}", r"\boxed{D}"]
    made = near_misses(moves)
    assert made[0] == ("action 4 of 4: U", [*moves[:3], r"\boxed{U}"])
    assert made[1] == ("action 3 of 4: L", [*moves[:2], r"\boxed{L}", moves[3]])
    swapped = [moves[0], moves[2], moves[1], moves[3]]
    assert made[-1] == ("actions 2 and 3 of 4 swapped", swapped)


def test_an_episode_ends_in_a_wrong_answer_or_program():
    search = ['<search>"Foladorf"</search>', "<answer>143</answer>"]
    assert answers(search)[0] == [search[0], "<answer>144</answer>"]
    program = ["```python\nprint(a + b)\n```"]
    assert answers(program)[0] == ["```python\nprint(a - b)\n```"]


@pytest.mark.parametrize(
    "reference",
    [
        "0",
        "x",
        "∅",
        "unanswerable",
        "a b",
        "1\n2\n3",
        PROGRAM,
        ["one"],
        [r"\boxed{U}"] * 3,
        ["1", "2"],
    ],
)
@pytest.mark.parametrize("program", [False, True])
def test_near_misses_are_named_apart_and_never_the_reference(reference, program):
    made = near_misses(reference, program=program)
    assert made
    assert made == near_misses(reference, program=program)
    assert len({miss.what for miss in made}) == len(made)
    assert all(miss.answer != reference for miss in made)


def test_a_short_answer_is_shown_whole_and_of_a_long_one_the_change():
    assert [miss.what for miss in near_misses("1, 2, 3")] == answers("1, 2, 3")
    long = "first line\n" + ", ".join(map(str, range(30)))
    shown = [miss.what for miss in near_misses(long)]
    assert shown[0] == "line 2: 3, 14, 15, 16, 17 -> 3, 14, 16, 16, 17"
    assert all(len(what) <= 4 * SHORT for what in shown)
