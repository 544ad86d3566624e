"""Conditions on strings: each is said in words, and is an automaton."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.regular_languages.automata import Machine


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a string: its kind, the words in it and the numbers in it."""

    kind: str
    words: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()


class Kind(NamedTuple):
    """How conditions of a kind are drawn, said and decided."""

    draw: Callable[[Rng, str, int], Condition]
    say: Callable[[Condition], str]
    machine: Callable[[Condition, str], Machine]


def _word(rng: Rng, letters: str, longest: int) -> str:
    return "".join(pick(rng, letters) for _ in range(integer(rng, 2, max(2, longest))))


def _with_word(kind: str, offset: int = 0) -> Callable[[Rng, str, int], Condition]:
    return lambda rng, letters, size: Condition(kind, (_word(rng, letters, size + offset),))


def _with_letter(kind: str, low: int, offset: int = 0) -> Callable[[Rng, str, int], Condition]:
    return lambda rng, letters, size: Condition(
        kind, (pick(rng, letters),), (integer(rng, low, max(low, size + offset)),)
    )


def _overlap(seen: str, word: str) -> str:
    """Return the longest end of what was seen that is a beginning of the word."""
    return next(word[:n] for n in range(len(word), -1, -1) if seen.endswith(word[:n]))


def _begins(condition: Condition, _: str) -> Machine:
    word = condition.words[0]

    def step(at: int, letter: str) -> int:
        if at < 0 or at == len(word):
            return at
        return at + 1 if word[at] == letter else -1

    return Machine(0, step, lambda at: at == len(word))


def _ends(condition: Condition, _: str) -> Machine:
    word = condition.words[0]
    return Machine(
        "", lambda seen, letter: _overlap(seen + letter, word), lambda seen: seen == word
    )


def _contains(condition: Condition, _: str) -> Machine:
    word = condition.words[0]

    def step(seen: str, letter: str) -> str:
        return seen if seen == word else _overlap(seen + letter, word)

    return Machine("", step, lambda seen: seen == word)


def _lacks(condition: Condition, letters: str) -> Machine:
    start, step, accepts = _contains(condition, letters)
    return Machine(start, step, lambda seen: not accepts(seen))


def _counted(condition: Condition, most: int, accepts: Callable[[int], bool]) -> Machine:
    """Count a letter up to ``most``."""
    letter = condition.words[0]
    return Machine(0, lambda count, seen: min(most, count + (seen == letter)), accepts)


def _at_least(condition: Condition, _: str) -> Machine:
    wanted = condition.numbers[0]
    return _counted(condition, wanted, lambda count: count == wanted)


def _at_most(condition: Condition, _: str) -> Machine:
    wanted = condition.numbers[0]
    return _counted(condition, wanted + 1, lambda count: count <= wanted)


def _exactly(condition: Condition, _: str) -> Machine:
    wanted = condition.numbers[0]
    return _counted(condition, wanted + 1, lambda count: count == wanted)


def _draw_remainder(kind: str) -> Callable[[Rng, str, int], Condition]:
    def draw(rng: Rng, letters: str, size: int) -> Condition:
        divisor = integer(rng, 2, max(2, size))
        words = (pick(rng, letters),) if kind == "count_remainder" else ()
        return Condition(kind, words, (divisor, integer(rng, 0, divisor - 1)))

    return draw


def _remainder(condition: Condition, _: str) -> Machine:
    divisor, rest = condition.numbers

    def step(count: int, letter: str) -> int:
        counts = not condition.words or letter == condition.words[0]
        return (count + 1) % divisor if counts else count

    return Machine(0, step, lambda count: count == rest)


def _say_remainder(subject: str, divisor: int, rest: int) -> str:
    if divisor == 2:
        return f"{subject} is {'odd' if rest else 'even'}"
    if rest == 0:
        return f"{subject} is a multiple of {divisor}"
    return f"{subject} leaves the remainder {rest} when divided by {divisor}"


