"""Rules that accept some things and not others, and an exhaustive search for those that fit."""

from collections.abc import Sequence
from dataclasses import dataclass

Thing = tuple[str, ...]  # a value for each attribute

_VALUES = {
    "colour": "red blue green white black yellow",
    "shape": "round square oval flat pointed curved",
    "size": "tiny small medium large huge gigantic",
    "material": "wooden iron glass paper leather stone",
    "pattern": "plain striped dotted chequered wavy speckled",
    "state": "new used broken dusty wet frozen",
    "price": "free cheap fair costly precious priceless",
}
VALUES = {name: tuple(words.split()) for name, words in _VALUES.items()}


@dataclass(frozen=True, slots=True)
class Attribute:
    """A property of things, and the values that it may have."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """Rules that fit, as the things that they accept, by the number of their tests."""

    by_length: list[list[int]]
    tried: int


def fitting_rules(tests: Sequence[int], n_tests: int, seen: int, accepted: int) -> Found:
    """Return all rules of up to ``n_tests`` tests that accept just ``accepted`` of the seen things.

    A rule of one to three tests is a shorter rule joined with a test, whatever its brackets; rules
    that accept the same things are one.
    """
    rules = sorted(set(tests))
    by_length = []
    tried = len(rules)
    for length in range(1, n_tests + 1):
        by_length.append([rule for rule in rules if rule & seen == accepted])
        if length == n_tests:
            break
        tried += 2 * len(rules) * len(tests)
        if length + 1 < n_tests:
            longer = {r & t for r in rules for t in tests} | {r | t for r in rules for t in tests}
            rules = sorted(longer)
            continue
        # Of the longest rules only those that can still fit are put together.
        wide = [rule for rule in rules if not accepted & ~rule]
        narrow = [rule for rule in rules if not rule & seen & ~accepted]
        last = {r & t for r in wide for t in tests} | {r | t for r in narrow for t in tests}
        rules = sorted(last)
    return Found(by_length, tried)


def test_tables(attributes: Sequence[Attribute], things: Sequence[Thing]) -> list[int]:
    """Return the things that each test accepts, as the bits of an integer."""
    everything = (1 << len(things)) - 1
    found = []
    for k, attribute in enumerate(attributes):
        for value in attribute.values:
            table = sum(1 << i for i, thing in enumerate(things) if thing[k] == value)
            found += [table, everything ^ table]
    return found


@dataclass(frozen=True, slots=True)
class WordedRule:
    """A rule in words, and the things that it accepts, as bits."""

    text: str
    accepts: int


def fitting_rule(
    attributes: Sequence[Attribute], things: Sequence[Thing], n_tests: int, accepted: int
) -> WordedRule | None:
    """Return a rule of as few tests as possible that accepts just these of the things, if any."""
    words = [w for a in attributes for v in a.values for w in (f"is {v}", f"is not {v}")]
    tables = test_tables(attributes, things)
    tests = [WordedRule(word, table) for word, table in zip(words, tables, strict=True)]
    known = {test.accepts: test for test in reversed(tests)}
    for length in range(1, n_tests + 1):
        if accepted in known:
            return known[accepted]
        rules = list(known.values())
        for rule in rules if length < n_tests else ():
            text = rule.text if length == 1 else f"({rule.text})"
            for test in tests:
                both, either = rule.accepts & test.accepts, rule.accepts | test.accepts
                known.setdefault(both, WordedRule(f"{text} and {test.text}", both))
                known.setdefault(either, WordedRule(f"{text} or {test.text}", either))
    return None
