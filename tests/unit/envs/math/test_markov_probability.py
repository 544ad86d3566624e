"""Markov probability: every kind against the equations of its states, wrong answers, spellings."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.markov_probability import (
    FAMILIES,
    KINDS,
    MarkovProbabilityConfig,
    MarkovProbabilityTask,
)


def expected(start, step):
    """Solve V(s) = sum p (r + V(t)) over the states reached; a number stands for an end."""
    order, at = [start], {start: 0}
    rows = []
    for state in order:
        rows.append([])
        for p, reward, after in step(state):
            if isinstance(after, (tuple, str, frozenset)) and after not in at:
                at[after] = len(order)
                order.append(after)
            rows[-1].append((p, reward, after))
    matrix, right = np.eye(len(order)), np.zeros(len(order))
    for i, row in enumerate(rows):
        for p, reward, after in row:
            right[i] += p * reward
            if after in at:
                matrix[i, at[after]] -= p
            else:
                right[i] += p * after
    return np.linalg.solve(matrix, right)[0]


def ruin(start, goal):
    def step(state):
        return [(0.5, 1, 0 if k in (0, goal) else (k,)) for k in (state[0] - 1, state[0] + 1)]

    return expected((start,), step)


def wald(faces, stop):
    def step(state):
        return [(1 / faces, face, 0 if face >= stop else state) for face in range(1, faces + 1)]

    return expected((), step)


def biased_ruin(top, bottom, start, goal):
    def step(state):
        up, down = state[0] + 1, state[0] - 1
        won = 1 if up == goal else (up,)
        return [(top / bottom, 0, won), (1 - top / bottom, 0, 0 if down == 0 else (down,))]

    return expected((start,), step)


def press_your_luck(top, bottom, prize):
    worth = 400 * prize  # keep the pot for sure after 400 rounds
    for rounds in reversed(range(400)):
        worth = max(rounds * prize, worth * top / bottom)
    return worth


def coupons(kinds, owned, wanted, top, bottom):
    def step(state):
        new = (1 - top / bottom) * (kinds - len(state)) / kinds
        more = frozenset((*state, len(state)))
        return [(new, 1, 0 if len(more) == wanted else more), (1 - new, 1, state)]

    return expected(frozenset(range(owned)), step)


def path_cover(last, start):
    def step(state):
        place, seen = state
        ways = [k for k in (place - 1, place + 1) if 0 <= k <= last]
        after = [(k, tuple(sorted({*seen, k}))) for k in ways]
        return [(1 / len(ways), 1, 0 if len(s[1]) == last + 1 else s) for s in after]

    return expected((start, (start,)), step)


def ballot(first, second, times):
    ways = {(0, 0): 1}
    for a, b in itertools.product(range(first + 1), range(second + 1)):
        if (a, b) != (0, 0):
            good = a > times * b
            ways[a, b] = good * (ways.get((a - 1, b), 0) + ways.get((a, b - 1), 0))
    return ways[first, second] / math.comb(first + second, first)


STRAIGHT, SLANTED = [(0, 1), (0, -1), (1, 0), (-1, 0)], [(1, 1), (1, -1), (-1, 1), (-1, -1)]
JUMPS = [(a * s, b * t) for a, b in ((1, 2), (2, 1)) for s in (1, -1) for t in (1, -1)]


def chess_return(rows, columns, row, column, piece):
    name = ("king", "knight", "queen", "bishop")[piece]
    far = {"king": 1, "knight": 1}.get(name, 99)
    ways = {"knight": JUMPS, "bishop": SLANTED}.get(name, STRAIGHT + SLANTED)

    def moves(state):
        for down, across in ways:
            for length in range(1, far + 1):
                r, c = state[0] + length * down, state[1] + length * across
                if not (1 <= r <= rows and 1 <= c <= columns):
                    break
                yield r, c

    def step(state):
        if state == ("start",):
            state = (row, column)
        found = list(moves(state))
        return [(1 / len(found), 1, 0 if k == (row, column) else k) for k in found]

    return expected(("start",), step)


def branching(none, one, two, ancestors):
    dead = 0.0
    for _ in range(20_000):
        dead = (none + one * dead + two * dead**2) / (none + one + two)
    return 1 - dead**ancestors


def two_tokens(seats, away):
    def step(state):
        found = []
        for one, two in itertools.product((1, -1), repeat=2):
            after = ((state[0] + one) % seats, (state[1] + two) % seats)
            found.append((0.25, 1, 0 if after[0] == after[1] else after))
        return found

    return expected((0, away), step)


def tossing(share, ends, payoff, reward):
    longest = max(map(len, ends))

    def step(state):
        found = []
        for p, letter in ((share, "H"), (1 - share, "T")):
            after = (state + letter)[-longest:]
            hit = next((k for k, end in enumerate(ends) if after.endswith(end)), None)
            found.append((p, reward, after if hit is None else payoff[hit]))
        return found

    return expected("", step)


def pattern(top, bottom, *flips):
    return tossing(top / bottom, ["".join("TH"[f] for f in flips)], [0], 1)


def first_pattern(top, bottom, *flips):
    text = "".join("TH"[f] for f in flips)
    half = len(text) // 2
    return tossing(top / bottom, [text[:half], text[half:]], [1, 0], 0)


def stopping(faces, rolls, fee):
    """Try every threshold for every roll."""
    best = 0
    for limits in itertools.product(range(1, faces + 1), repeat=rolls - 1):
        worth = (faces + 1) / 2
        for limit in limits:
            kept = range(limit, faces + 1)
            worth = (sum(kept) + (faces - len(kept)) * (worth - fee / 4)) / faces
        best = max(best, worth)
    return best


def reflection(tosses, lead, ends_even):
    end = -(tosses % 2)
    hits = 0
    for flips in itertools.product((1, -1), repeat=tosses):
        sums = list(itertools.accumulate(flips))
        hits += lead in sums and (not ends_even or sums[-1] == end)
    return hits / 2**tosses


def unequal_coupons(*weights):
    *kinds, empty = weights
    total = sum(weights)

    def step(state):
        found = [(empty / total, 1, state)]
        for k, weight in enumerate(kinds):
            more = frozenset((*state, k))
            found.append((weight / total, 1, 0 if len(more) == len(kinds) else more))
        return found

    return expected(frozenset(), step)


def cube(dimension, away, top, bottom):
    def step(state):
        found = [(top / bottom, 1, state)]
        for k in range(dimension):
            after = tuple(bit ^ (k == i) for i, bit in enumerate(state))
            found.append(((1 - top / bottom) / dimension, 1, after if any(after) else 0))
        return found

    return expected((1,) * away + (0,) * (dimension - away), step)


def won_game(start, goal):
    won = [k / goal for k in range(goal + 1)]

    def step(state):
        up, down = state[0] + 1, state[0] - 1
        share = won[state[0]]
        found = [(0.5 * won[up] / share, 1, 0 if up == goal else (up,))]
        return found + ([(0.5 * won[down] / share, 1, (down,))] if down else [])

    return expected((start,), step)


CHECKS = {
    "ruin": (ruin, [(a, n) for n in (8, 13, 90) for a in (2, 3, 5)]),
    "wald": (wald, [(f, s) for f in (6, 20, 70) for s in (3, 5)]),
    "biased_ruin": (biased_ruin, None),
    "press_your_luck": (press_your_luck, None),
    "coupons": (coupons, None),
    "path_cover": (path_cover, [(n, a) for n in (5, 10, 12) for a in range(2, n - 1)]),
    "chess_return": (chess_return, None),
    "branching": (branching, None),
    "ballot": (ballot, None),
    "two_tokens": (
        two_tokens,
        [(n, a) for n in range(9, 16) for a in range(2, n - 1) if n % 2 or a % 2 == 0],
    ),
    "pattern": (pattern, None),
    "stopping": (stopping, [(f, r, c) for f in (6, 9) for r in (3, 4) for c in range(1, 6)]),
    "reflection": (reflection, [(n, m, e) for n in (8, 9, 12) for m in (2, 3, 4) for e in (0, 1)]),
    "unequal_coupons": (unequal_coupons, None),
    "cube": (cube, None),
    "won_game": (won_game, [(a, n) for n in (8, 13, 90) for a in (2, 3, 5)]),
    "first_pattern": (first_pattern, None),
}


@pytest.mark.parametrize("kind", KINDS)
def test_answers_solve_the_equations_of_the_states(kind):
    brute, cases = CHECKS[kind]
    family = FAMILIES[kind]
    if cases is None:
        cases = [family.draw(stream(kind, n), size) for n in range(12) for size in (0, 5, 12)]
    for numbers in cases:
        found = float(family.state(*numbers).answer)
        assert math.isclose(found, brute(*numbers), rel_tol=1e-7), (kind, numbers)


def test_known_values():
    state = {kind: family.state for kind, family in FAMILIES.items()}
    assert state["pattern"](1, 2, 1, 0, 1).answer == 10  # HTH of a fair coin
    assert state["first_pattern"](1, 2, 1, 1, 1, 0, 1, 1).answer == Fraction(1, 8)  # Penney
    assert state["chess_return"](8, 8, 1, 1, 1).answer == 168  # a knight in the corner
    assert state["coupons"](6, 0, 6, 0, 1).answer == Fraction(147, 10)


def test_drawn_tokens_can_meet():
    for n in range(300):
        seats, away = FAMILIES["two_tokens"].draw(stream("tokens", n), 3)
        assert 0 < away < seats
        assert seats % 2 or away % 2 == 0


def posed(kind, *numbers):
    task = MarkovProbabilityTask(MarkovProbabilityConfig.at(3))
    question = FAMILIES[kind].state(*numbers)
    problem = task.Problem(kind, numbers, task_answer(question), tuple(question.steps))
    return task, problem


def task_answer(question):
    value = Fraction(question.answer)
    if value.denominator == 1:
        return str(value)
    return f"\\frac{{{value.numerator}}}{{{value.denominator}}}"


@pytest.mark.parametrize(
    "answer",
    ["8/13", "\\frac{8}{13}", "16/26", "P = 8/13", "$\\dfrac{8}{13}$", "\\tfrac{8}{13}", "80/130"],
)
def test_right_answers_in_several_forms(answer):
    task, problem = posed("ballot", 105, 25, 1)
    assert task.verify(problem, answer).score == 1.0


def test_an_exact_decimal_is_right():
    task, problem = posed("ruin", 2, 9)
    assert task.verify(problem, "14.0").score == 1.0
    assert task.verify(problem, "14 rounds").score == 1.0


WRONG = [
    *("", " ", "?", "8", "13", "13/8", "-8/13", "8/-13", "7/13", "8/12", "9/13", "8/14"),
    *("0.615", "0.6", "0.6153846", "61.5%", "8/13 or 5/13", "5/13", "{8/13, 5/13}", "8, 13"),
    *("8/13, 7/13", "between 0 and 1", "(105 - 25)/(105 + 25)", "80/130 + 0", "13:8", "eight"),
    *("1", "0", "1/2", "10^{9^9}", "9" * 3000, "8/0", "½", "p", "8/13 or 9/13", "nan", "inf"),
]


@pytest.mark.parametrize("answer", WRONG)
def test_wrong_answers_earn_nothing(answer):
    task, problem = posed("ballot", 105, 25, 1)
    assert task.verify(problem, answer).score == 0.0


def test_prompt_and_other_answers_earn_nothing():
    task, problem = posed("ballot", 105, 25, 1)
    assert task.verify(problem, task.prompt(problem)).score == 0.0
    _, other = posed("ballot", 104, 25, 1)
    assert task.verify(problem, other.answer).score == 0.0


def test_baseline_misses_the_idea():
    task, problem = posed("first_pattern", 1, 2, 1, 1, 1, 0, 1, 1)
    assert task.baseline(stream("b"), problem) == "\\frac{1}{2}"
    assert task.explain(problem) == list(FAMILIES["first_pattern"].state(*problem.numbers).steps)
    assert task.effort(problem) > 5**5


@pytest.mark.parametrize(
    ("knobs", "message"),
    [({"kinds": ()}, "kinds are"), ({"kinds": ("roulette",)}, "kinds are"), ({"size": -1}, "size")],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        MarkovProbabilityConfig(**knobs)


def test_every_kind_makes_problems_at_every_size():
    for kind, size in itertools.product(KINDS, (0, 10, 40, 1_000)):
        task = MarkovProbabilityTask(MarkovProbabilityConfig(kinds=(kind,), size=size))
        problem = task.generate(stream(kind, size))
        assert task.verify(problem, task.solve(problem)).score == 1.0
