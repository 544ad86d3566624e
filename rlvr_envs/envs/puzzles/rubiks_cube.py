"""Rubik's cube: turn the faces of a scrambled cube until each face has one colour."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, product
from math import exp, lgamma, log

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.verifiers.certificate import lines, separated, unbracketed
from rlvr_envs.verifiers.parse import MAX_CHARACTERS

FACES = "ULFRBD"  # the order of the faces in a state, each row by row as in the net
COLOURS = "WOGRBY"
_LARGEST = 11
_MOST_DRAWS = 30
_MOST_SHOWN = 40  # moves of a worked solution that are shown with the cube after each

# Positions at each distance from a solved cube (half turns count as one turn): for 2x2x2 all of
# them, for 3x3x3 the first ones.
POSITIONS = {
    2: (1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644),
    3: (1, 18, 243, 3240, 43239, 574908, 7618438, 100803036, 1332343288),
}
_FARTHEST = {2: 9, 3: 8}  # the longest exact distance that is drawn
_DEPTH = {2: 5, 3: 4}  # of the table of positions near the solved cube

# Size and distance of the first levels; the distance 0 is a full scramble.
_LEVELS = (
    *((2, 2), (2, 3), (3, 3), (2, 5), (3, 4), (2, 7)),
    *((3, 5), (2, 0), (3, 7), (3, 8), (3, 0)),
)

_INVERSE = r"['\u2019\u2032\u2018`\u00b4\u02b9\u02bci]|\^?\{?(?:-1|\\prime)\}?|\u207b\u00b9"
_MOVE = re.compile(
    r"(?P<width>[1-9][0-9]?(?=[UDLRFB]w))?(?P<face>[UDLRFB])(?P<wide>w)?"
    rf"(?:(?P<half>\^?\{{?2\}}?'?|'2|\u00b2)|(?P<inverse>\^?\{{?3\}}?|{_INVERSE}))?[\s,;]*"
)

Move = tuple[str, int, int]  # a face, the layers that turn with it, the quarter turns clockwise


@dataclass(frozen=True, slots=True, kw_only=True)
class RubiksCubeConfig(TaskConfig):
    """The size of the cube, and how far it is from being solved."""

    size: int = knob(3, "cubies along an edge of the cube", low=2, high=_LARGEST)
    distance: int = knob(
        0,
        "fewest moves that solve it: up to 9 for size 2, up to 8 for size 3; 0 is a full scramble",
        low=0,
        high=9,
    )

    def check(self) -> None:
        if self.distance > _FARTHEST.get(self.size, 0):
            raise ConfigError(
                f"distance is at most {_FARTHEST.get(self.size, 0)} for size {self.size} (0 is a "
                f"full scramble), got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "RubiksCubeConfig":
        """First 2x2x2 and 3x3x3 take more and more moves; a full 2x2x2 scramble is level 7.

        Level 10 is a full 3x3x3 scramble, and each level after it is one size larger, up to 11.
        """
        if difficulty < len(_LEVELS):
            size, distance = _LEVELS[difficulty]
            return cls(size=size, distance=distance)
        return cls(size=min(_LARGEST, difficulty - 7))


@dataclass(frozen=True, slots=True)
class RubiksCubeProblem:
    """The colours of the faces U, L, F, R, B and D, each row by row as in the net."""

    size: int
    stickers: str
    solution: str = hidden()
    distance: int = hidden()  # fewest moves; 0 where it is not known


@register("RubiksCube-v0", domain="puzzles")
class RubiksCubeTask(Task[RubiksCubeConfig, RubiksCubeProblem]):
    """Find turns that solve a scrambled Rubik's cube.

    Description:
        A cube whose faces have random colours, scrambled by turns of its layers. Up to a distance
        of 9 moves for 2x2x2 and 8 for 3x3x3, no shorter sequence solves it.

    Observation:
        The net of the cube with a letter for each colour, and the limit of moves.

    Action:
        Moves in Singmaster's notation, such as ``R U' F2``; from 4x4x4 on also wide turns, such as
        ``Rw`` and ``3Rw``.

    Reward:
        1 for moves that leave each face with one colour, otherwise 0.

    Verification:
        The moves are played on the stickers. The cube as a whole may end in any orientation. No
        known gaps.

    Difficulty:
        The fewest moves grow while a search can still find them; full scrambles need a method
        that moves a few pieces and keeps the others. Larger cubes have centres to build, edges to
        pair and positions that no small cube has. Effort is the number of positions that a search
        from both ends looks at; for a full scramble from 3x3x3 on it is the square root of the
        number of positions.

    References:
        Singmaster, "Notes on Rubik's Magic Cube", 1981, for the notation.
        Rokicki, Kociemba, Davidson and Dethridge, "The Diameter of the Rubik's Cube Group Is
        Twenty", 2013, for the numbers of positions.
    """

    def generate(self, rng: Rng) -> RubiksCubeProblem:
        size, distance = self.config.size, self.config.distance
        scramble = draw_scramble(rng, size, distance or _full_length(size))
        solution, exact = inverse(scramble), 0
        if size == 2 or distance:
            for _ in range(_MOST_DRAWS):
                shortest = shortest_solution(size, scramble)
                if len(shortest) > exact:
                    solution, exact = shortest, len(shortest)
                if exact and exact >= distance:
                    break
                scramble = draw_scramble(rng, size, distance or _full_length(size))
            scramble = inverse(solution)
        colours = rng.permutation(list(COLOURS)).tolist()
        solved = "".join(colour * size**2 for colour in colours)
        return RubiksCubeProblem(size, played(solved, size, scramble), written(solution), exact)

    def prompt(self, problem: RubiksCubeProblem) -> str:
        size = problem.size
        wide = (
            "A w after the letter turns the two outer layers on that side together (Rw, Rw', Rw2), "
            "and a number before it that many outer layers (3Rw). "
            if size > 3
            else ""
        )
        return (
            f"Solve this scrambled {size}×{size}×{size} Rubik's cube: find moves after which every "
            "face shows a single colour. The faces are called U (up), D (down), L (left), R "
            "(right), F (front) and B (back). The colours of the stickers, as letters, on the "
            f"unfolded cube:\n\n{show_net(problem.stickers, size)}\n\n"
            "The block at the top is U, the four blocks in the middle are L, F, R and B from left "
            "to right, and the block at the bottom is D. Each face is drawn as seen from outside "
            "the cube. The lowest row of U and the highest row of D touch F; the right edge of B "
            "touches the left edge of L.\n\n"
            "A move is the letter of a face. It turns the outer layer on that side by 90 degrees "
            "clockwise, as seen by someone who looks at that face from outside: U, for example, "
            "moves the highest row of F to L. With ' after the letter (U') it turns 90 degrees "
            f"anticlockwise, and with 2 (U2) 180 degrees. {wide}Any colour may end on any "
            f"face.\n\nAnswer with at most {move_limit(size):,} moves in the order in which "
            "they are made, separated by spaces, for example: R U' F2"
        )

    def verify(self, problem: RubiksCubeProblem, answer: str) -> Verdict:
        limit = move_limit(problem.size)
        moves = read_turns(answer, problem.size)
        if moves is None:
            wide = " or 3Rw'" if problem.size > 3 else ""
            return Verdict.unparsable(f"expected moves such as R, U' or F2{wide}, and nothing else")
        if len(moves) > limit:
            return Verdict.wrong(f"{len(moves)} moves are more than the {limit:,} allowed")
        stickers, area = played(problem.stickers, problem.size, moves), problem.size**2
        for face, at in zip(FACES, range(0, 6 * area, area), strict=True):
            if len(set(stickers[at : at + area])) > 1:
                return Verdict.wrong(f"after these moves the face {face} has several colours")
        return Verdict.correct()

    def solve(self, problem: RubiksCubeProblem) -> str:
        return problem.solution

    def explain(self, problem: RubiksCubeProblem) -> list[str]:
        """Return the moves in order, with the cube after each where it is small."""
        steps, stickers, size = [], problem.stickers, problem.size
        words = problem.solution.split()
        for number, word in enumerate(words, 1):
            stickers = played(stickers, size, read_turns(word, size) or [])
            shown = size <= 3 and len(words) <= _MOST_SHOWN
            net = f", the cube is:\n{show_net(stickers, size)}" if shown else "."
            steps.append(f"After move {number}, {word}{net}" if shown else f"Turn {word}{net}")
        return steps

    def effort(self, problem: RubiksCubeProblem) -> float:
        """Return how many positions a search from both ends looks at."""
        if not problem.distance:
            return exp(log_positions(problem.size) / 2)
        within = list(accumulate(POSITIONS[problem.size]))
        half = problem.distance // 2
        return within[half] + within[problem.distance - half]

    def baseline(self, rng: Rng, problem: RubiksCubeProblem) -> str:
        """Make the turn after which most stickers have their face's main colour, then one more."""
        stickers, chosen = problem.stickers, list[Move]()
        for _ in range(2):
            best: tuple[int, float, Move] = max(
                (_alike(played(stickers, problem.size, [move]), problem.size), rng.random(), move)
                for move in product(FACES, (1,), (1, 2, 3))
            )
            chosen.append(best[2])
            stickers = played(stickers, problem.size, [best[2]])
        return written(chosen)


