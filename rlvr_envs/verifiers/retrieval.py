r"""Short answers to questions over documents: names, sets of names, numbers, and "unanswerable".

Text is compared as SQuAD compares it: in lower case, without punctuation and English articles,
with single blanks. It differs from SQuAD in four points. Letters with accents are the same however
they are encoded; punctuation of every script goes, and markup such as ``**`` and ``\text{}``;
text that consists of articles only ("The The") keeps them; and the numerals of two texts must be
the same before punctuation goes, commas between thousands aside: ``1.5`` is not ``15``.

Every function takes any text, in time linear in its length; above `MAX_CHARACTERS` it is refused.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.verifiers.certificate import MAX_DIGITS
from rlvr_envs.verifiers.markup import unmarked

MAX_CHARACTERS = 10_000
MAX_SPRAY = 3  # names in an answer for each one expected; more is spraying, not answering
UNANSWERABLE_FORMS = (
    "unanswerable",
    "not answerable",
    "no answer",
    "cannot be answered",
    "can not be answered",
    "can't be answered",
    "question is unanswerable",
    "question cannot be answered",
)

_LONGEST_WORD = 100  # characters of a word that is brought to one encoding
_ARTICLES = frozenset({"a", "an", "the"})
_MINUS = "\u2212"  # the sign that mathematics is typeset with
_CLOSED = frozenset({"yes", "no", "noanswer"})  # HotpotQA: these answers earn nothing in part
_NO_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
_NUMBER = re.compile(
    r"([+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]++|(?=\.[0-9]))(?:\.[0-9]*+)?)(.*)", re.DOTALL
)
_NUMERAL = re.compile(r"(?:(?<!\w)-)?[0-9]++(?:,[0-9]{3}(?![0-9]))*(?:\.[0-9]++)?")
_BREAK = re.compile(r"[,;\r\n]|\band\b", re.IGNORECASE)
_MARKER = re.compile(r"\s*(?:[0-9]{1,3}[.)]|\(?[a-z]\))\s+")  # "1. ", "2) ", "(a) "
_TOO_LONG = f"the answer is longer than {MAX_CHARACTERS:,} characters"
_EMPTY = "the answer holds no word"


def normal(text: str) -> str:
    """Return text as it is compared; empty where it holds no word. The caller bounds its length."""
    text = unmarked(text).replace(_MINUS, "-")
    if not text.isascii():
        text = " ".join(map(_composed, text.lower().split()))
        text = "".join(char for char in text if unicodedata.category(char)[0] != "P")
    words = text.lower().translate(_NO_ASCII_PUNCTUATION).split()
    return " ".join([word for word in words if word not in _ARTICLES] or words)


def _composed(word: str) -> str:
    """Return a word in normal form C; sorting the marks of a long one takes quadratic time."""
    return unicodedata.normalize("NFC", word) if len(word) <= _LONGEST_WORD else word


def exact(answer: str, accepted: Sequence[str]) -> Verdict:
    """Give full marks for any accepted form, and nothing for text around or beside it.

    Raises:
        ConfigError: no accepted form holds a word.
    """
    forms = _readable(accepted)
    if len(answer) > MAX_CHARACTERS:
        return Verdict.unparsable(_TOO_LONG)
    given = normal(answer)
    if not given:
        return Verdict.unparsable(_EMPTY)
    if any(_same(answer, given, form) for form in forms):
        return Verdict.correct()
    return Verdict.wrong("the answer is not the expected one")


def f1(answer: str, accepted: Sequence[str]) -> Verdict:
    """Grade by the words shared with the closest accepted form, in any order (SQuAD's F1).

    As in HotpotQA, "yes" and "no" earn nothing in part. The parts are ``f1`` and ``exact``.

    Raises:
        ConfigError: no accepted form holds a word.
    """
    forms = _readable(accepted)
    if len(answer) > MAX_CHARACTERS:
        return Verdict.unparsable(_TOO_LONG)
    given = normal(answer)
    if not given:
        return Verdict.unparsable(_EMPTY)
    same = any(_same(answer, given, form) for form in forms)
    score = 1.0 if same else max(_overlap(given, normal(form)) for form in forms)
    told = "" if same else "the answer shares some words with the expected one, or none"
    return Verdict.graded(score, told, f1=score, exact=float(same))


def concise_f1(answer: str, accepted: Sequence[str]) -> Verdict:
    """Grade as `f1`, by the forms alone that have at least as many words as the answer.

    Plain F1 pays for listing candidates: the right one of ``n`` with as many words each earns
    2/(n + 1). Here a longer answer than an accepted form earns nothing by that form, so a name
    beside the right one, or a sentence around it, is worth no more than under `exact`.

    Raises:
        ConfigError: no accepted form holds a word.
    """
    verdict = f1(answer, accepted)
    if not 0.0 < verdict.score < 1.0:
        return verdict
    words = len(normal(answer).split())
    forms = [form for form in _readable(accepted) if len(normal(form).split()) >= words]
    if not forms:
        return Verdict.wrong("the answer has more words than the expected one", **verdict.parts)
    return f1(answer, forms)


def number(answer: str, expected: int | Fraction, units: Sequence[str] = ()) -> Verdict:
    """Give full marks for a number of the expected value.

    A number is a sign or none, ASCII digits, with a comma before every three digits or with none,
    and decimals after a point. After it may stand one of ``units`` (in any case) and a full stop.
    Words, other units, quotients, powers of ten and blanks between digits make it unparsable.
    """
    if len(answer) > MAX_CHARACTERS:
        return Verdict.unparsable(_TOO_LONG)
    value = _value(answer, units)
    if value is None:
        return Verdict.unparsable("the answer should be one plain number, such as 1234 or 1,234.5")
    return Verdict.correct() if value == expected else Verdict.wrong("the number is another one")


def names(answer: str, expected: Sequence[Sequence[str]]) -> Verdict:
    """Grade a set of names by the F1 of the set; full marks for exactly the expected ones.

    Names stand between commas, semicolons, line ends or the word "and", each after a list mark or
    none; where these are a part of an accepted form, the longest form is read. Other forms of a
    name, and repetitions, count once. A form that several entities share stands for one of them
    each time it is written. The parts are ``f1``, ``found`` and ``named``.

    Args:
        answer: the names, in any order.
        expected: for each entity the forms that its name may have.

    Raises:
        ConfigError: there is no entity, or one has no form that holds a word.
    """
    if not expected:
        raise ConfigError("a set of names needs at least one expected entity")
    owners = _owners(expected)
    if len(answer) > MAX_CHARACTERS:
        return Verdict.unparsable(_TOO_LONG)
    written = list(_written(answer, owners, 1 + _breaks(expected)))
    if not written:
        return Verdict.unparsable(_EMPTY)
    found: set[int] = set()
    known = [name for name in written if name in owners]
    for name in sorted(known, key=lambda name: len(owners[name])):  # shared forms come last
        free = owners[name] - found
        if free:
            found.add(min(free))
    named = len(found) + len(set(written) - owners.keys())
    if named > MAX_SPRAY * len(expected):
        return Verdict.wrong("the answer lists far too many names", f1=0.0, named=float(named))
    score = 2 * len(found) / (named + len(expected))
    told = "" if score == 1.0 else "the names are not exactly the expected ones"
    return Verdict.graded(score, told, f1=score, found=float(len(found)), named=float(named))


def unanswerable(answer: str) -> bool:
    """Tell whether an answer says that the question has none: one of `UNANSWERABLE_FORMS`.

    Nothing else does: "unknown", "I do not know" and a reason beside the word are no such answer.
    """
    return len(answer) <= MAX_CHARACTERS and normal(answer) in _UNANSWERABLE


_UNANSWERABLE = frozenset(map(normal, UNANSWERABLE_FORMS))


def _readable(forms: Sequence[str]) -> list[str]:
    if isinstance(forms, str):
        raise ConfigError(f"expected a list of accepted answers, got the text {forms!r:.80}")
    readable = [form for form in forms if normal(form)]
    if not readable:
        raise ConfigError(f"no accepted answer holds a word: {list(forms)!r:.80}")
    return readable


def _same(answer: str, given: str, form: str) -> bool:
    return given == normal(form) and _numerals(answer) == _numerals(form)


def _numerals(text: str) -> list[str]:
    """Return the numbers written in a text, without commas, each with its minus sign."""
    found = _NUMERAL.findall(unmarked(text).replace(_MINUS, "-"))
    return [numeral.replace(",", "") for numeral in found]


def _overlap(given: str, told: str) -> float:
    """Return the F1 of the words; texts that differ in punctuation alone share nothing here."""
    if given == told or given in _CLOSED or told in _CLOSED:
        return 0.0
    ours, theirs = given.split(), told.split()
    shared = (Counter(ours) & Counter(theirs)).total()
    return 2 * shared / (len(ours) + len(theirs))


def _value(answer: str, units: Sequence[str]) -> Fraction | None:
    text = unmarked(answer).replace(_MINUS, "-")
    match = _NUMBER.fullmatch(text)
    if match is None or len(match[1]) > MAX_DIGITS:
        return None
    unit = match[2].strip().removesuffix(".").rstrip().lower()
    if unit and unit not in {known.lower() for known in units}:
        return None
    return Fraction(match[1].replace(",", ""))


def _owners(expected: Sequence[Sequence[str]]) -> dict[str, set[int]]:
    owners: dict[str, set[int]] = {}
    for entity, forms in enumerate(expected):
        for form in _readable(forms):
            owners.setdefault(normal(form), set()).add(entity)
    return owners


def _breaks(expected: Sequence[Sequence[str]]) -> int:
    return max(len(_BREAK.findall(form)) for forms in expected for form in forms)


def _written(answer: str, known: Iterable[str], longest: int) -> Iterator[str]:
    """Yield the names of an answer, as `normal` writes them."""
    text = unmarked(answer)
    ends = [(match.start(), match.end()) for match in _BREAK.finditer(text)]
    starts, stops = [0, *(end for _, end in ends)], [*(start for start, _ in ends), len(text)]
    at = 0
    while at < len(starts):
        for last in range(min(at + longest, len(stops)) - 1, at - 1, -1):
            name = _known_name(text[starts[at] : stops[last]], known)
            if name:
                break
        else:
            last, name = at, normal(_unnumbered(text[starts[at] : stops[at]]))
        if name:
            yield name
        at = last + 1


def _known_name(piece: str, known: Iterable[str]) -> str:
    """Return the known name that a piece is, with or without a list mark; empty if it is none."""
    for text in (piece, _unnumbered(piece)):
        name = normal(text)
        if name and name in known:
            return name
    return ""


def _unnumbered(piece: str) -> str:
    mark = _MARKER.match(piece)
    return piece[mark.end() :] if mark else piece
