r"""Other spellings of an answer that say the same, for golds that the first reading does not meet.

People and models write ``C(10,3)`` for a binomial, ``]0,2[`` for an interval, ``six`` for 6, or a
remark behind a value. Each rule below rewrites one such spelling; `alternatives` yields what the
rules make of an answer. A rewritten answer is judged like any other, so a rule can only let in what
equals the gold: it must keep the meaning wherever it applies.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache

_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
_TEENS = "fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORD_VALUES = {word: value for value, word in enumerate(f"{_UNITS} {_TEENS}".split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), start=2)
}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_MAX_WORDS = 20

_TEXT = r"\\(?:text|mbox|textrm|mathrm|textbf|textit|operatorname)\s*+\{"
_ARGUMENT = r"(?:\{([^{}]{1,60})\}|(\d{1,9}|[A-Za-z]))"
_COLOUR = re.compile(r"\\(?:text)?color\s*+\{[^{}]{0,30}\}")
_DOTS = re.compile(
    r"(?<![0-9.])([0-9]{0,15})\.([0-9]{0,15})\\dot\s*+\{?([0-9])\}?([0-9]{0,15})"
    r"(?:\\dot\s*+\{?([0-9])\}?)?"
)
_INVISIBLE_PAIR = re.compile(r"\\left\s*+\.(.+)\\right\s*+\.", re.DOTALL)
_CHOOSE = re.compile(r"\{([^{}]{1,60})\\choose(?![A-Za-z])([^{}]{1,60})\}")
_CALLED = re.compile(r"(?<![A-Za-z\\])([CP])\s*+\(\s*+([^(),]{1,40})\s*+,\s*+([^(),]{1,40})\s*+\)")
_BEFORE = re.compile(
    rf"(?:\{{\s*+\}})?(?:[_^]{_ARGUMENT}|(?<![A-Za-z0-9_^])(\d{{1,9}}))\s*+([CP])\s*+_{_ARGUMENT}"
)
_INDEXED = re.compile(rf"(?<![A-Za-z\\}}])([CP])\s*+([_^])\s*+{_ARGUMENT}\s*+([_^])\s*+{_ARGUMENT}")
_OUTWARD = re.compile(r"([\[\](])([^\[\]()]{1,200},[^\[\]()]{1,200})([\[\])])")
_MIXED_PERCENT = re.compile(
    r"(\d{1,9})\s*+\\[dt]?frac\s*+\{?(\d{1,9}?)\}?\s*+\{?(\d{1,9})\}?\s*+\\?%"
)
_DEGREES = re.compile(
    r"(\d{1,9})\s*+(?:\^\s*+\{?\s*+\\circ\s*+\}?|\u00b0)\s*+(\d{1,2})\s*+(?:'|\u2032|\^\{?\\prime\}?)"
    r"(?:\s*+(\d{1,2})\s*+(?:''|\u2033|\"|\^\{?\\prime\\prime\}?))?"
)
_CIS = re.compile(
    rf"(?:{_TEXT}\s*+cis\s*+\}}|\\?cis)\s*+(?:\(([^()]{{1,80}})\)|\\left\(([^()]{{1,80}})\\right\)"
    r"|((?:\\[A-Za-z]+(?:\{[^{}]{1,30}\}){0,2}|[0-9.^{}]|\u00b0)+))"
)
_LOG = re.compile(r"\\log(?![A-Za-z])(?!\s*+_)|(?<![A-Za-z\\])log(?![A-Za-z_])")
_LOG_TEN = re.compile(r"\\log\s*+_\s*+(?:\{\s*+10\s*+\}|10(?![0-9]))|\\lg(?![A-Za-z])")
_POINTED = re.compile(r"([+-]?)(\d{1,3}(?:[.'\u2019]\d{3})+)(?:,(\d{1,20}))?")
_SPACED = re.compile(r"([+-]?)(\d{1,3}(?:[ \u00a0\u202f]\d{3})+)(?:,(\d{1,20}))?")
_ONLY = re.compile(
    rf"(?:{_TEXT}\s*+)?(?:only|just|exactly|simply|precisely|namely|thus|hence|therefore|so)\b[\s,:]*+"
    r"\}?\s*+",
    re.IGNORECASE,
)
# Words that take back, limit or replace what stands before them: then it is no mere remark.
_LIMITING = re.compile(
    r"\b(?:not|no|or|except|unless|but|without|instead|wrong|maybe|perhaps|otherwise|if|else)\b|\d|=|<|>",
    re.IGNORECASE,
)
# A remark has several words and begins with one of these: a single word may be a unit.
_REMARKING = re.compile(
    r"[\s,;:(]*+(?:since|because|as|when|which|by|using|from|thus|hence|that|this|is|are|in|the|a|it"
    r"|total|by|due|so|each|every|after|note|only|at|where|with|for)\b[\s,]++\w",
    re.IGNORECASE,
)
_FOR_ALL = re.compile(
    rf"[\s,;(]*+(?:\\q?quad|\\[ ,;:!]|\s)*(?:{_TEXT})?\s*+"
    r"(?:for\s+(?:all|every|any|each)|where|with|\\forall)(?![A-Za-z])[^=<>0-9]{0,80}",
    re.IGNORECASE,
)
_REMARK = re.compile(rf"[\s,;]*+(?:\\q?quad|\\[ ,;:!]|\s)*{_TEXT}([^{{}}]{{1,200}})\}}\s*+\.?")
_BRACKETED = re.compile(r"\s++\(([A-Za-z][^()]{2,200})\)\s*+\.?")
# What stands in every match of the three, and is found sooner.
_FOR_ALL_WORD = re.compile(r"for|where|with", re.IGNORECASE)
_TEXT_BEGINS = re.compile(r"\\(?:text|mbox|mathrm|operatorname)")
_OPENED = re.compile(r"\s\([A-Za-z]")
_DOMAIN = re.compile(
    r"(?:\s*+,|\s*+;|\s*+\\q?quad|\s++\(|\s++for\s)\s*+(?:\\q?quad|\\[ ,;:!]|\s)*"
    r"\(?\s*+[A-Za-z](?:_\w|_\{\w+\})?\s*+(?:\\neq?(?![A-Za-z])|\u2260|!=|\\not=|\\in(?![A-Za-z])|[<>]=?"
    r"|\\[lg]eq?(?![A-Za-z])|\\[lg]t(?![A-Za-z]))[^=,;]{1,60}\)?\s*+"
)
_RESTRICTED = re.compile(r"[<>\u2260]|!=|\\(?:not|neq?|[lg]eq?|[lg]t|in)(?![A-Za-z])")
_IN_TEXT = re.compile(rf"{_TEXT}([^{{}}]*)\}}")
_WORDS = re.compile(r"[A-Za-z\s\-,.$]+")
_WORDS_OR_TEX = re.compile(r"[A-Za-z\s\-,.$\\{}]+")
_CHOSEN = re.compile(rf"{_TEXT}|[{{}}()$\s.,;:]|\band\b|\b(?:options?|choices?)\b")
# Of such text alone, which is most of what is written, no rule makes anything else.
_PLAIN = re.compile(
    r"(?:[-+*/^=()|:;,_0-9${}!]|\s(?![0-9]{3})|\.(?![0-9]{3})"
    r"|\\(?:[dt]?frac|sqrt|pi|cdot|times|pm|left(?=[(|])|right(?=[)|]))(?![A-Za-z])"
    r"|(?<![A-Za-z])[k-zK-OQ-Z](?![A-Za-z]))*"
)


def alternatives(gold: str, answer: str) -> Iterator[str]:
    r"""Yield other spellings of an answer, at most a dozen, the likeliest first.

    The gold decides where a spelling has two meanings: ``\log`` and ``1.000``, for example.
    """
    if _PLAIN.fullmatch(answer):
        return
    seen = {answer}
    everything = answer
    for rule in _RULES:
        rewritten = _rewritten(rule, gold, answer)
        first = everything == answer  # then both are the same rewriting
        everything = rewritten if first else _rewritten(rule, gold, everything)
        if rewritten not in seen:
            seen.add(rewritten)
            yield rewritten
    if everything not in seen:
        yield everything


def _rewritten(rule: Callable[[str, str], str | None], gold: str, answer: str) -> str:
    """Return what a rule makes of an answer: the answer itself where it does not apply."""
    rewritten = rule(gold, answer)
    return (rewritten and rewritten.strip()) or answer


def _undecorated(_: str, answer: str) -> str | None:
    """Leave out colours and invisible delimiters."""
    if "color" not in answer and "\\left" not in answer:
        return None
    return _COLOUR.sub("", _INVISIBLE_PAIR.sub(r"\1", answer))


def _periodic(_: str, answer: str) -> str | None:
    r"""Write ``0.\dot2\dot7`` with a line over its period."""
    if "\\dot" not in answer:
        return None

    def lined(found: re.Match[str]) -> str:
        whole, lead, first, middle, last = found.groups()
        period = first + middle + last if last is not None else first
        rest = middle if last is None else ""
        return f"{whole}.{lead}\\overline{{{period}}}{rest}"

    return _DOTS.sub(lined, answer)


def _binomials(_: str, answer: str) -> str | None:
    r"""Write ``{n \choose k}``, ``C(n,k)``, ``{}_nC_k`` and ``C_n^k`` as binomials, P alike."""
    text = _CHOOSE.sub(lambda m: _chosen("C", m[1], m[2]), answer) if "choose" in answer else answer
    if "C" in text or "P" in text:
        text = _CALLED.sub(lambda m: _chosen(m[1], m[2], m[3]), text)
        text = _BEFORE.sub(lambda m: _chosen(m[4], m[1] or m[2] or m[3], m[5] or m[6]), text)
        text = _INDEXED.sub(_indexed, text)
    return text


def _indexed(found: re.Match[str]) -> str:
    kind, first, *_ = found.groups()
    one, other = found[3] or found[4], found[6] or found[7]
    if first == found[5]:
        return found[0]
    below, above = (one, other) if first == "_" else (other, one)
    if below.strip().isdigit() and above.strip().isdigit() and int(below) < int(above):
        below, above = above, below
    return _chosen(kind, below, above)


def _chosen(kind: str, n: str, k: str) -> str:
    n, k = n.strip(), k.strip()
    if kind == "C":
        return rf"\binom{{{n}}}{{{k}}}"
    return rf"\frac{{({n})!}}{{(({n})-({k}))!}}"


def _brackets(_: str, answer: str) -> str | None:
    """Write ``]0,2[`` as ``(0,2)``."""
    if "]" not in answer and "[" not in answer:
        return None

    def turned(found: re.Match[str]) -> str:
        opening = "(" if found[1] == "]" else found[1]
        closing = ")" if found[3] == "[" else found[3]
        return f"{opening}{found[2]}{closing}"

    return _OUTWARD.sub(turned, answer)


def _percent(_: str, answer: str) -> str | None:
    r"""Write ``33\frac13\%`` as the percentage of one fraction."""
    if "%" not in answer:
        return None
    return _MIXED_PERCENT.sub(
        lambda m: rf"\frac{{{int(m[1]) * int(m[3]) + int(m[2])}}}{{{m[3]}}}\%", answer
    )


def _minutes(_: str, answer: str) -> str | None:
    """Write degrees, minutes and seconds as a fraction of degrees."""
    if "circ" not in answer and "\u00b0" not in answer:
        return None

    def joined(found: re.Match[str]) -> str:
        value = int(found[1]) + Fraction(int(found[2]), 60) + Fraction(int(found[3] or 0), 3600)
        return rf"\frac{{{value.numerator}}}{{{value.denominator}}}^\circ"

    return _DEGREES.sub(joined, answer)


def _cis(_: str, answer: str) -> str | None:
    r"""Write ``cis`` as cosine and sine."""
    if "cis" not in answer:
        return None
    return _CIS.sub(lambda m: "(\\cos({0}) + i \\sin({0}))".format(m[1] or m[2] or m[3]), answer)


def _logarithm(gold: str, answer: str) -> str | None:
    r"""Read ``\log`` to the base 10, or, where the gold has a bare one too, ``\log_{10}`` as it."""
    if "log" not in answer and "lg" not in answer:
        return None
    if _LOG.search(gold):
        return _LOG_TEN.sub(r"\\log ", answer)
    return _LOG.sub(r"\\log_{10} ", answer)


def _thousands(_: str, answer: str) -> str | None:
    """Read ``1.000.000,5`` and ``1 000,5`` as they are written outside of English."""
    found = _POINTED.fullmatch(answer.strip(" $")) or _SPACED.fullmatch(answer.strip(" $"))
    if found is None:
        return None
    whole = re.sub(r"\D", "", found[2])
    return found[1] + whole + (f".{found[3]}" if found[3] else "")


def _number_words(_: str, answer: str) -> str | None:
    """Read a whole number written in words, such as ``twenty-one``."""
    if not _WORDS_OR_TEX.fullmatch(answer):
        return None
    text = _IN_TEXT.sub(r"\1", answer)
    words = re.findall(r"[a-z]+", text.lower().replace(" and ", " "))
    if not words or len(words) > _MAX_WORDS or not _WORDS.fullmatch(text):
        return None
    total = part = 0
    for word in words:
        if word in _WORD_VALUES:
            part += _WORD_VALUES[word]
        elif word == "hundred" and part:
            part *= 100
        elif word in _SCALES and part:
            total, part = total + part * _SCALES[word], 0
        else:
            return None
    return str(total + part)


def _letters(gold: str, answer: str) -> str | None:
    """Read ``b`` as the choice B, and ``AC`` as the choices A, C, where the gold is like that."""
    wanted = _choices_of(gold)
    if not wanted:
        return None
    plain = _CHOSEN.sub("", answer)
    if not re.fullmatch(r"[A-J]{1,10}|[a-j]", plain) or len(plain) != wanted:
        return None
    return ", ".join(plain.upper()) if len(plain) > 1 else plain.upper()


@lru_cache(maxsize=4096)
def _choices_of(gold: str) -> int:
    """Return how many choices a gold names; 0 where it is something else."""
    letters = re.findall(r"[A-Za-z]+", re.sub(_TEXT, "", gold))
    return len(letters) if all(re.fullmatch(r"[A-J]", letter) for letter in letters) else 0


def _infinity(_: str, answer: str) -> str | None:
    """Read infinity written in words."""
    if "nfin" not in answer.lower():
        return None
    words = _IN_TEXT.sub(r"\1", answer).lower().strip(" $.")
    sign = {"infinity": "", "infinite": "", "positive infinity": "", "plus infinity": ""} | {
        "negative infinity": "-",
        "minus infinity": "-",
        "-infinity": "-",
        "+infinity": "",
    }
    return f"{sign[words]}\\infty" if words in sign else None


def _without_remarks(_: str, answer: str) -> str | None:
    """Leave out remarks around a value that neither limit it nor offer another one."""
    text = _ONLY.sub("", answer, count=1) if _ONLY.match(answer) else answer
    for pattern, sign in (
        (_FOR_ALL, _FOR_ALL_WORD),
        (_REMARK, _TEXT_BEGINS),
        (_BRACKETED, _OPENED),
    ):
        found = _last(pattern, text) if sign.search(text) else None
        if found is None or found.end() < len(text.rstrip(" $}")) or not found.start():
            continue
        said = found[1] if pattern.groups else None
        if said is None or (_REMARKING.match(said) and not _LIMITING.search(said)):
            text = text[: found.start()]
    return text


def _without_domain(gold: str, answer: str) -> str | None:
    r"""Leave out where ``y = 6/x, x \neq 0`` holds, if the gold does not say it."""
    if not _RESTRICTED.search(answer) or _RESTRICTED.search(gold):
        return None
    found = _last(_DOMAIN, answer)
    if found is None or found.end() < len(answer.rstrip(" $.")) or not found.start():
        return None
    return answer[: found.start()]


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match."""
    found = deque(pattern.finditer(text), maxlen=1)
    return found[0] if found else None


_RULES: tuple[Callable[[str, str], str | None], ...] = (
    _undecorated,
    _periodic,
    _binomials,
    _brackets,
    _percent,
    _minutes,
    _cis,
    _logarithm,
    _thousands,
    _number_words,
    _letters,
    _infinity,
    _without_remarks,
    _without_domain,
)
