"""Slightly wrong functions, and the inputs that tell them from the right one."""

from rlvr_envs.generators.wrong_functions import (
    agrees,
    edited_function,
    most_telling,
    telling,
    wrong_functions,
)


def climb(xs, step):
    """Count the places where the next item is higher by at least a step."""
    count = 0
    for i in range(len(xs) - 1):
        if xs[i + 1] - xs[i] >= step:
            count += 1
    return count


def halve(n):
    rounds = 0
    while n > 1:
        n = n // 2
        rounds = rounds + 1
    return rounds


def test_one_change_is_made_at_a_time():
    results = [wrong([1, 3, 3, 8], 2) for wrong in wrong_functions(climb) if ends(wrong)]
    assert climb([1, 3, 3, 8], 2) == 2
    assert 1 in results  # > for >=, or a loop that ends early
    assert -2 in results  # count -= 1
    assert len(wrong_functions(climb)) == len(set(wrong_functions(climb))) > 12


def ends(wrong):
    try:
        wrong([1, 3, 3, 8], 2)
    except IndexError:
        return False
    return True


def test_loops_that_never_end_raise_and_tell():
    told = [not agrees(lambda wrong=wrong: wrong(9), halve(9)) for wrong in wrong_functions(halve)]
    assert sum(told) >= len(told) - 2
    assert agrees(lambda: halve(9), 3)


def test_telling_inputs_are_those_that_find_something_twice_at_most():
    found = telling([1, 2, 3, 4, 5], 2, lambda each, version: each > 2 - version, patience=9)
    assert list(found) == [2, 3, 4]  # version 1 is told by 2 and 3, version 0 by 3 and 4
    assert list(telling([0] * 5 + [9], 1, lambda each, _: each > 2, patience=2)) == []


def test_most_telling_inputs_complete_each_other():
    told = {"a": {0, 1, 2}, "b": {0, 1}, "c": {3}, "d": set()}
    chosen = most_telling(list(told), 4, lambda each, version: version in told[each], 2)
    assert chosen == ["a", "c"]


def branches(n):
    def leaves(depth):
        return 1 if depth == 0 else leaves(depth - 1) + leaves(depth - 1)

    return leaves(n)


def test_recursions_that_take_too_long_raise():
    right = edited_function(branches, "depth == 0", "depth <= 0")
    assert right(5) == 32
    assert right(5) == 32  # calls are counted anew
    assert not agrees(lambda: right(40), 2**40)
