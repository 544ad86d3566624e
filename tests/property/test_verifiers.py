"""Laws of the math verifier and of the cheap parsers."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.verifiers import exact, parse
from rlvr_envs.verifiers.mathtext.normalise import normalise, unwrap
from rlvr_envs.verifiers.mathtext.reader import read
from rlvr_envs.verifiers.mathtext.values import Scalar
from rlvr_envs.verifiers.symbolic import compile_gold, judge_math, verify_math

ANY_TEXT = st.text(st.characters(codec=None), max_size=60)
MATH_TEXT = st.text(
    st.sampled_from(list(r"0123456789+-*/^_(){}[]|,.;:=<>!%'$\xyzin e")), max_size=40
)
COMMANDS = st.lists(
    st.sampled_from(
        [
            r"\frac",
            r"\sqrt",
            r"\left(",
            r"\right)",
            r"\pi",
            r"\text{a}",
            r"\infty",
            r"\pm",
            "{",
            "}",
            "1",
            "23",
            "x",
            "^",
            "_",
            "+",
            "-",
            " ",
            ",",
            "(",
            ")",
            "[",
            "]",
            r"\begin{pmatrix}",
            "&",
            r"\\",
            r"\end{pmatrix}",
            "=",
            "<",
            r"\cup",
            r"\sin",
            r"\log",
            "|",
            "!",
            r"^\circ",
            r"\%",
        ]
    ),
    max_size=14,
).map("".join)
FRACTIONS = st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=10**4)
COEFFICIENTS = st.lists(st.integers(-9, 9), min_size=2, max_size=5)


@given(
    gold=st.one_of(ANY_TEXT, MATH_TEXT, COMMANDS), answer=st.one_of(ANY_TEXT, MATH_TEXT, COMMANDS)
)
@settings(max_examples=300, deadline=None)
def test_any_text_gives_a_verdict(gold: str, answer: str) -> None:
    verdict = judge_math(gold, answer)
    assert isinstance(verdict, Verdict)
    unverifiable = not compile_gold(gold).verifiable
    assert (verdict.status is Status.VERIFIER_ERROR) == unverifiable


@given(gold=st.one_of(MATH_TEXT, COMMANDS))
@settings(max_examples=200, deadline=None)
def test_a_verifiable_gold_accepts_itself(gold: str) -> None:
    if compile_gold(gold).verifiable:
        assert judge_math(gold, gold).score == 1.0
        if "{" not in gold and "}" not in gold and "\\" not in gold and gold.strip():
            assert verify_math(gold, f"so \\boxed{{{gold}}}").score == 1.0


@given(text=st.one_of(ANY_TEXT, MATH_TEXT, COMMANDS))
@settings(max_examples=200, deadline=None)
def test_normalising_never_fails_and_unwrapping_only_shortens(text: str) -> None:
    assert isinstance(normalise(text), str)
    assert unwrap(text) in text


def spellings(value: Fraction) -> list[str]:
    """Return ways to write a rational."""
    top, bottom = value.numerator, value.denominator
    ways = [f"{top}/{bottom}", rf"\frac{{{top}}}{{{bottom}}}", rf"\dfrac{{{top}}}{{ {bottom} }}"]
    ways += [rf"$\frac{{{2 * top}}}{{{2 * bottom}}}$", rf"x = \frac{{{top}}}{{{bottom}}}"]
    if bottom == 1:
        ways += [str(top), f"{top}.", f"{top:,}", f"{top:,}".replace(",", "{,}")]
    whole, rest = divmod(abs(top), bottom)
    if whole and rest:
        sign = "-" if top < 0 else ""
        ways += [rf"{sign}{whole}\frac{{{rest}}}{{{bottom}}}", f"{sign}{whole} {rest}/{bottom}"]
    return ways


@given(value=FRACTIONS, data=st.data())
@settings(max_examples=200, deadline=None)
def test_every_spelling_of_a_rational_is_the_same_number(
    value: Fraction, data: st.DataObject
) -> None:
    gold, answer = (data.draw(st.sampled_from(spellings(value))) for _ in range(2))
    assert judge_math(gold, answer).score == 1.0
    other = value + data.draw(st.sampled_from([1, -1, Fraction(1, 7), -2 * value or 3]))
    assert judge_math(gold, data.draw(st.sampled_from(spellings(other)))).score == 0.0


def polynomial(coefficients: list[int], order: list[int]) -> str:
    """Write a polynomial with its terms in some order."""
    terms = [f"({coefficients[power]}) x^{{{power}}}" for power in order]
    return " + ".join(terms)


@given(coefficients=COEFFICIENTS, data=st.data())
@settings(max_examples=150, deadline=None)
def test_order_of_terms_and_factoring_do_not_matter(
    coefficients: list[int], data: st.DataObject
) -> None:
    powers = list(range(len(coefficients)))
    gold = polynomial(coefficients, powers)
    shuffled = polynomial(coefficients, data.draw(st.permutations(powers)))
    assert judge_math(gold, shuffled, answer_type="expression").score == 1.0
    horner = "0"
    for coefficient in reversed(coefficients):
        horner = f"({horner}) x + ({coefficient})"
    assert judge_math(gold, horner, answer_type="expression").score == 1.0
    place = data.draw(st.sampled_from(powers))
    changed = [*coefficients]
    changed[place] += 1
    wrong = polynomial(changed, powers)
    assert judge_math(gold, wrong, answer_type="expression").score == 0.0


@given(values=st.lists(st.integers(-99, 99), min_size=2, max_size=6, unique=True), data=st.data())
@settings(max_examples=150, deadline=None)
def test_sets_have_no_order_and_tuples_have(values: list[int], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(values))
    texts = [", ".join(map(str, order)) for order in (values, shuffled)]
    assert judge_math(texts[0], texts[1]).score == 1.0
    assert judge_math(rf"\{{{texts[0]}\}}", rf"\{{{texts[1]}\}}").score == 1.0
    in_order = judge_math(f"({texts[0]})", f"({texts[1]})", answer_type="tuple")
    assert (in_order.score == 1.0) == (values == shuffled)
    assert judge_math(texts[0], ", ".join(map(str, values[1:]))).score == 0.0


@given(
    low=st.integers(-50, 50),
    width=st.integers(1, 50),
    brackets=st.sampled_from(["()", "[)", "(]", "[]"]),
)
@settings(deadline=None)
def test_an_interval_is_its_inequality(low: int, width: int, brackets: str) -> None:
    high = low + width
    interval = f"{brackets[0]}{low}, {high}{brackets[1]}"
    left, right = ("<=" if bracket in "[]" else "<" for bracket in brackets)
    assert judge_math(interval, f"{low} {left} x {right} {high}").score == 1.0
    other = {"<": "<=", "<=": "<"}[left]
    assert judge_math(interval, f"{low} {other} x {right} {high}").score == 0.0
    assert judge_math(interval, f"{low} {left} x {right} {high + 1}").score == 0.0


@given(text=st.one_of(ANY_TEXT, MATH_TEXT))
@settings(max_examples=200, deadline=None)
def test_parsers_return_a_value_or_none(text: str) -> None:
    whole = parse.integer(text)
    assert whole is None or parse.rational(text) == whole
    many = parse.integers(text)
    assert many is None or len(many) > 0
    rows = parse.matrix(text)
    assert rows is None or len({len(row) for row in rows}) == 1


@given(
    numbers=st.lists(st.integers(), min_size=1, max_size=20),
    joiner=st.sampled_from([", ", " ", ";", ","]),
)
def test_lists_of_integers_come_back(numbers: list[int], joiner: str) -> None:
    text = joiner.join(map(str, numbers))
    assert parse.integers(text) == numbers
    assert parse.integers(f"[{text}]") == numbers
    assert (parse.naturals(text) == numbers) == (min(numbers) >= 0)


@given(base=FRACTIONS, exponent=st.integers(-40, 40))
def test_exact_powers_agree_with_plain_ones(base: Fraction, exponent: int) -> None:
    if base == 0 and exponent < 0:
        return
    assert exact.power(base, exponent) == base**exponent


@given(value=FRACTIONS)
@settings(deadline=None)
def test_reading_a_number_is_exact(value: Fraction) -> None:
    found = read(f"{value.numerator}/{value.denominator}")
    assert isinstance(found, Scalar)
    assert getattr(found.expr, "value", None) == value