def _from_start(condition: Condition, _: str) -> Machine:
    (letter,), (place,) = condition.words, condition.numbers

    def step(at: int, seen: str) -> int:
        if at < 0 or at == place:
            return at
        return at + 1 if at + 1 < place or seen == letter else -1

    return Machine(0, step, lambda at: at == place)


def _from_end(condition: Condition, _: str) -> Machine:
    (letter,), (place,) = condition.words, condition.numbers

    def step(window: tuple[bool, ...], seen: str) -> tuple[bool, ...]:
        return (*window[1:], seen == letter)

    return Machine((False,) * place, step, lambda window: window[0])


def _draw_two_letters(kind: str) -> Callable[[Rng, str, int], Condition]:
    def draw(rng: Rng, letters: str, _: int) -> Condition:
        first = pick(rng, letters)
        return Condition(kind, (first, pick(rng, letters.replace(first, ""))))

    return draw


def _followed(condition: Condition, _: str) -> Machine:
    first, second = condition.words

    def step(state: str, letter: str) -> str:
        if state == "broken" or (state == "owed" and letter != second):
            return "broken"
        return "owed" if letter == first else "free"

    return Machine("free", step, lambda state: state == "free")


def _ordered(condition: Condition, _: str) -> Machine:
    first, second = condition.words

    def step(state: str, letter: str) -> str:
        if state == "late" and letter == first:
            return "broken"
        return "late" if state == "early" and letter == second else state

    return Machine("early", step, lambda state: state != "broken")


def _apart(_: Condition, __: str) -> Machine:
    def step(state: str, letter: str) -> str:
        return "broken" if state in ("broken", letter) else letter

    return Machine("", step, lambda state: state != "broken")


def _ends_alike(_: Condition, __: str) -> Machine:
    return Machine(
        "",
        lambda state, letter: (state or letter)[0] + letter,
        lambda state: bool(state) and state[0] == state[-1],
    )


def _runs(condition: Condition, _: str) -> Machine:
    (letter,), (divisor,) = condition.words, condition.numbers

    def step(length: int, seen: str) -> int:
        if length < 0 or (seen != letter and length % divisor):
            return -1
        return (length + 1) % divisor if seen == letter else 0

    return Machine(0, step, lambda length: length == 0)


def _draw_blocks(rng: Rng, letters: str, size: int) -> Condition:
    count = integer(rng, 2, 3)
    words = {_word(rng, letters, size + 1) for _ in range(count)}
    return Condition("blocks", tuple(sorted(words, key=lambda word: (len(word), word))))


def _blocks(condition: Condition, _: str) -> Machine:
    words = condition.words

    def step(rests: tuple[str, ...], letter: str) -> tuple[str, ...]:
        after = {rest[1:] for rest in rests if rest[0] == letter}
        if "" in after:
            after = (after - {""}) | set(words)
            return ("", *sorted(after))
        return tuple(sorted(after))

    def walk(state: tuple[str, ...], letter: str) -> tuple[str, ...]:
        return step(tuple(rest for rest in state if rest), letter)

    return Machine(("", *sorted(words)), walk, lambda state: "" in state)


def _draw_value(rng: Rng, _: str, size: int) -> Condition:
    divisor = integer(rng, 3, max(3, size + 1))
    return Condition("value", (), (divisor, integer(rng, 0, divisor - 1)))


def _value(condition: Condition, letters: str) -> Machine:
    divisor, rest = condition.numbers
    base = len(letters)
    return Machine(
        0,
        lambda value, letter: (value * base + letters.index(letter)) % divisor,
        lambda value: value == rest,
    )


def _say_value(condition: Condition) -> str:
    divisor, rest = condition.numbers
    return _say_remainder(
        "its value as a binary number (leading zeros are allowed; an empty one has the value 0)",
        divisor,
        rest,
    )


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{ending if isinstance(ending, str) else ending.get(number % 10, 'th')}"


def _times(number: int) -> str:
    return f"{number} time{'' if number == 1 else 's'}"