def move_limit(size: int) -> int:
    """Return how many moves an answer may have: enough for the methods that people use."""
    return 200 * max(1, size - 2)


def _alike(stickers: str, size: int) -> int:
    """Return how many stickers have the commonest colour of their face."""
    area = size**2
    faces = [stickers[at : at + area] for at in range(0, 6 * area, area)]
    return sum(max(map(face.count, COLOURS)) for face in faces)


def _full_length(size: int) -> int:
    """Return the moves of a full scramble; about those of the World Cube Association."""
    return 25 if size <= 3 else 20 * (size - 2)


def log_positions(size: int) -> float:
    """Return the natural logarithm of the number of positions of a cube."""

    def factorial(number: int) -> float:
        return lgamma(number + 1)

    middle = size % 2
    # Even cubes have no fixed centres, so that one corner stands for the orientation of the whole.
    corners = factorial(7 + middle) + (6 + middle) * log(3)
    edges = middle * (factorial(12) + 10 * log(2))
    inner = (size - 2) // 2
    wings = inner * factorial(24)
    centres = inner * (inner + middle) * (factorial(24) - 6 * factorial(4))
    return corners + edges + wings + centres


# Cubes: stickers, moves, and shortest solutions.

_Point = tuple[int, int, int]


def _turned(face: str, point: _Point) -> _Point:
    """Return where a quarter turn of a face, clockwise as seen from outside, moves a point.

    The axes: x points right, y up and z to the front.
    """
    x, y, z = point
    match face:
        case "R":
            return x, z, -y
        case "L":
            return x, -z, y
        case "U":
            return -z, y, x
        case "D":
            return z, y, -x
        case "F":
            return y, -x, z
        case _:
            return -y, x, z


