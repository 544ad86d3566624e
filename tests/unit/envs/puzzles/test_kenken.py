"""KenKen: the whole small world, one solution by another solver, forms of answers."""

import itertools
import math

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.kenken import Cage, KenKenConfig, KenKenProblem, KenKenTask, cut

TASK = KenKenTask(KenKenConfig(size=3, max_cage=3, n_givens=1))
# 1 2 3 / 2 3 1 / 3 1 2
SMALL = KenKenProblem(
    3,
    (Cage((0, 3), "+", 3), Cage((1, 2, 4), "*", 18), Cage((5, 8), "/", 2), Cage((6, 7), "-", 2)),
    (1, 2, 3, 2, 3, 1, 3, 1, 2),
)


def result(operation, numbers):
    """The result of an operation, by the words of the prompt."""
    if operation == "+":
        return sum(numbers)
    if operation == "*":
        return math.prod(numbers)
    if operation == "-":
        return abs(numbers[0] - numbers[1])
    if operation == "/":
        return max(numbers) / min(numbers)
    (number,) = numbers
    return number


def right(problem, cells):
    size = problem.size
    rows = [cells[i * size : (i + 1) * size] for i in range(size)]
    latin = all(len(set(unit)) == size for unit in (*rows, *zip(*rows, strict=True)))
    return latin and all(
        result(cage.operation, [cells[c] for c in cage.cells]) == cage.target
        for cage in problem.cages
    )


@pytest.mark.parametrize("seed", range(3))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("KenKen", seed))
    assert sorted(c for cage in problem.cages for c in cage.cells) == list(range(9))
    found = []
    for cells in itertools.product((1, 2, 3), repeat=9):
        expected = right(problem, cells)
        if expected:
            found.append(cells)
        answer = "{} {} {}\n{} {} {}\n{} {} {}".format(*cells)
        assert TASK.verify(problem, answer).score == expected
    assert found == [problem.solution]


@pytest.mark.parametrize(("level", "seed"), [(3, 0), (5, 1), (7, 2), (9, 3)])
def test_one_solution_by_another_solver(level, seed):
    cp_model = pytest.importorskip("ortools.sat.python.cp_model")
    problem = KenKenTask(KenKenConfig.at(level)).generate(stream("KenKen", "cp", seed))
    size = problem.size
    model = cp_model.CpModel()
    cells = [model.new_int_var(1, size, "") for _ in range(size * size)]
    for i in range(size):
        model.add_all_different(cells[i * size : (i + 1) * size])
        model.add_all_different(cells[i::size])
    for cage in problem.cages:
        rows = [
            row
            for row in itertools.product(range(1, size + 1), repeat=len(cage.cells))
            if result(cage.operation, row) == cage.target
        ]
        model.add_allowed_assignments([cells[c] for c in cage.cells], rows)
    assert cp_model.CpSolver().solve(model) == cp_model.OPTIMAL
    model.add_forbidden_assignments(cells, [problem.solution])
    assert cp_model.CpSolver().solve(model) == cp_model.INFEASIBLE


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1 2 3\n2 3 1\n3 1 2", 1.0),
        ("123\n231\n312", 1.0),
        ("[1, 2, 3], [2, 3, 1], [3, 1, 2]", 1.0),
        ("2 1 3\n1 3 2\n3 2 1", 0.0),  # the product is 9
        ("1 2 3\n3 1 2\n2 3 1", 0.0),
        ("1 2 3\n2 3 1\n3 1 1", 0.0),
        ("1 1 3\n2 3 1\n3 1 2", 0.0),
        ("1 2 3\n2 3 1", 0.0),
        ("1 2 3\n2 3 1\n3 1 x", 0.0),
        ("1 2 3\n2 3 1\n3 1 4", 0.0),
        ("SOLUTION", 0.0),
    ],
)
def test_forms_and_near_misses(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_the_prompt_names_every_cage():
    prompt = TASK.prompt(SMALL)
    for line in (
        "r1c1, r2c1: the numbers add up to 3",
        "r1c2, r1c3, r2c2: the product of the numbers is 18",
        "r2c3, r3c3: the larger number divided by the smaller one is 2",
        "r3c1, r3c2: the larger number minus the smaller one is 2",
    ):
        assert line in prompt.splitlines()


@pytest.mark.parametrize("seed", range(5))
def test_a_cut_keeps_the_cells_and_the_solution(seed):
    solution = (1, 2, 3, 2, 3, 1, 3, 1, 2)
    cages = cut(stream("KenKen", "cut", seed), Cage((0, 1, 2, 4), "+", 9), 1, solution, 3)
    assert sorted(cage.cells for cage in cages) == [(0,), (1,), (2,), (4,)]
    cages = cut(stream("KenKen", "cut", seed), Cage((0, 1, 2, 5), "+", 7), 0, solution, 3)
    assert sorted(cage.cells for cage in cages) == [(0,), (1, 2, 5)]
    assert all(result(c.operation, [solution[cell] for cell in c.cells]) == c.target for c in cages)


def test_effort_grows_and_guessing_fails():
    easy, hard = (
        [KenKenTask(KenKenConfig.at(level)).generate(stream("KenKen", s)) for s in range(10)]
        for level in (0, 8)
    )
    assert max(map(TASK.effort, easy)) < min(map(TASK.effort, hard))
    rng = stream("KenKen", "guess")
    assert sum(TASK.verify(p, TASK.baseline(rng, p)).score for p in hard) == 0.0
    assert all(TASK.verify(p, TASK.baseline(rng, p)).status != "unparsable" for p in easy)


@pytest.mark.parametrize(
    "knob", [{"size": 1}, {"max_cage": 1}, {"max_cage": 6}, {"n_givens": 26}, {"size": 10**30}]
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        KenKenConfig(**knob)


def test_effort_is_the_cells_that_are_settled():
    cages = (Cage((0,), "=", 1), Cage((1, 3), "+", 3), Cage((2,), "=", 2))
    square = KenKenProblem(2, cages, (1, 2, 2, 1))
    assert TASK.effort(square) == 2 + 1  # two cells, and the position that is left


def test_the_baseline_does_not_look_at_the_cages():
    assert TASK.baseline(stream("kenken"), SMALL) == "1 2 3\n2 1 1\n3 1 2"
