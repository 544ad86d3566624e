"""The inputs of one test of each family about strings, numbers, grids, graphs and plans."""

import math

from rlvr_envs.generators.algorithms.draw import Draw, items
from rlvr_envs.generators.algorithms.family import Parameters
from rlvr_envs.generators.programs.nodes import Value


def brackets(draw: Draw, size: int, shape: str, parameters: Parameters) -> list[Value]:
    if shape == "rising":
        return ["(" * (size // 2) + ")" * (size - size // 2)]
    if shape in ("any", "few"):
        return [draw.text("()", size)]
    # Mostly balanced: a walk that is kept above zero until something breaks it.
    depth, pieces = 0, []
    for coin in draw.integers(0, 99, size):
        opens = coin < 52 if depth else coin < 97
        depth = depth + 1 if opens else max(depth - 1, 0)
        pieces.append("(" if opens else ")")
    return ["".join(pieces)]


def runs(draw: Draw, size: int, shape: str, parameters: Parameters) -> list[Value]:
    pieces: list[str] = []
    length = 0
    longest = draw.integer(1, 9) if shape != "falling" else size
    for letter, count in zip(draw.text("abcd", size), draw.integers(1, longest, size), strict=True):
        if length < size:
            pieces.append(letter * min(count, size - length))
            length += len(pieces[-1])
    return ["".join(pieces)]


def interval(draw: Draw, size: int, shape: str, parameters: Parameters) -> list[Value]:
    high = size + draw.integer(2, 20)
    return [draw.integer(1, max(high // 3, 1)), high]


def circle(draw: Draw, size: int, shape: str, parameters: Parameters) -> list[Value]:
    return [size + draw.integer(0, 9)]


def cycle(draw: Draw, size: int, shape: str, parameters: Parameters) -> list[Value]:
    # Modulo a prime, most cycles are long.
    modulus = size + draw.integer(1, 9)
    while any(modulus % divisor == 0 for divisor in range(2, math.isqrt(modulus) + 1)):
        modulus += 1
    return [draw.integer(0, modulus - 1), modulus]


def ranges(draw: Draw, size: int, shape: str, parameters: Parameters) -> list[Value]:
    size = max(size, 2)
    base = draw.integer(1, 12)
    numbers = [base * value for value in draw.integers(1, 60, size)]
    width = max(1, size // draw.integer(2, 5))
    return [numbers, draw.integers(0, size - width, size), width]


def visits(draw: Draw, size: int, shape: str, parameters: Parameters) -> list[Value]:
    horizon = parameters[0]
    starts = draw.integers(0, horizon - 1, size)
    most = horizon if shape != "few" else 9
    lengths = [
        min(length, horizon - start)
        for start, length in zip(starts, draw.integers(1, most, size), strict=True)
    ]
    return [starts, lengths]


def graph(draw: Draw, size: int, shape: str, parameters: Parameters) -> list[Value]:
    size = max(size, 2)
    edges = max(1, size * (9 if shape == "any" else 6) // 10)
    first = draw.integers(0, size - 1, edges)
    second = draw.integers(0, size - 1, edges)
    if shape in ("rising", "falling", "near"):
        second = [min(node + 1, size - 1) for node in first]
    return [size, first, second]


def grid(draw: Draw, size: int, shape: str, parameters: Parameters) -> list[Value]:
    side = max(2, math.isqrt(size))
    width = draw.integer(max(2, side // 2), 2 * side)
    height = max(2, size // width)
    cells = draw.integers(0, 9, width * height)
    # Walls in the way of most grids would make -1 or 0 the usual answer.
    thin = [max(cell, 8 * (cut % 2)) for cell, cut in zip(cells, [*cells[1:], 1], strict=True)]
    cells = cells if shape == "any" else thin
    cells[0] = cells[-1] = 9
    return [width, cells]


def coins(draw: Draw, size: int, shape: str, parameters: Parameters) -> list[Value]:
    count = draw.integer(3, 6)
    coins = sorted(set(draw.integers(1, 9, count)) | set(draw.integers(2, 40, count - 2)))
    return [coins, size + draw.integer(1, 9)]


def bags(draw: Draw, size: int, shape: str, parameters: Parameters) -> list[Value]:
    weights = draw.integers(1, 30, size)
    return [weights, draw.integers(1, 99, size), max(5, sum(weights) // draw.integer(2, 4))]


def two_lists(draw: Draw, size: int, shape: str, parameters: Parameters) -> list[Value]:
    most = draw.integer(3, 30)
    return [
        draw.integers(0, most, max(1, size - draw.integer(0, size // 4))),
        draw.integers(0, most, max(1, size)),
    ]


def piles(draw: Draw, size: int, shape: str, parameters: Parameters) -> list[Value]:
    return [[value + 1 for value in items(draw, max(size, 2), shape)]]
