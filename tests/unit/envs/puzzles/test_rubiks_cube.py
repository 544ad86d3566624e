"""Rubik's cube: another model of the cube, shortest solutions by brute force, forms, cheats."""

import itertools
import math
import re

import numpy as np
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.rubiks_cube import (
    POSITIONS,
    RubiksCubeConfig,
    RubiksCubeTask,
    draw_scramble,
    log_positions,
    played,
    read_turns,
    shortest_solution,
)

TURNS = [face + suffix for face in "UDLRFB" for suffix in ("", "'", "2")]
SOLVED = {size: "".join(c * size**2 for c in "WOGRBY") for size in range(2, 12)}


def rows_of(stickers, size):
    faces = np.array(list(stickers)).reshape(6, size, size)
    return dict(zip("ULFRBD", faces, strict=True))


def quarter(faces, name, depth):
    """Turn one layer clockwise, by the strips of stickers that it moves."""
    old = {face: grid.copy() for face, grid in faces.items()}
    near, far = depth, -1 - depth
    if depth == 0:
        faces[name] = np.rot90(old[name], -1)
    if name == "U":
        for to, source in ("LF", "BL", "RB", "FR"):
            faces[to][near] = old[source][near]
    elif name == "D":
        for to, source in ("RF", "BR", "LB", "FL"):
            faces[to][far] = old[source][far]
    elif name == "R":
        faces["U"][:, far] = old["F"][:, far]
        faces["F"][:, far] = old["D"][:, far]
        faces["D"][:, far] = old["B"][::-1, near]
        faces["B"][:, near] = old["U"][::-1, far]
    elif name == "L":
        faces["F"][:, near] = old["U"][:, near]
        faces["D"][:, near] = old["F"][:, near]
        faces["B"][:, far] = old["D"][::-1, near]
        faces["U"][:, near] = old["B"][::-1, far]
    elif name == "F":
        faces["R"][:, near] = old["U"][far]
        faces["D"][near] = old["R"][::-1, near]
        faces["L"][:, far] = old["D"][near]
        faces["U"][far] = old["L"][::-1, far]
    else:
        faces["L"][:, near] = old["U"][near, ::-1]
        faces["D"][far] = old["L"][:, near]
        faces["R"][:, far] = old["D"][far, ::-1]
        faces["U"][near] = old["R"][:, far]


def turned(faces, words):
    for word in words:
        width = int(word[0]) if word[0].isdigit() else 2
        face, suffix = re.fullmatch(r"\d?([A-Z])w?(.?)", word).groups()
        for _ in range({"": 1, "2": 2, "'": 3}[suffix]):
            for depth in range(width if "w" in word else 1):
                quarter(faces, face, depth)
    return faces


def solves(problem, words):
    faces = turned(rows_of(problem.stickers, problem.size), words)
    return all(len(np.unique(grid)) == 1 for grid in faces.values())


def drawn(size, distance, seed):
    task = RubiksCubeTask(RubiksCubeConfig(size=size, distance=distance))
    return task, task.generate(stream("RubiksCube", size, distance, seed))


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_turns_move_the_stickers_of_another_model(size):
    names = "".join(chr(0x100 + i) for i in range(6 * size**2))  # every sticker is told apart
    widths = ["", "w", "3w"][: max(1, size - 2)]
    for turn, width in itertools.product(TURNS, widths):
        number, wide = width.rstrip("w"), width.lstrip("3")
        word = f"{number}{turn[0]}{wide}{turn[1:]}"
        expected = turned(rows_of(names, size), [word])
        assert played(names, size, read_turns(word, size)) == "".join(
            "".join(expected[face].ravel()) for face in "ULFRBD"
        )


@pytest.mark.parametrize("size", [2, 3])
def test_whole_small_world(size):
    task, problem = drawn(size, 2, 1)
    right = 0
    for length in (1, 2):
        for words in itertools.product(TURNS, repeat=length):
            expected = solves(problem, words)
            right += expected
            assert task.verify(problem, " ".join(words)).score == float(expected)
    assert right >= 1


@pytest.mark.parametrize(("size", "distance"), [(2, 2), (2, 3), (3, 2), (3, 3)])
def test_nothing_shorter_solves_it(size, distance):
    for seed in range(3):
        _, problem = drawn(size, distance, seed)
        for length in range(distance):
            for words in itertools.product(TURNS, repeat=length):
                assert not solves(problem, words)
        assert solves(problem, problem.solution.split())
        assert len(problem.solution.split()) == distance == problem.distance


def test_shortest_solutions_of_all_near_positions():
    """Positions found layer by layer on stickers, without the tables of the search."""
    layer = {SOLVED[2]: []}
    seen = dict(layer)
    for count in POSITIONS[2][1:5]:
        following = {}
        for stickers, path in layer.items():
            for face, quarters in itertools.product("URF", (1, 2, 3)):
                after = played(stickers, 2, [(face, 1, quarters)])
                if after not in seen:
                    seen[after] = following[after] = [*path, (face, 1, quarters)]
        assert len(following) == count
        layer = following
    for stickers, path in itertools.islice(seen.items(), 0, None, 40):
        solution = shortest_solution(2, path)
        assert len(solution) == len(path)
        assert played(stickers, 2, solution) == SOLVED[2]


def test_all_positions_of_the_small_cube_are_counted():
    assert sum(POSITIONS[2]) == 3_674_160
    assert math.isclose(math.exp(log_positions(2)), 3_674_160)
    assert math.isclose(math.exp(log_positions(3)), 43_252_003_274_489_856_000)
    assert f"{math.exp(log_positions(4)):.2e}" == "7.40e+45"


