"""Steps to the values of `probability`, a function for each kind of question."""

from collections.abc import Callable
from fractions import Fraction
from math import comb

from rlvr_envs.generators.mathematics.counting_steps import choose
from rlvr_envs.generators.mathematics.probability import COLOURS, borders
from rlvr_envs.generators.mathematics.steps import operand, times, total, worked
from rlvr_envs.generators.mathematics.words import counted

Numbers = tuple[int, ...]


def _dice(numbers: Numbers) -> list[str]:
    dice, faces, target, above = numbers
    ways = [0, *([1] * faces)]  # by the sum
    steps = [f"One die rolls each number from 1 to {faces} in 1 way."]
    for count in range(2, dice + 1):
        ways = [sum(ways[max(0, s - faces) : min(s, len(ways))]) for s in range(len(ways) + faces)]
        told = ", ".join(map(str, ways[count:]))
        steps.append(f"Ways to roll the sums {count} to {len(ways) - 1} with {count} dice: {told}")
    steps.append(f"All rolls: {faces}^{dice} = {faces**dice}")
    hits = sum(ways[target:]) if above else ways[target]
    if above:
        steps.append(f"Ways with a sum of at least {target}: {hits}")
    return [*steps, f"{hits} / {faces**dice} = {Fraction(hits, faces**dice)}"]


def _urn(numbers: Numbers) -> list[str]:
    red, blue, draws, wanted, replaced = numbers
    if replaced:
        share = Fraction(red, red + blue)
        return [
            f"Each ball drawn is red with the probability {red} / {red + blue} = {share}.",
            f"The red ones can come in {choose(draws, wanted)} orders.",
            _product([comb(draws, wanted)], [(share, wanted), (1 - share, draws - wanted)]),
        ]
    hits = comb(red, wanted) * comb(blue, draws - wanted)
    everything = comb(red + blue, draws)
    return [
        f"Choose {draws} of {red + blue} balls: {choose(red + blue, draws)}",
        f"Choose {wanted} red ones: {choose(red, wanted)}",
        f"Choose {draws - wanted} blue ones: {choose(blue, draws - wanted)}",
        f"{comb(red, wanted)} * {comb(blue, draws - wanted)} = {hits}",
        f"{hits} / {everything} = {Fraction(hits, everything)}",
    ]


def _product(factors: list[int], powers: list[tuple[Fraction, int]]) -> str:
    """Return a product of numbers and powers, with its value."""
    text = times(factors)
    value = Fraction(1)
    for factor in factors:
        value *= factor
    for base, exponent in powers:
        if exponent:
            text += f" * {operand(base)}^{exponent}"
        value *= base**exponent
    return f"{text} = {value}"


def _colours(numbers: Numbers) -> list[str]:
    draws, alike, *balls = numbers
    everything = comb(sum(balls), draws)
    steps = [f"Choose {draws} of {sum(balls)} marbles: {choose(sum(balls), draws)}"]
    if alike:
        steps += [
            f"All {name}: {choose(n, draws)}" for name, n in zip(COLOURS, balls, strict=False)
        ]
        parts = [comb(n, draws) for n in balls]
        steps.append(f"{worked(total(parts), sum(parts))}")
        hits = sum(parts)
    else:
        steps.append(
            f"Count choices of 0 to {draws} marbles of different colours, one colour at a time."
        )
        ways = [1] + [0] * draws
        for name, n in zip(COLOURS, balls, strict=False):
            ways = [1, *(ways[k] + n * ways[k - 1] for k in range(1, draws + 1))]
            steps.append(f"With {n} {name} ones: {', '.join(map(str, ways))}")
        hits = ways[draws]
    return [*steps, f"{hits} / {everything} = {Fraction(hits, everything)}"]


def _bags(numbers: Numbers) -> list[str]:
    draws, wanted, *flat = numbers
    chances = []
    steps = ["The bags are equally likely, so compare how likely each makes what was drawn."]
    for i, (red, blue) in enumerate(zip(flat[::2], flat[1::2], strict=True), 1):
        top, bottom = comb(red, draws), comb(red + blue, draws)
        chances.append(Fraction(top, bottom))
        how = "" if draws == 1 else f"{choose(red, draws)}, {choose(red + blue, draws)}, "
        steps.append(f"Bag {i}: {how}{top} / {bottom} = {chances[-1]}")
    share, everything = chances[wanted - 1], sum(chances)
    return [
        *steps,
        f"{total(chances)} = {everything}",
        f"Bag {wanted}: {operand(share)} / {operand(everything)} = {share / everything}",
    ]


def _test(numbers: Numbers) -> list[str]:
    rarity, sensitivity, false_alarms, times_ = numbers
    ill = Fraction(1, rarity) * Fraction(sensitivity, 100) ** times_
    well = Fraction(rarity - 1, rarity) * Fraction(false_alarms, 100) ** times_
    power = "" if times_ == 1 else f"^{times_}"
    return [
        f"Ill and positive: 1 / {rarity} * ({sensitivity} / 100){power} = {ill}",
        f"Well and positive: {rarity - 1} / {rarity} * ({false_alarms} / 100){power} = {well}",
        f"Positive in all: {ill} + {well} = {ill + well}",
        f"The share of the ill: {operand(ill)} / {operand(ill + well)} = {ill / (ill + well)}",
    ]


def _wait(numbers: Numbers) -> list[str]:
    red, blue, wanted = numbers
    each = Fraction(blue, red + 1)
    result = wanted * (each + 1)
    return [
        f"In the order of drawing all balls, the {red} red ones leave {red + 1} gaps.",
        f"By symmetry each gap holds {blue} / {red + 1} = {each} blue balls on average.",
        f"The wait takes {wanted} gap{'' if wanted == 1 else 's'} and as many red balls.",
        f"{wanted} * ({each} + 1) = {result}",
    ]


