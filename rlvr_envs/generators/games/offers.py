"""Offers in words: what a player keeps, what it gives, or both, in the usual spellings."""

import re
from collections.abc import Sequence
from functools import lru_cache

from rlvr_envs.core.games import read_move
from rlvr_envs.generators.games.bargaining import ACCEPT, REFUSE, Counts

_LONGEST = 200  # characters of a move
_MARKS = re.compile(r"\\text(?:tt|bf|rm)?|\\[ ,]|[`$*{}]")
_PLAIN = re.compile(r"[a-z0-9 ,;:=()\[\]+&\n]*\.?", re.ASCII)
_TOKEN = re.compile(r"[a-z]+|\d+", re.ASCII)
_WHICH = r"(?: (?:the|your|this|that|their|opponent's|last))*(?: (?:offer|deal))?"
_ACCEPTED = re.compile(rf"(?:i )?(?:accept|agree|deal)(?: to)?{_WHICH}\.?")
_REFUSED = re.compile(rf"(?:i )?(?:refuse|reject|decline){_WHICH}\.?|no deal\.?")
_HEAD = re.compile(r"(?:i |my )?(?:counter)?offer[: ]+(?=(?:i|you|keep|take|give|leave)\b)")
_ME = frozenset({"i", "me", "my", "myself", "mine"})
_YOU = frozenset({"you", "opponent", "they", "them", "their", "your"})
_SUBJECTS = _ME | _YOU
_VERBS = frozenset({"keep", "keeps", "take", "takes", "get", "gets", "have", "want", "receive"})
_GIVING = frozenset({"give", "leave"})
_FILLERS = frozenset({"and", "the", "of", "for", "to", "will", "share"})
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {"no": 0, "a": 1, "an": 1} | {word: i for i, word in enumerate(_WORDS)}


def read_offer(text: str, legal: tuple[str, ...]) -> str | None:
    """Return the legal move that a text spells, or None.

    An offer may say what the player keeps, what it gives, or both if they agree. Kinds that are not
    named count 0; their order, and whether the number comes before or after, does not matter, and
    plain numbers count the kinds in order.
    """
    if (move := read_move(text, legal)) is not None:
        return move
    if len(text) > _LONGEST:
        return None
    plain = " ".join(_MARKS.sub("", text).lower().split())
    for move, pattern in ((ACCEPT, _ACCEPTED), (REFUSE, _REFUSED)):
        if pattern.fullmatch(plain):
            return move if move in legal else None
    if not _PLAIN.fullmatch(plain):
        return None
    offers = _offers(legal)
    if not offers:
        return None
    kept = _kept(_TOKEN.findall(_HEAD.sub("", plain, count=1)), *_kinds_of(tuple(offers.values())))
    return next((offer for offer, each in offers.items() if dict(each) == kept), None)


@lru_cache(maxsize=64)
def _offers(legal: tuple[str, ...]) -> dict[str, tuple[tuple[str, int], ...]]:
    """Return the offers among legal moves, each as the kinds with the number that is kept."""
    found = {}
    for move in legal:
        if move not in (ACCEPT, REFUSE):
            words = (part.split() for part in move.removeprefix("keep ").split(", "))
            found[move] = tuple((kind.removesuffix("s"), int(n)) for n, kind in words)
    return found


@lru_cache(maxsize=64)
def _kinds_of(offers: tuple[tuple[tuple[str, int], ...], ...]) -> tuple[tuple[str, ...], Counts]:
    kinds = tuple(kind for kind, _ in offers[0])
    return kinds, tuple(max(each[i][1] for each in offers) for i in range(len(kinds)))


def _kept(tokens: Sequence[str], kinds: tuple[str, ...], counts: Counts) -> dict[str, int] | None:
    """Return what an offer keeps, given its words; None where they do not say it clearly."""
    clauses = _clauses(tokens)
    if not 1 <= len(clauses) <= 2 or len(tokens) == 1:
        return None
    if len(clauses) == 2 and clauses[1][1] == ["rest"]:
        del clauses[1]
    kept = list[dict[str, int]]()
    for own, words in clauses:
        share = _share(words, kinds, counts)
        if share is None:
            return None
        every = {kind: (share.get(kind, 0), n) for kind, n in zip(kinds, counts, strict=True)}
        kept.append({kind: n if own else most - n for kind, (n, most) in every.items()})
    return kept[0] if all(each == kept[0] for each in kept) else None


def _clauses(tokens: Sequence[str]) -> list[tuple[bool, list[str]]]:
    """Split an offer in what the player keeps (True) and what it gives (False).

    Words that say which of the two come before the items; otherwise nothing is returned.
    """
    clauses = list[tuple[bool, list[str]]]()
    mine, before = True, ""
    for token in tokens:
        if token in _FILLERS:
            continue
        side = _side(token, before, mine)
        if side is not None:
            mine = side
        elif clauses and clauses[-1][0] == mine:
            clauses[-1][1].append(token)
        elif clauses and tokens[0] == clauses[0][1][0]:
            return []  # "1 hat for you, 2 books for me"
        else:
            clauses.append((mine, [token]))
        before = token
    return clauses if clauses and clauses[-1][0] == mine else []


def _side(token: str, before: str, mine: bool) -> bool | None:
    """Return whether a word turns to what the player keeps; None where it names items."""
    if token in _SUBJECTS:
        return token in _ME
    if token in _GIVING:
        return False
    if token in _VERBS:
        return mine if before in _SUBJECTS else True
    return None


def _share(words: list[str], kinds: tuple[str, ...], counts: Counts) -> dict[str, int] | None:
    """Return the numbers of the kinds that a list of items says, None where it is no list."""
    most = dict(zip(kinds, counts, strict=True))
    if words == ["nothing"]:
        return {}
    if words in (["everything"], ["all"]):
        return most
    if len(words) == len(kinds) and all(_number(word, 0) is not None for word in words):
        words = [each for pair in zip(words, kinds, strict=True) for each in pair]
    if len(words) % 2 or not words:
        return None
    first, second = words[::2], words[1::2]
    if first[0].removesuffix("s") in most:
        first, second = second, first
    share = dict[str, int]()
    for word, name in zip(first, second, strict=True):
        kind = name.removesuffix("s")
        number = _number(word, most.get(kind, -1))
        if kind not in most or kind in share or number is None:
            return None
        share[kind] = number
    return share


def _number(word: str, most: int) -> int | None:
    """Return the number that a word says, of a kind of which there are so many."""
    if word == "all" and most > 0:
        return most
    if word == "both" and most == 2:
        return most
    return int(word) if word.isdecimal() else _NUMBERS.get(word)
