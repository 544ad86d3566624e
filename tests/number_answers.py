"""Wrong answers, and spellings of the right one, for problems whose answer is one rational number.

Each is a function of the right number, by name. The number is no power of 10, and above 20.
"""

from fractions import Fraction


def plain(value):
    value = Fraction(value)
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return f"{sign}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


WRONG = {
    "one more": lambda v: plain(v + 1),
    "one less": lambda v: plain(v - 1),
    "two more": lambda v: plain(v + 2),
    "negated": lambda v: plain(-v),
    "twice": lambda v: plain(2 * v),
    "half": lambda v: plain(v / 2),
    "ten times": lambda v: plain(10 * v),
    "a tenth": lambda v: plain(v / 10),
    "reciprocal": lambda v: plain(1 / v),
    "square": lambda v: plain(v * v),
    "almost": lambda v: plain(v + Fraction(1, 10**9)),
    "zero": lambda v: "0",
    "one": lambda v: "1",
    "negative one": lambda v: "-1",
    "two candidates": lambda v: f"{plain(v)} or {plain(v + 1)}",
    "two candidates in a list": lambda v: f"{plain(v)}, {plain(v + 1)}",
    "wrong one first": lambda v: f"{plain(v - 1)} or {plain(v)}",
    "list in brackets": lambda v: f"[{plain(v)}, {plain(v + 1)}]",
    "set of candidates": lambda v: f"\\{{{plain(v)}, {plain(v + 1)}\\}}",
    "range": lambda v: f"between {plain(v - 1)} and {plain(v + 1)}",
    "inequality": lambda v: f"x > {plain(v)}",
    "equation with two sides": lambda v: f"{plain(v)} = {plain(v + 1)}",
    "corrected": lambda v: f"{plain(v)}, no, {plain(v + 1)}",
    "plus or minus": lambda v: f"\\pm {plain(v)}",
    "a free symbol": lambda v: f"{plain(v)} + x",
    "negated in words": lambda v: f"not {plain(v)}",
    "question": lambda v: f"{plain(v)}?? {plain(v + 3)}",
    "spaces inside": lambda v: " ".join(plain(v)),
    "empty": lambda v: "",
    "words": lambda v: "the first player wins",
    "infinity": lambda v: "\\infty",
    "not a number": lambda v: "NaN",
    "4,000 digits": lambda v: "9" * 4_000,
    "tower": lambda v: "9^{9^{9^{9}}}",
    "factorial": lambda v: "(10^{9})!",
    "other alphabet": lambda v: "四十二",
    "code": lambda v: f"print({plain(v)})",
}

RIGHT = {
    "plain": plain,
    "white space": lambda v: f"  {plain(v)}\n",
    "dollars": lambda v: f"${plain(v)}$",
    "equation": lambda v: f"x = {plain(v)}",
    "slash": lambda v: str(Fraction(v)),
    "display": lambda v: plain(v).replace("\\frac", "\\dfrac"),
    "boxed": lambda v: f"\\boxed{{{plain(v)}}}",
}