def _depth(face: str, point: _Point) -> int:
    """Return how far out a point lies on the side of a face."""
    x, y, z = point
    return {"R": x, "L": -x, "U": y, "D": -y, "F": z, "B": -z}[face]


@lru_cache(maxsize=16)
def _stickers(size: int) -> tuple[tuple[_Point, _Point], ...]:
    """Return the cubie and the direction of each sticker, in the order of a state."""
    ends = range(1 - size, size, 2)
    top = size - 1
    found: list[tuple[_Point, _Point]] = []
    for row, column in product(ends, repeat=2):
        found.append(((column, top, row), (0, 1, 0)))
    for row, column in product(ends, repeat=2):
        found.append(((-top, -row, column), (-1, 0, 0)))
    for row, column in product(ends, repeat=2):
        found.append(((column, -row, top), (0, 0, 1)))
    for row, column in product(ends, repeat=2):
        found.append(((top, -row, -column), (1, 0, 0)))
    for row, column in product(ends, repeat=2):
        found.append(((-column, -row, -top), (0, 0, -1)))
    for row, column in product(ends, repeat=2):
        found.append(((column, -top, -row), (0, -1, 0)))
    return tuple(found)


@lru_cache(maxsize=4096)
def goes_to(size: int, move: Move) -> tuple[int, ...]:
    """Return, for each place of a sticker, where the move takes what is there."""
    face, layers, quarters = move
    stickers = _stickers(size)
    number = {sticker: i for i, sticker in enumerate(stickers)}
    after = []
    for sticker in stickers:
        place = sticker
        if _depth(face, place[0]) > size - 1 - 2 * layers:
            for _ in range(quarters):
                place = _turned(face, place[0]), _turned(face, place[1])
        after.append(number[place])
    return tuple(after)


@lru_cache(maxsize=4096)
def _comes_from(size: int, move: Move) -> tuple[int, ...]:
    source = [0] * (6 * size**2)
    for before, after in enumerate(goes_to(size, move)):
        source[after] = before
    return tuple(source)


def played(stickers: str, size: int, moves: list[Move]) -> str:
    """Return the stickers after some moves."""
    for move in moves:
        stickers = "".join([stickers[i] for i in _comes_from(size, move)])
    return stickers


def inverse(moves: list[Move]) -> list[Move]:
    """Return the moves that undo some moves."""
    return [(face, layers, 4 - quarters) for face, layers, quarters in reversed(moves)]


def written(moves: list[Move]) -> str:
    """Return moves in Singmaster's notation."""
    words = []
    for face, layers, quarters in moves:
        width = "" if layers < 3 else str(layers)
        words.append(f"{width}{face}{'w' * (layers > 1)}{('', '2', chr(39))[quarters - 1]}")
    return " ".join(words)