def _say_from_end(condition: Condition) -> str:
    (letter,), (place,) = condition.words, condition.numbers
    counted = "last letter" if place == 1 else f"{_ordinal(place)} letter from the end"
    return f"it has a {counted}, which is '{letter}'"


def _say_blocks(condition: Condition) -> str:
    words = " or ".join(f'"{word}"' for word in condition.words)
    return f"it consists of zero or more pieces, each of them {words}"


KINDS: dict[str, Kind] = {
    "begins": Kind(_with_word("begins"), lambda c: f'it begins with "{c.words[0]}"', _begins),
    "ends": Kind(_with_word("ends"), lambda c: f'it ends with "{c.words[0]}"', _ends),
    "contains": Kind(
        _with_word("contains", 1),
        lambda c: f'it contains "{c.words[0]}"',
        _contains,
    ),
    "lacks": Kind(
        _with_word("lacks", 1),
        lambda c: f'it does not contain "{c.words[0]}"',
        _lacks,
    ),
    "at_least": Kind(
        _with_letter("at_least", 1, 1),
        lambda c: f"the letter '{c.words[0]}' occurs at least {_times(c.numbers[0])}",
        _at_least,
    ),
    "at_most": Kind(
        _with_letter("at_most", 1, 1),
        lambda c: f"the letter '{c.words[0]}' occurs at most {_times(c.numbers[0])}",
        _at_most,
    ),
    "exactly": Kind(
        _with_letter("exactly", 1, 1),
        lambda c: f"the letter '{c.words[0]}' occurs exactly {_times(c.numbers[0])}",
        _exactly,
    ),
    "count_remainder": Kind(
        _draw_remainder("count_remainder"),
        lambda c: _say_remainder(f"the number of letters '{c.words[0]}'", *c.numbers),
        _remainder,
    ),
    "length_remainder": Kind(
        _draw_remainder("length_remainder"),
        lambda c: _say_remainder("its length", *c.numbers),
        _remainder,
    ),
    "from_start": Kind(
        _with_letter("from_start", 1, 1),
        lambda c: f"it has a {_ordinal(c.numbers[0])} letter, which is '{c.words[0]}'",
        _from_start,
    ),
    "from_end": Kind(_with_letter("from_end", 1), _say_from_end, _from_end),
    "followed": Kind(
        _draw_two_letters("followed"),
        lambda c: f"every '{c.words[0]}' is directly followed by '{c.words[1]}'",
        _followed,
    ),
    "ordered": Kind(
        _draw_two_letters("ordered"),
        lambda c: f"all letters '{c.words[0]}' come before all letters '{c.words[1]}'",
        _ordered,
    ),
    "apart": Kind(
        lambda *_: Condition("apart"), lambda _: "no two neighbouring letters are equal", _apart
    ),
    "ends_alike": Kind(
        lambda *_: Condition("ends_alike"),
        lambda _: "it is not empty, and its first and last letters are equal",
        _ends_alike,
    ),
    "runs": Kind(
        _with_letter("runs", 2),
        lambda c: (
            f"the length of every maximal run of consecutive letters '{c.words[0]}' is "
            + ("even" if c.numbers[0] == 2 else f"a multiple of {c.numbers[0]}")
        ),
        _runs,
    ),
    "blocks": Kind(_draw_blocks, _say_blocks, _blocks),
    "value": Kind(_draw_value, _say_value, _value),
}


def draw_condition(rng: Rng, letters: str, size: int) -> Condition:
    """Draw a condition; the numbers in it, and the lengths of words, grow with ``size``."""
    kinds = [kind for kind in KINDS if kind != "value" or letters == "01"]
    return KINDS[pick(rng, kinds)].draw(rng, letters, size)


def say(condition: Condition) -> str:
    """Return the condition as a clause about "it", the string."""
    return KINDS[condition.kind].say(condition)


def machine(condition: Condition, letters: str) -> Machine:
    """Return the automaton of the strings that meet the condition."""
    return KINDS[condition.kind].machine(condition, letters)
