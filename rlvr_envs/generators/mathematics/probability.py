"""The kinds of probability questions: their numbers, wording and answers.

Each kind is three functions. ``draw(rng, size)`` draws the numbers of a question,
``ask(numbers)`` gives its text, and ``value(numbers)`` its answer, an exact fraction.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import comb

from rlvr_envs.core.seeding import Rng, integer, integers
from rlvr_envs.generators.mathematics.words import counted, listed

Numbers = tuple[int, ...]

COLOURS = ("red", "blue", "green", "white", "black", "yellow")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of question."""

    draw: Callable[[Rng, int], Numbers]
    ask: Callable[[Numbers], str]
    value: Callable[[Numbers], Fraction]


def _pairs(flat: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(flat[::2], flat[1::2], strict=True))


# The sum of dice; numbers: dice, faces, target, whether a larger sum counts too.


def _draw_dice(rng: Rng, size: int) -> Numbers:
    dice, faces = integer(rng, 2 + size // 10, 2 + size // 4), integer(rng, 4 + size // 2, 6 + size)
    middle = dice * (faces + 1) // 2
    reach = max(1, middle - dice - 1)
    return dice, faces, integer(rng, middle - reach, middle + reach), integer(rng, 0, 1)


def _ask_dice(numbers: Numbers) -> str:
    dice, faces, target, above = numbers
    return (
        f"You roll {dice} fair dice. Each die has faces numbered from 1 to {faces}. What is the "
        f"probability that the sum of the rolled numbers is {'at least' if above else 'exactly'} "
        f"{target}?"
    )


def _value_dice(numbers: Numbers) -> Fraction:
    dice, faces, target, above = numbers
    least = _rolls_up_to(dice, faces, target - 1)
    hits = faces**dice - least if above else _rolls_up_to(dice, faces, target) - least
    return Fraction(hits, faces**dice)


def _rolls_up_to(dice: int, faces: int, total: int) -> int:
    """Count the rolls of at most a total, by inclusion and exclusion over faces too high."""
    return sum(
        (-1) ** over * comb(dice, over) * comb(total - over * faces, dice)
        for over in range(min(dice, total // faces) + 1)
    )


# Red and blue balls; numbers: red, blue, draws, red ones among them, whether balls go back.


def _draw_urn(rng: Rng, size: int) -> Numbers:
    red, blue = integers(rng, 2 + size // 2, 10 + size, 2)
    draws = integer(rng, 2 + size // 6, min(2 + size // 3, red + blue - 1))
    return red, blue, draws, integer(rng, max(0, draws - blue), min(red, draws)), integer(rng, 0, 1)


def _ask_urn(numbers: Numbers) -> str:
    red, blue, draws, wanted, replaced = numbers
    hits = f"exactly {wanted} of the drawn balls {'is' if wanted == 1 else 'are'}"
    if wanted == 0:
        hits = "none of the drawn balls is"
    manner = "and put each ball back before the next draw" if replaced else "without replacement"
    return (
        f"A bag holds {red} red and {blue} blue balls. You draw {draws} balls at random, one at a "
        f"time, {manner}. What is the probability that {hits} red?"
    )


def _value_urn(numbers: Numbers) -> Fraction:
    red, blue, draws, wanted, replaced = numbers
    if replaced:
        share = Fraction(red, red + blue)
        return comb(draws, wanted) * share**wanted * (1 - share) ** (draws - wanted)
    return Fraction(comb(red, wanted) * comb(blue, draws - wanted), comb(red + blue, draws))


# Several colours; numbers: draws, whether all are alike (else all different), balls by colour.


def _draw_colours(rng: Rng, size: int) -> Numbers:
    n_colours = integer(rng, min(2 + size // 8, 4), min(2 + size // 4, len(COLOURS)))
    balls = integers(rng, 2 + size // 2, 12 + size, n_colours)
    alike = 1 if n_colours == 2 else integer(rng, 0, 1)
    most = max(balls) if alike else n_colours
    top = max(2, min(most, 2 + size // 4))
    return integer(rng, min(top, 2 + size // 8), top), alike, *balls


def _ask_colours(numbers: Numbers) -> str:
    draws, alike, *balls = numbers
    content = listed([f"{n} {colour}" for n, colour in zip(balls, COLOURS, strict=False)])
    if draws == 2:
        event = "they have the same colour" if alike else "they have different colours"
    else:
        event = "they all have the same colour" if alike else "no two of them have the same colour"
    return (
        f"A box holds {content} marbles. You draw {draws} marbles at random without replacement. "
        f"What is the probability that {event}?"
    )


def _value_colours(numbers: Numbers) -> Fraction:
    draws, alike, *balls = numbers
    if alike:
        hits = sum(comb(n, draws) for n in balls)
    else:
        ways = [1] + [0] * draws
        for n in balls:
            ways = [1, *(ways[k] + n * ways[k - 1] for k in range(1, draws + 1))]
        hits = ways[draws]
    return Fraction(hits, comb(sum(balls), draws))


# Which bag was it; numbers: draws, the bag asked for, then red and blue of each bag.


def _draw_bags(rng: Rng, size: int) -> Numbers:
    n_bags = integer(rng, 2 + size // 10, 2 + size // 5)
    draws = integer(rng, 1 + size // 10, 1 + size // 5)
    content = [
        (draws + integer(rng, size // 2, 5 + size), integer(rng, 1 + size // 2, 6 + size))
        for _ in range(n_bags)
    ]
    return (draws, integer(rng, 1, n_bags), *chain(*content))


def _ask_bags(numbers: Numbers) -> str:
    draws, wanted, *flat = numbers
    event = (
        "draw one ball at random from this bag. It is red."
        if draws == 1
        else f"draw {draws} balls at random from this bag, without replacement. All are red."
    )
    return (
        f"{_contents(_pairs(flat))} You choose one of the bags at random, each with the same "
        f"probability, and {event} Given this, what is the probability that you chose bag "
        f"{wanted}?"
    )


def _contents(bags: Sequence[tuple[int, int]]) -> str:
    """Return a sentence for the red and blue balls of each bag."""
    return " ".join(
        f"Bag {i} holds {counted(red, 'red ball')} and {counted(blue, 'blue ball')}."
        for i, (red, blue) in enumerate(bags, 1)
    )


def _value_bags(numbers: Numbers) -> Fraction:
    draws, wanted, *flat = numbers
    chances = [Fraction(comb(r, draws), comb(r + b, draws)) for r, b in _pairs(flat)]
    return chances[wanted - 1] / sum(chances)


# A test for a disease; numbers: one person in so many is ill, percentages positive, repetitions.


def _draw_test(rng: Rng, size: int) -> Numbers:
    rarity = integer(rng, 2 + 5 * size, 10 + 10 * size)
    return (
        rarity,
        integer(rng, 60, 99),
        integer(rng, 1, 30),
        integer(rng, 1 + size // 10, 1 + size // 4),
    )


def _ask_test(numbers: Numbers) -> str:
    rarity, sensitivity, false_alarms, times = numbers
    result = (
        "once. The result is positive" if times == 1 else f"{times} times. All results are positive"
    )
    note = (
        ""
        if times == 1
        else (
            " Given whether a person has the disease, the results of repeated tests are "
            "independent."
        )
    )
    return (
        f"One person in {rarity} has a certain disease. If a person has the disease, a test is "
        f"positive with probability {sensitivity}%. If a person does not have the disease, the "
        f"test is positive with probability {false_alarms}%.{note} A person chosen at random is "
        f"tested {result}. What is the probability that this person has the disease?"
    )


def _value_test(numbers: Numbers) -> Fraction:
    rarity, sensitivity, false_alarms, times = numbers
    ill, well = sensitivity**times, (rarity - 1) * false_alarms**times
    return Fraction(ill, ill + well)


# Waiting for red; numbers: red, blue, which red ball ends the wait.


def _draw_wait(rng: Rng, size: int) -> Numbers:
    red = integer(rng, 2 + size, 4 + 2 * size)
    wanted = integer(rng, min(red, 1 + size // 4), min(red, 1 + size // 2))
    return red, integer(rng, 2 + 2 * size, 8 + 4 * size), wanted


def _ask_wait(numbers: Numbers) -> str:
    red, blue, wanted = numbers
    end = "a red ball" if wanted == 1 else f"{wanted} red balls"
    return (
        f"A bag holds {red} red and {blue} blue balls. You draw balls at random, one at a time and "
        f"without replacement, until you have drawn {end}. What is the expected number of balls "
        "that you draw, including the last one?"
    )


def _value_wait(numbers: Numbers) -> Fraction:
    red, blue, wanted = numbers
    return Fraction(wanted * (red + blue + 1), red + 1)


# The highest or lowest of several dice; numbers: dice, faces, whether the highest is asked for.


def _draw_extreme(rng: Rng, size: int) -> Numbers:
    dice = integer(rng, 2 + size // 10, 2 + size // 4)
    return dice, integer(rng, 3 + size // 2, 6 + size), integer(rng, 0, 1)


def _ask_extreme(numbers: Numbers) -> str:
    dice, faces, highest = numbers
    return (
        f"You roll {dice} fair dice. Each die has faces numbered from 1 to {faces}. What is the "
        f"expected value of the {'highest' if highest else 'lowest'} number rolled?"
    )


def _value_extreme(numbers: Numbers) -> Fraction:
    dice, faces, highest = numbers
    lowest = Fraction(sum(k**dice for k in range(1, faces + 1)), faces**dice)
    return faces + 1 - lowest if highest else lowest


# A ball wanders from bag to bag; numbers: red and blue of each bag.


def _draw_transfer(rng: Rng, size: int) -> Numbers:
    return integers(rng, 1 + size // 2, 6 + size, 2 * integer(rng, 2 + size // 10, 2 + size // 4))


def _ask_transfer(numbers: Numbers) -> str:
    bags = _pairs(numbers)
    last = len(bags)
    second = " Then you take a ball at random from bag 2 and put it into bag 3" if last > 2 else ""
    further = f", and so on, until you put a ball into bag {last}" if last > 3 else ""
    return (
        f"{_contents(bags)} You take a ball at random from bag 1 and put it into bag 2."
        f"{second}{further}{'.' if second else ''} Finally you draw a ball at random from bag "
        f"{last}. What is the probability that this ball is red?"
    )


def _value_transfer(numbers: Numbers) -> Fraction:
    (red, blue), *others = _pairs(numbers)
    chance = Fraction(red, red + blue)
    for red, blue in others:
        chance = (red + chance) / (red + blue + 1)
    return chance


# Turns at a die; numbers: players, the one asked for, faces, the least winning number.


def _draw_turns(rng: Rng, size: int) -> Numbers:
    players, faces = (
        integer(rng, 2 + size // 6, 2 + size // 3),
        integer(rng, 4 + size // 2, 6 + size),
    )
    return players, integer(rng, 1, players), faces, integer(rng, faces // 2 + 1, faces)


def _ask_turns(numbers: Numbers) -> str:
    players, wanted, faces, least = numbers
    goal = f"a {least}" if least == faces else f"{least} or more"
    joint = "and" if players == 2 else "to"
    return (
        f"Players 1 {joint} {players} take turns rolling a fair die with faces numbered from 1 to "
        f"{faces}. They roll in the order of their numbers and then start again with player 1. "
        f"The first player to roll {goal} wins. What is the probability "
        f"that player {wanted} wins?"
    )


def _value_turns(numbers: Numbers) -> Fraction:
    players, wanted, faces, least = numbers
    miss = Fraction(least - 1, faces)
    return miss ** (wanted - 1) * (1 - miss) / (1 - miss**players)


# A wheel of fortune; numbers: whether the variance is asked for, then sectors and prize of each.


def _draw_wheel(rng: Rng, size: int) -> Numbers:
    n_prizes = integer(rng, 2 + size // 6, 3 + size // 5)
    prizes = [
        (integer(rng, 1 + size // 2, 4 + size), integer(rng, 1 + size, 10 + 2 * size))
        for _ in range(n_prizes)
    ]
    return (integer(rng, 0, 1) if size else 0, *chain(*prizes))


def _ask_wheel(numbers: Numbers) -> str:
    spread, *flat = numbers
    sectors = [
        f"{counted(n, 'sector')} worth {counted(p, 'point')}{' each' if n > 1 else ''}"
        for n, p in _pairs(flat)
    ]
    total = sum(flat[::2])
    return (
        f"A wheel has {total} sectors of equal size: {listed(sectors)}. You spin it once and win "
        "the points of the sector where it stops. What is the "
        f"{'variance' if spread else 'expected value'} of the number of points that you win?"
    )


def _value_wheel(numbers: Numbers) -> Fraction:
    spread, *flat = numbers
    total = sum(flat[::2])
    mean = Fraction(sum(n * p for n, p in _pairs(flat)), total)
    if not spread:
        return mean
    return Fraction(sum(n * p * p for n, p in _pairs(flat)), total) - mean * mean


# A walk between ruin and a goal; numbers: whether the rounds are asked for, start, goal, and the
# chance to win a round as a numerator and a denominator.


def _draw_walk(rng: Rng, size: int) -> Numbers:
    goal = integer(rng, 3 + size // 3, 4 + size // 2)
    bottom = integer(rng, 3, 4 + size // 3)
    top = integer(rng, 1, bottom - 1)
    return integer(rng, 0, 1), integer(rng, 1, goal - 1), goal, top, bottom


def _ask_walk(numbers: Numbers) -> str:
    rounds, start, goal, top, bottom = numbers
    question = (
        "expected number of rounds that you play"
        if rounds
        else f"probability that you end with {counted(goal, 'counter')}"
    )
    return (
        f"You start a game with {counted(start, 'counter')}. In each round you win a counter with "
        f"probability {top}/{bottom}, and otherwise you lose a counter; the rounds are "
        f"independent. The game ends when you have no counters or {counted(goal, 'counter')}. "
        f"What is the {question}?"
    )


def _value_walk(numbers: Numbers) -> Fraction:
    rounds, start, goal, top, bottom = numbers
    odds = Fraction(bottom - top, top)
    if odds == 1:
        return Fraction(start * (goal - start)) if rounds else Fraction(start, goal)
    chance = (1 - odds**start) / (1 - odds**goal)
    # Each round changes the counters by (2 top - bottom) / bottom on average.
    return (goal * chance - start) * bottom / (2 * top - bottom) if rounds else chance


# Rolling until a pattern appears; numbers: faces, then the pattern.


def _draw_pattern(rng: Rng, size: int) -> Numbers:
    faces = integer(rng, 3 + size // 6, 6 + size // 3)
    period = integers(rng, 1, faces, integer(rng, 1, 2 + size // 6))
    length = integer(rng, 2 + size // 5, 3 + size // 3)
    pattern = [period[i % len(period)] for i in range(length)]
    if integer(rng, 0, 2) == 0:
        pattern[-1] = integer(rng, 1, faces)
    return faces, *pattern


def _ask_pattern(numbers: Numbers) -> str:
    faces, *pattern = numbers
    return (
        f"You roll a fair die with faces numbered from 1 to {faces} until the last rolls are "
        f"{listed([str(face) for face in pattern])}, in this order. What is the expected number "
        "of rolls, including these?"
    )


def borders(pattern: Sequence[int]) -> list[int]:
    """Return the lengths at which a pattern's beginning is also its end, the whole included."""
    return [k for k in range(1, len(pattern) + 1) if pattern[:k] == pattern[-k:]]


def _value_pattern(numbers: Numbers) -> Fraction:
    faces, *pattern = numbers
    return Fraction(sum(faces**k for k in borders(pattern)))


KINDS = {
    "dice_sum": Kind(_draw_dice, _ask_dice, _value_dice),
    "urn": Kind(_draw_urn, _ask_urn, _value_urn),
    "colours": Kind(_draw_colours, _ask_colours, _value_colours),
    "which_bag": Kind(_draw_bags, _ask_bags, _value_bags),
    "test": Kind(_draw_test, _ask_test, _value_test),
    "wait": Kind(_draw_wait, _ask_wait, _value_wait),
    "extreme": Kind(_draw_extreme, _ask_extreme, _value_extreme),
    "transfer": Kind(_draw_transfer, _ask_transfer, _value_transfer),
    "turns": Kind(_draw_turns, _ask_turns, _value_turns),
    "wheel": Kind(_draw_wheel, _ask_wheel, _value_wheel),
    "walk": Kind(_draw_walk, _ask_walk, _value_walk),
    "pattern": Kind(_draw_pattern, _ask_pattern, _value_pattern),
}