def read_turns(text: str, size: int) -> list[Move] | None:
    """Return the moves of a text, or None if it is not a list of moves of a cube of this size.

    They may stand apart or together. An inverse is ``R'``, with any apostrophe, ``R3``, ``Ri`` or
    ``R^{-1}``; a half turn is ``R2`` or ``R2'``.
    """
    if len(text) > MAX_CHARACTERS:
        return None
    plain = separated(unbracketed("\n".join(lines(text))))
    moves, at = list[Move](), 0
    while at < len(plain):
        found = _MOVE.match(plain, at)
        if found is None:
            return None
        layers = int(found["width"] or 2) if found["wide"] else 1
        if found["wide"] and (size < 4 or not 1 < layers < size):
            return None
        moves.append((found["face"], layers, 2 if found["half"] else 3 if found["inverse"] else 1))
        at = found.end()
    return moves or None


def show_net(stickers: str, size: int) -> str:
    """Return the unfolded cube as text."""
    rows = [stickers[i : i + size] for i in range(0, len(stickers), size)]
    margin = " " * (2 * size + 1)
    shown = [margin + " ".join(row) for row in rows[:size]]
    for row in range(size):
        beside = [rows[face * size + row] for face in range(1, 5)]
        shown.append("  ".join(" ".join(each) for each in beside))
    shown += [margin + " ".join(row) for row in rows[5 * size :]]
    return "\n".join(shown)


def draw_scramble(rng: Rng, size: int, length: int) -> list[Move]:
    """Draw moves none of which undoes or joins another.

    On the 2x2x2 the corner at L, D and B stays: turns of those faces are turns of the others, seen
    from another side.
    """
    faces = "URF" if size == 2 else FACES
    moves = list[Move]()
    while len(moves) < length:
        move = pick(rng, faces), integer(rng, 1, max(1, size // 2)), integer(rng, 1, 3)
        if not moves or _may_follow(moves[-1], move):
            moves.append(move)
    return moves


_OPPOSITE = dict(zip("ULFDRB", "DRBULF", strict=True))


def _may_follow(last: Move, move: Move) -> bool:
    """Whether two moves are neither turns of one side, nor of opposite sides out of order."""
    if last[0] == move[0]:
        return last[1] != move[1] and last[1] < move[1]
    return _OPPOSITE[last[0]] != move[0] or FACES.index(last[0]) < FACES.index(move[0])


@lru_cache(maxsize=2)
def _tables(size: int) -> tuple[bytes, list[tuple[Move, bytes]]]:
    """Return the solved state of a search, and what its moves do to a state.

    A state holds where one sticker of each cubie is that can move, one byte each.
    """
    marked: dict[_Point, int] = {}
    for number, (cubie, _) in enumerate(_stickers(size)):
        is_centre = sum(map(abs, cubie)) == size - 1
        if not is_centre and (size > 2 or cubie != (-1, -1, -1)):
            marked.setdefault(cubie, number)
    faces = "URF" if size == 2 else FACES
    fill = bytes(range(6 * size**2, 256))
    moves = [(move, bytes(goes_to(size, move)) + fill) for move in product(faces, (1,), (1, 2, 3))]
    return bytes(marked.values()), moves


@lru_cache(maxsize=2)
def _near_solved(size: int) -> dict[bytes, tuple[Move, ...]]:
    """Return the positions near the solved one, with the moves that lead there."""
    solved, moves = _tables(size)
    known: dict[bytes, tuple[Move, ...]] = {solved: ()}
    layer = [solved]
    for _ in range(_DEPTH[size]):
        layer = _next_layer(layer, known, moves)
    return known


def _next_layer(
    layer: list[bytes],
    known: dict[bytes, tuple[Move, ...]],
    moves: list[tuple[Move, bytes]],
) -> list[bytes]:
    following = []
    for state in layer:
        path = known[state]
        for move, table in moves:
            after = state.translate(table)
            if after not in known:
                known[after] = (*path, move)
                following.append(after)
    return following


def shortest_solution(size: int, scramble: list[Move]) -> list[Move]:
    """Return a shortest solution of a scrambled 2x2x2, or of a 3x3x3 that takes few moves.

    It searches forwards until it meets the positions near the solved one.
    """
    start, moves = _tables(size)
    tables = dict(moves)
    for move in scramble:
        start = start.translate(tables[move])
    near = _near_solved(size)
    known: dict[bytes, tuple[Move, ...]] = {start: ()}
    layer = [start]
    while True:
        for state in layer:
            if state in near:
                return [*known[state], *inverse(list(near[state]))]
        layer = _next_layer(layer, known, moves)