def test_a_full_scramble_of_the_small_cube_is_solved_with_at_most_eleven_moves():
    for seed in range(10):
        _, problem = drawn(2, 0, seed)
        assert 1 <= len(problem.solution.split()) == problem.distance <= 11
        assert solves(problem, problem.solution.split())


@pytest.mark.parametrize("size", [3, 4, 7, 11])
def test_full_scrambles_are_solved(size):
    task, problem = drawn(size, 0, 0)
    assert solves(problem, problem.solution.split())
    assert task.verify(problem, task.solve(problem)).status == "correct"
    assert len(set(problem.stickers)) == 6


def test_moves_of_a_scramble_do_not_join():
    for seed in range(20):
        moves = draw_scramble(stream("scramble", seed), 3, 30)
        for one, other in itertools.pairwise(moves):
            assert one[0] != other[0]
            assert {one[0], other[0]} not in ({"U", "D"}, {"L", "R"}, {"F", "B"}) or (
                (one[0], other[0]) in (("U", "D"), ("L", "R"), ("F", "B"))
            )


TASK, PROBLEM = drawn(3, 3, 5)
WORDS = PROBLEM.solution.split()


@pytest.mark.parametrize(
    "spell",
    [
        " ".join,
        "".join,
        ", ".join,
        "\n".join,
        " → ".join,
        lambda words: f"[{', '.join(words)}]",
        lambda words: f"({' '.join(words)})",
        lambda words: " ".join(words).replace("'", "\u2019"),
        lambda words: " ".join(words).replace("'", "\u2032"),
        lambda words: " ".join(words).replace("'", "3"),
        lambda words: " ".join(words).replace("'", "i"),
        lambda words: f"${' '.join(words)}$".replace("'", "^{-1}").replace("2", "^2"),
        lambda words: " ".join(words).replace("2", "2'"),
        lambda words: f"```\n{' '.join(words)}\n```",
        lambda words: "\n".join(f"{i}. {word}" for i, word in enumerate(words, 1)),
        lambda words: " ".join([*words, "U", "U'"]),
        lambda words: " ".join([*words[:2], "R", "R", "R2", *words[2:]]),
    ],
)
def test_right_answers_in_other_forms(spell):
    problem = next(
        one
        for one in (drawn(3, 3, seed)[1] for seed in range(100))
        if "'" in one.solution and "2" in one.solution
    )
    assert TASK.verify(problem, spell(problem.solution.split())).score == 1.0


def backwards(words):
    return " ".join(w.strip("'") if "'" in w else w if "2" in w else f"{w}'" for w in words[::-1])


@pytest.mark.parametrize(
    "answer",
    [
        "",
        " ",
        "R",
        "R U' F2",
        " ".join(WORDS[:-1]),
        " ".join(WORDS[1:]),
        " ".join(WORDS[::-1]),
        " ".join([*WORDS, "R"]),
        " ".join([*WORDS, WORDS[-1]]),
        " ".join(WORDS).lower(),
        backwards(WORDS),
        drawn(3, 3, 6)[1].solution,
        f"{' '.join(WORDS)} or R",
        f"the moves {' '.join(WORDS)}",
        f"not {' '.join(WORDS)}",
        f"{' '.join(WORDS)} x",
        f"{' '.join(WORDS)} M",
        " ".join(f"{word[0]}w{word[1:]}" for word in WORDS),
        " ".join(f"2{word}" for word in WORDS),
        " ".join(f"{word[0]}4" for word in WORDS),
        f"({' '.join(WORDS)})2",
        " ".join([*WORDS, *["U", "U'"] * 100]),
        "R U R' U' " * 30_000,
        "Я Ц",
        "9" * 5_000,
        "R" * 99_999,
        "R2'2'",
        "1, 2, 3",
        PROBLEM.stickers,
        TASK.prompt(PROBLEM),
        "NaN",
        "U D L R F B",
        "None",
    ],
)
def test_wrong_answers_earn_nothing(answer):
    assert TASK.verify(PROBLEM, answer).score == 0.0


def test_wide_turns_need_a_large_cube():
    assert read_turns("Rw", 3) is None
    assert read_turns("Rw 3Rw2 3Uw'", 4) == [("R", 2, 1), ("R", 3, 2), ("U", 3, 3)]
    assert read_turns("4Rw", 4) is None
    assert read_turns("2R", 4) is None


def test_the_limit_of_moves():
    assert TASK.verify(PROBLEM, " ".join([*WORDS, *["U", "U'"] * 98])).score == 1.0
    assert "at most 200 moves" in TASK.prompt(PROBLEM)
    more = TASK.verify(PROBLEM, " ".join([*WORDS, *["U", "U'"] * 99]))
    assert "more than the 200 allowed" in more.detail


def test_the_worked_solution_ends_solved():
    steps = TASK.explain(PROBLEM)
    assert len(steps) == 3
    net = steps[-1].partition(":\n")[2].splitlines()
    blocks = [net[row : row + 3] for row in (0, 3, 6)]
    for block in blocks:
        assert block[0].split() == block[1].split() == block[2].split()
    assert len(set(net[0].split())) == len(set(net[6].split())) == 1
    assert len({tuple(part.split()) for part in net[3].split("  ")}) == 4


def test_effort_counts_what_a_search_from_both_ends_looks_at():
    assert TASK.effort(PROBLEM) == (1 + 18 + 243) + (1 + 18)
    efforts = []
    for level in range(13):
        task = RubiksCubeTask(RubiksCubeConfig.at(level))
        found = [task.effort(task.generate(stream("effort", level, i))) for i in range(12)]
        efforts.append(sum(found) / 12)
    assert efforts == sorted(set(efforts))


@pytest.mark.parametrize(
    "knob", [{"size": 1}, {"size": 12}, {"distance": 9}, {"size": 4, "distance": 1}]
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(reversed(knob))):
        RubiksCubeConfig(**knob)