def _extreme(numbers: Numbers) -> list[str]:
    dice, faces, highest = numbers
    powers = [k**dice for k in range(1, faces + 1)]
    lowest = Fraction(sum(powers), faces**dice)
    steps = [
        "The expected lowest number is the sum over k of the probability that all are at least k.",
        f"All {dice} dice show at least k in ({faces} - k + 1)^{dice} of {faces}^{dice} rolls.",
        f"For k = {faces} down to 1: {total(powers)} = {sum(powers)}",
        f"{sum(powers)} / {faces**dice} = {lowest}",
    ]
    if highest:
        steps.append("Turning every number n into faces + 1 - n swaps the lowest and the highest.")
        steps.append(f"{faces} + 1 - {operand(lowest)} = {faces + 1 - lowest}")
    return steps


def _transfer(numbers: Numbers) -> list[str]:
    (red, blue), *others = zip(numbers[::2], numbers[1::2], strict=True)
    chance = Fraction(red, red + blue)
    steps = [f"The ball from bag 1 is red with the probability {red} / {red + blue} = {chance}."]
    for i, (red, blue) in enumerate(others, 2):
        new = (red + chance) / (red + blue + 1)
        steps.append(f"Bag {i} then holds {red} + {chance} = {red + chance} red balls on average,")
        steps[-1] += f" of {red + blue + 1}."
        steps.append(f"A ball from it is red: {operand(red + chance)} / {red + blue + 1} = {new}")
        chance = new
    return steps


def _turns(numbers: Numbers) -> list[str]:
    players, wanted, faces, least = numbers
    miss = Fraction(least - 1, faces)
    first = miss ** (wanted - 1) * (1 - miss)
    lap = miss**players
    return [
        f"A roll misses with the probability {least - 1} / {faces} = {miss}.",
        f"It wins with the probability 1 - {miss} = {1 - miss}.",
        f"Player {wanted} wins in the first round after {counted(wanted - 1, 'miss', 'misses')}.",
        f"{operand(miss)}^{wanted - 1} * {operand(1 - miss)} = {first}",
        f"A whole round of misses: {operand(miss)}^{players} = {lap}",
        "After that, all begins anew, so the chance is p with p = first + round * p.",
        f"{operand(first)} / (1 - {lap}) = {first / (1 - lap)}",
    ]


def _wheel(numbers: Numbers) -> list[str]:
    spread, *flat = numbers
    pairs = list(zip(flat[::2], flat[1::2], strict=True))
    sectors = sum(n for n, _ in pairs)
    points = sum(n * p for n, p in pairs)
    mean = Fraction(points, sectors)
    work = " + ".join(f"{n} * {p}" for n, p in pairs)
    steps = [
        f"Points of all sectors: {work} = {points}",
        f"The mean is {points} / {sectors} = {mean}.",
    ]
    if not spread:
        return steps
    squares = sum(n * p * p for n, p in pairs)
    work = " + ".join(f"{n} * {p}^2" for n, p in pairs)
    second = Fraction(squares, sectors)
    return [
        *steps,
        f"Squares of the points: {work} = {squares}",
        f"Their mean is {squares} / {sectors} = {second}.",
        "Subtract the square of the mean from it.",
        f"{second} - {operand(mean)}^2 = {second - mean * mean}",
    ]


def _walk(numbers: Numbers) -> list[str]:
    rounds, start, goal, top, bottom = numbers
    odds = Fraction(bottom - top, top)
    steps = [f"The odds of losing a round are ({bottom} - {top}) / {top} = {odds}."]
    if odds == 1:
        steps.append("Winning and losing are equally likely, so the counters stay on average.")
        if rounds:
            work = f"{start} * ({goal} - {start}) = {start * (goal - start)}"
            return [*steps, "The squares of the counters grow by 1 a round on average.", work]
        return [*steps, f"{start} / {goal} = {Fraction(start, goal)}"]
    low, high = odds**start, odds**goal
    chance = (1 - low) / (1 - high)
    steps += [
        "The odds to the power of the counters stay the same on average.",
        f"{operand(odds)}^{start} = {low} and {operand(odds)}^{goal} = {high}",
        f"The goal is reached with the probability (1 - {low}) / (1 - {high}) = {chance}.",
    ]
    if not rounds:
        return steps
    drift = Fraction(2 * top - bottom, bottom)
    mean = goal * chance
    return [
        *steps,
        f"At the end you have {goal} * {operand(chance)} = {mean} counters on average.",
        f"A round adds {top}/{bottom} - {bottom - top}/{bottom} = {drift} on average.",
        f"({mean} - {start}) / {operand(drift)} = {(mean - start) / drift}",
    ]


def _pattern(numbers: Numbers) -> list[str]:
    faces, *pattern = numbers
    lengths = borders(pattern)
    powers = [faces**k for k in lengths]
    return [
        "Before each roll a new player bets 1 on the first face, then all on the next ones.",
        "Each bet is fair. At the end, those hold something whose beginning matches the end.",
        f"The beginnings that are also ends have the lengths {', '.join(map(str, lengths))}.",
        f"Their players hold {faces} to these powers, as much as was bet in all.",
        worked(total(powers), sum(powers)),
    ]


STEPS: dict[str, Callable[[Numbers], list[str]]] = {
    "dice_sum": _dice,
    "urn": _urn,
    "colours": _colours,
    "which_bag": _bags,
    "test": _test,
    "wait": _wait,
    "extreme": _extreme,
    "transfer": _transfer,
    "turns": _turns,
    "wheel": _wheel,
    "walk": _walk,
    "pattern": _pattern,
}
