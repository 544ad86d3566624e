"""The exact search over candidates: all solutions of small random puzzles, rivals, clues."""

import itertools

import pytest

from rlvr_envs.core.seeding import integer, stream
from rlvr_envs.generators.grids.candidates import (
    Network,
    RowSet,
    Table,
    rival_of,
    search,
    shuffled,
    shuffled_order,
)
from rlvr_envs.generators.grids.clues import choose_clues
from rlvr_envs.generators.grids.latin_squares import given_masks, lines, random_square

N_CELLS, N_VALUES = 5, 3
OPEN = [0b1110] * N_CELLS
EVERYTHING = 10**6


def random_puzzle(rng):
    """Groups of different values and tables of allowed rows, drawn at random."""
    groups = tuple(
        tuple(sorted(shuffled(rng, N_CELLS)[: integer(rng, 2, N_VALUES)]))
        for _ in range(integer(rng, 0, 2))
    )
    tables = []
    for _ in range(integer(rng, 0, 2)):
        cells = tuple(shuffled(rng, N_CELLS)[: integer(rng, 1, 3)])
        every = list(itertools.product(range(1, N_VALUES + 1), repeat=len(cells)))
        rows = [every[i] for i in shuffled(rng, len(every))[: integer(rng, 0, len(every))]]
        tables.append((cells, rows))
    return groups, tables


def fits(values, groups, tables):
    return all(len({values[c] for c in group}) == len(group) for group in groups) and all(
        tuple(values[c] for c in cells) in rows for cells, rows in tables
    )


def network_of(groups, tables):
    rules = [Table(cells, RowSet(rows)) for cells, rows in tables]
    return Network(N_CELLS, groups=groups, rules=rules, n_values=N_VALUES)


@pytest.mark.parametrize("seed", range(60))
def test_all_solutions_of_random_puzzles(seed):
    rng = stream("Candidates", seed)
    groups, tables = random_puzzle(rng)
    network = network_of(groups, tables)
    every = itertools.product(range(1, N_VALUES + 1), repeat=N_CELLS)
    right = {values for values in every if fits(values, groups, tables)}
    order = shuffled_order(rng, N_CELLS, N_VALUES)
    for chosen in (None, order):
        found = search(network, OPEN, limit=EVERYTHING, max_nodes=EVERYTHING, order=chosen)
        assert len(found.solutions) == len(set(found.solutions))
        assert set(found.solutions) == right
        assert found.complete
    for solution in sorted(right)[:5]:
        rival = rival_of(solution, network, OPEN)
        assert rival.none_exists == (right == {solution})
        assert rival.values is None or rival.values in right - {solution}
        assert (rival.values is None) == rival.none_exists


def test_limits_end_a_search_without_a_claim():
    network = Network(N_CELLS)
    one = search(network, OPEN, limit=1, max_nodes=EVERYTHING)
    assert (len(one.solutions), one.complete) == (1, False)
    none = search(network, OPEN, limit=1, max_nodes=2)
    assert (none.solutions, none.complete) == ((), False)
    rival = rival_of((1,) * N_CELLS, network, OPEN, 2)
    assert not rival.none_exists
    assert rival.values is None
    assert rival.differs_at((1,) * N_CELLS, [0, 3]) == [0, 3]


def test_steps_are_a_property_of_the_puzzle():
    network = Network(16, groups=lines(4), n_values=4)
    masks = given_masks((1, 2, 3, 4) + (0,) * 12, 4)
    first, second = (search(network, masks, limit=99, max_nodes=EVERYTHING) for _ in range(2))
    assert first == second
    assert len(first.solutions) == 24  # the squares of side 4 whose first row is fixed
    assert first.steps > 24


@pytest.mark.parametrize("size", [1, 2, 3, 5, 9, 14])
def test_random_squares_are_latin(size):
    square = random_square(stream("Candidates", "square"), size)
    for line in lines(size):
        assert sorted(square[cell] for cell in line) == list(range(1, size + 1))


@pytest.mark.parametrize("seed", range(10))
def test_chosen_clues_leave_one_solution_and_none_too_many(seed):
    rng = stream("Candidates", "clues", seed)
    network = Network(16, groups=lines(4), n_values=4)
    solution = random_square(rng, 4)
    kept = choose_clues(rng, network, solution, 0, 0b11110)

    def count(shown):
        givens = [v if cell in shown else 0 for cell, v in enumerate(solution)]
        return len(search(network, given_masks(givens, 4), limit=2, max_nodes=999).solutions)

    assert kept == sorted(set(kept))
    assert count(kept) == 1
    assert all(count([c for c in kept if c != cell]) == 2 for cell in kept)
