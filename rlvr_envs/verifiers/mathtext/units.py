"""The words after a number: which are units, which change the number, which name the same unit."""

import re
from fractions import Fraction

from rlvr_envs.verifiers.mathtext.lexer import Unreadable, words_of
from rlvr_envs.verifiers.mathtext.nodes import Mul, Node, Num, Pow, Sym

MAX_WORDS = 6
_MAX_POWER = 4  # of a unit that is converted

_MULTIPLIERS = {
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
}
# Words that make more of an answer than a number with a unit.
_REFUSED = words_of(
    "or and not if when but to than is are else minus plus half times except unless maybe either "
    "neither wrong where for all any no mod base"
)
_SPLIT = re.compile(r"[^A-Za-z0-9%^/]+")
_ORDINALS = frozenset(("st", "nd", "rd", "th"))
_NEUTRAL = frozenset(("unit", "square unit", "sq unit", "cubic unit", "unit ^ 2", "unit ^ 3"))
_SYNONYMS = {
    "percent": "%",
    "percentage": "%",
    "pct": "%",
    "per cent": "%",
    "degree": "deg",
    "centimeter": "cm",
    "centimetre": "cm",
    "millimeter": "mm",
    "metre": "m",
    "meter": "m",
    "kilometer": "km",
    "kilometre": "km",
    "gram": "g",
    "kilogram": "kg",
    "second": "s",
    "sec": "s",
    "minute": "min",
    "hour": "h",
    "hr": "h",
    "foot": "ft",
    "feet": "ft",
    "inche": "in",
    "inch": "in",
    "mile": "mi",
    "pound": "lb",
    "ounce": "oz",
    "year": "yr",
    "dollar": "$",
    "cent": "¢",
    "radian": "rad",
    "square": "sq",
    "liter": "l",
    "litre": "l",
}


def checked(text: str) -> str:
    """Return the canonical name of a unit.

    Raises:
        Unreadable: the words say more than a unit does.
    """
    words = [word for word in _SPLIT.split(text.replace("/", " / ").replace("^", " ^ ")) if word]
    words = words[1:] if words and words[0] in _ORDINALS else words
    if len(words) > MAX_WORDS or _REFUSED.intersection(word.lower() for word in words):
        raise Unreadable("words after a number that are no unit")
    if any(
        word[0].isdigit() and place and words[place - 1] != "^" for place, word in enumerate(words)
    ):
        raise Unreadable("a number among the words of a unit")
    if words and words[0][0].isdigit():
        raise Unreadable("a number among the words of a unit")
    return " ".join(canonical(word) for word in words)


def canonical(word: str) -> str:
    """Return one name for the spellings of a unit's word."""
    low = word.lower() if len(word) > 2 else word
    singular = low[:-1] if len(low) > 2 and low.endswith("s") and not low.endswith("ss") else low
    return _SYNONYMS.get(low, _SYNONYMS.get(singular, singular))


def split_multiplier(unit: str) -> tuple[int, str]:
    """Return the number that a word such as "million" multiplies by, and the rest of the unit."""
    first, _, rest = unit.partition(" ")
    return (_MULTIPLIERS[first], rest) if first in _MULTIPLIERS else (1, unit)


def compatible(one: str, two: str) -> bool:
    """Whether two units may stand for the same: equal, one left out, or one more detailed."""
    if not one or not two or one == two or one in _NEUTRAL or two in _NEUTRAL:
        return True
    mine, theirs = set(one.split()), set(two.split())
    if "sq" in mine ^ theirs or "cubic" in mine ^ theirs:
        mine, theirs = set(_spell_powers(one).split()), set(_spell_powers(two).split())
    powers = any(token.isdigit() for token in mine ^ theirs)
    return (mine <= theirs or theirs <= mine) and not powers


def _spell_powers(unit: str) -> str:
    unit = re.sub(r"\bsq (\S+)", r"\1 ^ 2", unit)
    return re.sub(r"\bcubic (\S+)", r"\1 ^ 3", unit)


# Sizes in metres, seconds, grams, litres, cents, joules, hertz, pascals and watts.
_SIZES: dict[str, tuple[str, Fraction]] = {
    name: (dimension, Fraction(size))
    for dimension, sizes in {
        "length": {
            "nm": "1e-9",
            "mm": "0.001",
            "cm": "0.01",
            "dm": "0.1",
            "m": "1",
            "km": "1000",
            "in": "0.0254",
            "ft": "0.3048",
            "yd": "0.9144",
            "yard": "0.9144",
            "mi": "1609.344",
        },
        "time": {
            "ms": "0.001",
            "s": "1",
            "min": "60",
            "h": "3600",
            "day": "86400",
            "week": "604800",
        },
        "mass": {
            "mg": "0.001",
            "g": "1",
            "kg": "1000",
            "lb": "453.59237",
            "oz": "28.349523125",
            "ton": "1000000",
            "tonne": "1000000",
        },
        "volume": {"ml": "0.001", "mL": "0.001", "cl": "0.01", "dl": "0.1", "l": "1", "L": "1"},
        "money": {"\u00a2": "1", "$": "100"},
        "energy": {"J": "1", "kJ": "1000"},
        "frequency": {"Hz": "1", "kHz": "1000", "MHz": "1000000", "GHz": "1000000000"},
        "pressure": {"Pa": "1", "kPa": "1000"},
        "power": {"W": "1", "kW": "1000"},
    }.items()
    for name, size in sizes.items()
}


def conversion(one: dict[str, int], two: dict[str, int]) -> Fraction | None:
    """Return how many of the second unit one of the first is, None if they measure other things.

    Units are given by their exponents (`dimensions`).
    """
    first, second = _size(one), _size(two)
    if first is None or second is None or first[0] != second[0]:
        return None
    return first[1] / second[1]


def _size(unit: dict[str, int]) -> tuple[dict[str, int], Fraction] | None:
    """Return the dimensions of a unit, and its size in their own units."""
    found: dict[str, int] = {}
    size = Fraction(1)
    for name, exponent in unit.items():
        if name not in _SIZES or abs(exponent) > _MAX_POWER:
            return None
        dimension, factor = _SIZES[name]
        found[dimension] = found.get(dimension, 0) + exponent
        size *= factor**exponent
    return {name: power for name, power in found.items() if power}, size


def dimensions(unit: str) -> dict[str, int]:
    """Return the exponents of a unit such as ``m / s ^ 2`` or ``sq cm``."""
    unit = _spell_powers(unit)
    found: dict[str, int] = {}
    sign, last = 1, ""
    for part in unit.split():
        if part.isdigit():
            found[last] = found.get(last, 0) - sign + sign * int(part[:3]) if last else 0
        elif part == "/":
            sign = -1
        elif part != "^":
            last = part
            found[last] = found.get(last, 0) + sign
    return found


def spelled_in_symbols(node: Node) -> tuple[Num, dict[str, int]] | None:
    """Return the number and the exponents of a product such as ``6 m / s``, else None."""
    if not isinstance(node, Mul) or not isinstance(node.factors[0], Num):
        return None
    found: dict[str, int] = {}
    for factor in node.factors[1:]:
        base, exponent = (
            (factor.base, factor.exponent)
            if isinstance(factor, Pow)
            else (factor, Num(Fraction(1)))
        )
        if not isinstance(base, Sym) or not isinstance(exponent, Num):
            return None
        name = canonical(base.name)
        found[name] = found.get(name, 0) + int(exponent.value)
    return node.factors[0], found
